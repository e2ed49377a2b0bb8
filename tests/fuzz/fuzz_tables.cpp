// The readers of tables in files with random headers. What they accept lies in the file, and what
// they refuse is refused with an InvalidArgument, without memory of a size that only a header
// names.
#include "arena.h"

#include "posenc/check/table_file.h"
#include "posenc/data_type.h"

#include <string>
#include <string_view>

namespace posenc::fuzz {

using namespace check;
using namespace suite;
namespace {

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value & 0xff);
  return text;
}

void check_stored(const StoredTable& table, std::int64_t file_bytes) {
  if (table.rows < 1 || table.columns < 1) fail("a table without entries is accepted");
  std::int64_t bytes = size_of(table.type);
  if (__builtin_mul_overflow(bytes, table.rows, &bytes) ||
      __builtin_mul_overflow(bytes, table.columns, &bytes))
    fail("the size of a table overflows");
  if (table.offset < 0 || table.offset > file_bytes || bytes > file_bytes - table.offset)
    fail("a table exceeds its file");
}

void read_npy(std::string_view file) {
  const auto bytes = static_cast<std::int64_t>(file.size());
  if (!is_npy(file)) return;
  try {
    check_stored(parse_npy(file, bytes), bytes);
  } catch (const InvalidArgument&) {
  }
}

void read_safetensors(std::string_view file, std::int64_t more_bytes, const std::string& tensor) {
  const auto bytes = static_cast<std::int64_t>(file.size()) + more_bytes;
  try {
    check_stored(parse_safetensors(file, bytes, tensor), bytes);
  } catch (const InvalidArgument&) {
  }
}

/// Any bytes after the first ones of a format.
void fuzz_bytes(FuzzedDataProvider& input, Arena& /*arena*/) {
  const bool is_npy = input.ConsumeBool();
  const std::string bytes = input.ConsumeRemainingBytesAsString();
  if (is_npy) {
    read_npy("\x93NUMPY" + bytes);
  } else {
    read_safetensors(bytes, 0, "");
  }
}

std::string sizes(FuzzedDataProvider& input) {
  std::string text;
  for (int left = input.ConsumeIntegralInRange(0, 4); left > 0; --left) {
    const std::int64_t size = input.ConsumeBool() ? input.ConsumeIntegralInRange(0, 5)
                                                  : input.ConsumeIntegral<std::int64_t>();
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  }
  return text;
}

void fuzz_npy(FuzzedDataProvider& input, Arena& /*arena*/) {
  static constexpr const char* types[] = {"<f4", ">f8", "=f2", "|V2", "<u2", "<i8", "f4", ""};
  static constexpr const char* orders[] = {"False", "True", "None"};
  std::string fields = "{'descr': '" + std::string(input.PickValueInArray(types)) +
                       "', 'fortran_order': " + std::string(input.PickValueInArray(orders)) +
                       ", 'shape': (" + sizes(input) + (input.ConsumeBool() ? ",)" : ")") + ", }";
  if (input.ConsumeBool() && !fields.empty()) {
    const auto at = input.ConsumeIntegralInRange<std::size_t>(0, fields.size() - 1);
    fields[at] = input.ConsumeIntegral<char>();
  }
  const int version = input.ConsumeIntegralInRange(1, 3);
  const std::uint64_t length =
      input.ConsumeBool() ? fields.size() : input.ConsumeIntegral<std::uint32_t>();
  const std::string elements(input.ConsumeIntegralInRange<std::size_t>(0, 400), '\0');
  read_npy("\x93NUMPY" + little_endian(static_cast<std::uint64_t>(version), 2) +
           little_endian(length, version == 1 ? 2 : 4) + fields + elements);
}

void fuzz_safetensors(FuzzedDataProvider& input, Arena& /*arena*/) {
  static constexpr const char* types[] = {"F32", "F64", "F16", "BF16", "I64", ""};
  static constexpr const char* names[] = {"a", "b", "pe", "__metadata__", ""};
  std::string header = "{";
  for (int left = input.ConsumeIntegralInRange(0, 3); left > 0; --left) {
    header += header.size() > 1 ? ", \"" : "\"";
    header += std::string(input.PickValueInArray(names)) + R"(": {"dtype": ")" +
              std::string(input.PickValueInArray(types)) + R"(", "shape": [)" + sizes(input) +
              R"(], "data_offsets": [)" + sizes(input) + "]}";
  }
  header += "}";
  if (input.ConsumeBool()) {
    const auto at = input.ConsumeIntegralInRange<std::size_t>(0, header.size() - 1);
    header[at] = input.ConsumeIntegral<char>();
  }
  const std::string wanted = input.PickValueInArray(names);
  const std::uint64_t length =
      input.ConsumeBool() ? header.size() : input.ConsumeIntegral<std::uint64_t>();
  read_safetensors(little_endian(length, 8) + header, input.ConsumeIntegralInRange(0, 400), wanted);
}

}  // namespace
}  // namespace posenc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace posenc::fuzz;
  return fuzz_one_of({fuzz_bytes, fuzz_npy, fuzz_safetensors}, data, size);
}
