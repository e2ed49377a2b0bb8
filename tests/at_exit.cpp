// Encodes, computes a rotary cache, and reads tables of the library while threads and the program
// end: in destructors of thread-local and static objects, and in functions of atexit().
#include "posenc/c_api.h"
#include "posenc/check/table_file.h"
#include "posenc/model/rotary.h"
#include "posenc/model/rotary_config.h"
#include "posenc/registry.h"
#include "posenc/suite/parity.h"

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>
#include <thread>

namespace {

using namespace posenc;
using namespace posenc::model;

constexpr std::int64_t rows = 2048, columns = 512;

// The encoder and the rotary are never destroyed.
const Encoder& encoder() {
  static const Encoder& planned = *backend("rotation").plan({.d_model = columns}).release();
  return planned;
}
const Rotary& rotary() {
  static const Rotary& made = *new Rotary(columns);
  return made;
}
/// The texts of the last call. Never destroyed, either.
std::string& texts() {
  static std::string& text = *new std::string;
  return text;
}

void use_all() {
  const std::string before = texts();
  Matrix table(rows, columns);
  encoder().encode({.first = -5, .count = rows}, table.view(), 2);
  rotary().cache(RowRange{0, rows}, RotaryLayout::interleaved, table.view(), 2);
  const std::string config = R"({"model_type": "llama", "head_dim": 64, "rope_theta": 10000.0,
      "max_position_embeddings": 64, "rope_scaling": {"rope_type": "linear", "factor": 2.0}})";
  const std::string npy = "\x93NUMPY\1" + std::string("\0F\0", 3) +
                          "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }         \n";
  texts() =
      to_string(read_rotary_config(config)) + posenc_version() + posenc_backend_name(0) +
      std::to_string(check::parse_npy(npy, std::ssize(npy) + 32).rows) +
      std::to_string(known_model_types().size()) +
      std::to_string(suite::plan_like(suite::System::tutorial, {.d_model = 8})->spec().d_model);
  if (!before.empty() && before != texts()) std::abort();
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
