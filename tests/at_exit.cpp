// Encodes, turns heads and adds while threads and the program end: in destructors of thread-local
// and static objects, and in functions of atexit().
#include "posenc/model/positional_encoding.h"
#include "posenc/model/rotary.h"
#include "posenc/registry.h"

#include <cstdint>
#include <cstdlib>
#include <thread>

namespace {

using namespace posenc;

constexpr std::int64_t rows = 2048, columns = 512;

// Never destroyed.
const Encoder& encoder() {
  static const Encoder& planned = *backend("rotation").plan({.d_model = columns}).release();
  return planned;
}
const Rotary& rotary() {
  static const Rotary& made = *new Rotary(columns);
  return made;
}
const PositionalEncoding& layer() {
  static const PositionalEncoding& made =
      *new PositionalEncoding({.d_model = columns}, rows, 0.1, EncodingSource::fused);
  return made;
}

void use_all() {
  Matrix table(rows, columns);
  encoder().encode({.first = -5, .count = rows}, table.view(), 2);
  rotary().cache(RowRange{0, rows}, RotaryLayout::interleaved, table.view(), 2);
  layer().forward(batch_first(table.data(), 4, rows / 4, columns),
                  {.training = true, .threads = 2});
  BasicMatrix<BFloat16> sum(rows, columns);
  const MatrixView<BFloat16> out = sum.view();
  encoder().add({.first = -5, .count = rows},
                MatrixView<const BFloat16>{out.data, rows, columns, columns}, 1.0F, out, 2);
}

struct Late {
  ~Late() { use_all(); }
};

}  // namespace

int main() {
  std::atexit(use_all);
  static const Late late;
  std::thread([] {
    static thread_local const Late late_in_thread;
    use_all();
  }).join();
  use_all();
}
