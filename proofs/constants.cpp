// Prints the constants of error_bounds.h that proofs are compared with, as a name and a value.
#include "posenc/simd/error_bounds.h"

#include <cstdio>
#include <string>

namespace {

void show(const std::string& name, double value) { std::printf("%s %a\n", name.c_str(), value); }

}  // namespace

int main() {
  using namespace posenc::simd;
  show("double_roundoff", double_roundoff);
  show("float_roundoff", float_roundoff);
  show("block_rows", static_cast<double>(block_rows));
  show("run_rows", static_cast<double>(run_rows));
  show("anchored_blocks", static_cast<double>(anchored_blocks));
  show("RotationError.anchor_cosine", RotationError::anchor_cosine);
  show("RotationError.anchor_sine", RotationError::anchor_sine);
  show("RotationError.rotation_roundings", RotationError::rotation_roundings);
  show("RotationError.rotation", RotationError::rotation);
  show("RotationError.multiplier", RotationError::multiplier);
  show("RotationError.growth", RotationError::growth);
  show("RotationError.truncation", RotationError::truncation);
  show("RotationError.middle_row", RotationError::middle_row());
  show("RotationError.second_row", RotationError::second_row());
  for (const bool fused : {true, false}) {
    const std::string mode = fused ? ".fused" : ".unfused";
    show("RotationError.step" + mode, RotationError{fused}.step());
    show("RotationError.recurrence" + mode, RotationError{fused}.recurrence());
    show("RotationError.total" + mode, RotationError{fused}.total());
    // As in rounding-inl.h; float32_threshold.v requires that it has this formula.
    const auto error_in_units = static_cast<float>(RotationError{fused}.total());
    show("threshold" + mode, 8.0f * error_in_units * 1.0001f);
    show("RotationTo16BitsError.total" + mode, RotationTo16BitsError{fused}.total());
    show("RotationTo16BitsError.width" + mode, RotationTo16BitsError{fused}.width());
    show("Rotation32Error.centre" + mode, Rotation32Error{fused}.centre());
    show("Rotation32Error.addition" + mode, Rotation32Error{fused}.addition());
    show("Rotation32Error.total" + mode, Rotation32Error{fused}.total());
  }
  show("RotationTo16BitsError.rounded",
       RotationTo16BitsError::rounded + RotationTo16BitsError::before_rounding);
  show("Rotation32Error.angle", Rotation32Error::angle);
}
