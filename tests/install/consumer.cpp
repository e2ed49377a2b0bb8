// Every installed header compiles alone, and the library behind them links and runs.
#include <posenc/accuracy.h>
#include <posenc/cpu.h>
#include <posenc/encoder.h>
#include <posenc/error.h>
#include <posenc/isa.h>
#include <posenc/layers/dropout.h>
#include <posenc/layers/input_embedding.h>
#include <posenc/layers/philox.h>
#include <posenc/layers/positional_encoding.h>
#include <posenc/layers/rotary.h>
#include <posenc/layers/sequence_view.h>
#include <posenc/layers/tied_output.h>
#include <posenc/limits.h>
#include <posenc/pick.h>
#include <posenc/posenc.h>
#include <posenc/presets.h>
#include <posenc/profile.h>
#include <posenc/registry.h>
#include <posenc/selection.h>
#include <posenc/spec.h>
#include <posenc/version.h>

#include <cmath>
#include <cstdio>

int main() {
  const posenc::Matrix table = posenc::encode(3, 4);
  const bool good =
      std::fabs(table(1, 0) - 0.8415f) < 1e-4f && std::fabs(table(2, 3) - 0.9998f) < 1e-4f;
  const auto encoder = posenc::backend("rotation").plan({.d_model = 64});
  const auto complaint = posenc::verify(*encoder, {.first = 0, .count = 100});
  std::printf("posenc %s, %s, %s\n", posenc::library_version().c_str(), posenc::compiler().c_str(),
              complaint.empty() ? "verified" : complaint.c_str());
  return good && complaint.empty() ? 0 : 1;
}
