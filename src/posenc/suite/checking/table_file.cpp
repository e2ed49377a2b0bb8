#include "posenc/suite/checking/table_file.h"

#include "posenc/support/files.h"
#include "posenc/support/format.h"
#include "posenc/support/json_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <span>

namespace posenc::suite {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t each : shape) text += (text.empty() ? "" : ", ") + std::to_string(each);
  return "(" + text + (shape.size() == 1 ? ",)" : ")");
}

/// True unless the shape, without its sizes of 1, has more than two dimensions. (1, 1, 1, d) is one
/// row, and (n,) none at all.
bool set_shape(StoredTable& table, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> kept;
  for (const std::int64_t each : shape) {
    if (each != 1) kept.push_back(each);
  }
  if (shape.size() < 2 || kept.size() > 2) return false;
  // Sizes of 1 that are needed for two dimensions: (5, 1) has five rows, and (1, 5) has one.
  if (kept.size() == 1 && shape.back() == 1) kept.push_back(1);
  while (kept.size() < 2) kept.insert(kept.begin(), 1);
  table.rows = kept[0];
  table.columns = kept[1];
  return true;
}

/// The bytes of the elements; empty if they exceed 2^63 - 1.
std::optional<std::int64_t> bytes_of(const std::vector<std::int64_t>& shape, DataType type) {
  std::int64_t bytes = size_of(type);
  for (const std::int64_t each : shape) {
    if (each < 0 || __builtin_mul_overflow(bytes, each, &bytes)) return {};
  }
  return bytes;
}

void check_has_entries(const std::vector<std::int64_t>& shape) {
  if (std::ranges::count(shape, 0) == 0) return;
  throw InvalidArgument(
      format_text("shape is {}; allowed: at least one row and column", shape_text(shape)));
}

[[noreturn]] void refuse_shape(const std::vector<std::int64_t>& shape) {
  throw InvalidArgument(format_text("shape is {}; allowed: two dimensions, besides those of size 1",
                                    shape_text(shape)));
}

/// Reads the dictionary in the header of a .npy file, which is a literal of Python.
class NpyFields {
 public:
  explicit NpyFields(std::string_view text) : text_(text) {}

  NpyHeader parse() {
    NpyHeader header;
    expect('{');
    bool has_descr = false, has_order = false, has_shape = false;
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && peek() == '[') {
        throw InvalidArgument("descr is a list of fields; allowed: one floating-point type");
      } else if (key == "descr" && !has_descr) {
        header.descr = string();
        has_descr = true;
      } else if (key == "fortran_order" && !has_order) {
        header.is_column_major = boolean();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        header.shape = integers();
        has_shape = true;
      } else {
        fail();
      }
      if (!accept(',') && peek() != '}') fail();
    }
    peek();  // skips what NumPy pads with
    if (!has_descr || !has_order || !has_shape || !text_.empty()) fail();
    return header;
  }

 private:
  [[noreturn]] static void fail() {
    throw InvalidArgument(
        "the header of the .npy file is damaged; allowed: a dictionary of descr, fortran_order and "
        "shape, each once");
  }

  char peek() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n'))
      text_.remove_prefix(1);
    return text_.empty() ? '\0' : text_.front();
  }

  bool accept(char wanted) {
    if (peek() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail();
  }

  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail();
    text_.remove_prefix(1);
    const std::size_t end = text_.find(quote);
    if (end == std::string_view::npos) fail();
    std::string result(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return result;
  }

  bool boolean() {
    peek();
    for (const bool value : {true, false}) {
      const std::string_view name = value ? "True" : "False";
      if (!text_.starts_with(name)) continue;
      text_.remove_prefix(name.size());
      return value;
    }
    fail();
  }

  std::vector<std::int64_t> integers() {
    std::vector<std::int64_t> result;
    expect('(');
    while (!accept(')')) {
      peek();
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
      if (error != std::errc() || value < 0) fail();
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      if (text_.starts_with('L')) text_.remove_prefix(1);  // as Python 2 wrote
      result.push_back(value);
      if (!accept(',') && (peek() != ')' || result.size() == 1)) fail();  // (3) is no tuple
    }
    return result;
  }

  std::string_view text_;
};

/// "<f4", ">f8", "|V2" (bfloat16 of ml_dtypes), "<u2" (the bits of bfloat16).
void set_type(StoredTable& table, const std::string& descr) {
  const auto refuse = [&] {
    throw InvalidArgument(format_text(
        "descr is '{}'; allowed: f4, f8, f2, and for bfloat16 V2 or u2, of either byte order",
        descr));
  };
  if (descr.size() != 3 || std::string_view("<>=|").find(descr.front()) == std::string_view::npos)
    refuse();
  table.is_big_endian = descr.front() == '>';
  const std::string_view kind = std::string_view(descr).substr(1);
  if (kind == "f4") {
    table.type = DataType::float32;
  } else if (kind == "f8") {
    table.type = DataType::float64;
  } else if (kind == "f2") {
    table.type = DataType::float16;
  } else if (kind == "V2" || kind == "u2") {
    table.type = DataType::bfloat16;
  } else {
    refuse();
  }
}

std::uint64_t little_endian(std::string_view bytes) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  return value;
}

struct NpyVersion {
  std::int64_t prefix_bytes;  ///< before the fields
  std::int64_t field_bytes;
};

NpyVersion npy_version(std::string_view start, std::int64_t file_bytes) {
  constexpr std::size_t version_at = 6, length_at = 8;
  const auto truncated = [&] {
    throw InvalidArgument(
        format_text("the .npy file has {} bytes; allowed: at least its header", file_bytes));
  };
  if (start.size() < length_at) truncated();
  const int version = static_cast<unsigned char>(start[version_at]);
  const int minor = static_cast<unsigned char>(start[version_at + 1]);
  if (version < 1 || version > 3 || minor != 0) {
    throw InvalidArgument(format_text(
        "the version of the .npy file is {}.{}; allowed: 1.0, 2.0, 3.0", version, minor));
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  if (start.size() < length_at + length_bytes) truncated();
  const auto prefix = static_cast<std::int64_t>(length_at + length_bytes);
  const auto fields =
      static_cast<std::int64_t>(little_endian(start.substr(length_at, length_bytes)));
  if (fields > max_npy_header_bytes) {
    throw InvalidArgument(
        format_text("the header of the .npy file has {} bytes; allowed: at most {}", fields,
                    max_npy_header_bytes));
  }
  if (fields > file_bytes - prefix) truncated();
  return {prefix, fields};
}

std::optional<DataType> safetensors_type(const std::string& name) {
  if (name == "F32") return DataType::float32;
  if (name == "F64") return DataType::float64;
  if (name == "F16") return DataType::float16;
  if (name == "BF16") return DataType::bfloat16;
  return {};
}

using Json = nlohmann::json;

/// At most ten names, for a message.
std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t most = 10;
  const std::span shown(names.data(), std::min(names.size(), most));
  std::vector<std::string> short_names;
  for (const std::string& each : shown) short_names.push_back(shortened(each, max_quoted_bytes));
  return join(short_names, ", ") +
         (names.size() > most ? format_text(" and {} more", names.size() - most) : std::string());
}

[[noreturn]] void refuse_safetensors(const std::string& what) {
  throw InvalidArgument("the header of the .safetensors file is damaged: " + what +
                        "; allowed: tensors with dtype, shape and data_offsets");
}

/// An integer of at least 0.
std::int64_t integer(const Json& value) {
  if (!value.is_number_integer() ||
      (!value.is_number_unsigned() && value.get<std::int64_t>() < 0) ||
      (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX)) {
    refuse_safetensors("a size is not a number");
  }
  return value.get<std::int64_t>();
}

struct Tensor {
  std::string type;
  std::vector<std::int64_t> shape;
  std::int64_t begin, end;
};

Tensor tensor_of(const Json& json) {
  const auto has_list = [&](const char* key) { return json.contains(key) && json[key].is_array(); };
  if (!json.is_object() || !json.contains("dtype") || !json["dtype"].is_string() ||
      !has_list("shape") || !has_list("data_offsets") || json["data_offsets"].size() != 2) {
    refuse_safetensors("a tensor lacks a field");
  }
  Tensor tensor{.type = json["dtype"].get<std::string>(),
                .shape = {},
                .begin = integer(json["data_offsets"][0]),
                .end = integer(json["data_offsets"][1])};
  for (const Json& each : json["shape"]) tensor.shape.push_back(integer(each));
  return tensor;
}

bool may_be_table(const Tensor& tensor) {
  StoredTable table;
  return safetensors_type(tensor.type) && set_shape(table, tensor.shape);
}

/// The name of the tensor to read.
std::string chosen_tensor(const Json& fields, const std::string& wanted) {
  std::vector<std::string> names, candidates;
  for (const auto& [name, value] : fields.items()) {
    if (name == "__metadata__") continue;
    names.push_back(name);
    if (may_be_table(tensor_of(value))) candidates.push_back(name);
  }
  if (!wanted.empty()) {
    if (std::ranges::count(names, wanted) > 0) return wanted;
    throw InvalidArgument(format_text("tensor is '{}'; allowed: {}", wanted, names_text(names)));
  }
  if (candidates.size() == 1) return candidates.front();
  if (candidates.empty()) {
    throw InvalidArgument(format_text(
        "none of the {} tensors is a table; allowed: F32, F64, F16 or BF16 of two dimensions",
        names.size()));
  }
  throw InvalidArgument(
      format_text("the file has {} tensors; allowed: one of them (give --tensor): "
                  "{}",
                  candidates.size(), names_text(candidates)));
}

StoredTable raw_table(std::int64_t file_bytes, const TableFileOptions& options) {
  if (!options.columns) {
    throw InvalidArgument(
        "the file is neither .npy nor .safetensors; allowed: raw elements, if --d-model says how "
        "many channels a row has (and --dtype, of which type)");
  }
  if (*options.columns < 1 || *options.columns > max_d_model) {
    throw InvalidArgument(
        format_text("d_model is {}; allowed: 1 to {}", *options.columns, max_d_model));
  }
  const std::int64_t row_bytes = *options.columns * size_of(options.type);
  if (file_bytes % row_bytes != 0) {
    throw InvalidArgument(
        format_text("the file has {} bytes; allowed with d_model {} and {}: a multiple of {}",
                    file_bytes, *options.columns, to_string(options.type), row_bytes));
  }
  return {.type = options.type, .rows = file_bytes / row_bytes, .columns = *options.columns};
}

StoredTable stored_table(const InputFile& input, const std::filesystem::path& file,
                         const TableFileOptions& options) {
  const std::string start = input.text(0, std::min(input.bytes(), npy_prefix_bytes));
  if (is_npy(start)) {
    return parse_npy(input.text(0, npy_header_bytes(start, input.bytes())), input.bytes());
  }
  if (file.extension() == ".npy") {
    throw InvalidArgument(
        "the file is not one of NumPy's; allowed: one that begins with \\x93NUMPY");
  }
  if (file.extension() == ".safetensors") {
    const std::int64_t header = safetensors_header_bytes(start, input.bytes());
    return parse_safetensors(input.text(safetensors_prefix_bytes, header), input.bytes(),
                             options.tensor);
  }
  return raw_table(input.bytes(), options);
}

void reverse_bytes(std::span<std::byte> elements, std::size_t element_bytes) {
  for (std::size_t i = 0; i < elements.size(); i += element_bytes)
    std::ranges::reverse(elements.subspan(i, element_bytes));
}

}  // namespace

bool is_npy(std::string_view start) noexcept { return start.starts_with("\x93NUMPY"); }

std::int64_t npy_header_bytes(std::string_view start, std::int64_t file_bytes) {
  const NpyVersion version = npy_version(start, file_bytes);
  return version.prefix_bytes + version.field_bytes;
}

NpyHeader parse_npy_header(std::string_view header, std::int64_t file_bytes) {
  const NpyVersion version = npy_version(header, file_bytes);
  NpyHeader fields = NpyFields(header.substr(static_cast<std::size_t>(version.prefix_bytes),
                                             static_cast<std::size_t>(version.field_bytes)))
                         .parse();
  fields.bytes = version.prefix_bytes + version.field_bytes;
  return fields;
}

StoredTable parse_npy(std::string_view header, std::int64_t file_bytes) {
  const NpyHeader fields = parse_npy_header(header, file_bytes);
  StoredTable table;
  table.offset = fields.bytes;
  table.is_column_major = fields.is_column_major;
  set_type(table, fields.descr);
  check_has_entries(fields.shape);
  if (!set_shape(table, fields.shape)) refuse_shape(fields.shape);
  const std::int64_t present = file_bytes - table.offset;
  const auto needed = bytes_of(fields.shape, table.type);
  if (!needed || *needed != present) {
    throw InvalidArgument(
        format_text("the file has {} bytes of elements; allowed with shape {}: {}", present,
                    shape_text(fields.shape), needed ? std::to_string(*needed) : "more than 2^63"));
  }
  return table;
}

std::int64_t safetensors_header_bytes(std::string_view prefix, std::int64_t file_bytes) {
  constexpr auto bytes = static_cast<std::size_t>(safetensors_prefix_bytes);
  if (prefix.size() < bytes) {
    throw InvalidArgument(
        format_text("the .safetensors file has {} bytes; allowed: at least {}", file_bytes, bytes));
  }
  const std::uint64_t header = little_endian(prefix.substr(0, bytes));
  constexpr std::uint64_t most = max_safetensors_header_bytes;
  if (header > most || static_cast<std::int64_t>(header) > file_bytes - safetensors_prefix_bytes) {
    throw InvalidArgument(format_text(
        "the header of the .safetensors file has {} bytes; allowed: the rest of the file, up to {}",
        header, most));
  }
  return static_cast<std::int64_t>(header);
}

StoredTable parse_safetensors(std::string_view header, std::int64_t file_bytes,
                              const std::string& tensor) {
  Json fields;
  try {
    fields = parse_json_text<Json>(header, "the header of the .safetensors file");
  } catch (const Json::exception&) {
    refuse_safetensors("it is not JSON");
  }
  if (!fields.is_object()) refuse_safetensors("it is no object");
  StoredTable table;
  table.tensor = chosen_tensor(fields, tensor);
  const Tensor chosen = tensor_of(fields[table.tensor]);
  const auto type = safetensors_type(chosen.type);
  if (!type) {
    throw InvalidArgument(format_text("dtype of tensor {} is {}; allowed: F32, F64, F16, BF16",
                                      table.tensor, chosen.type));
  }
  table.type = *type;
  check_has_entries(chosen.shape);
  if (!set_shape(table, chosen.shape)) refuse_shape(chosen.shape);
  const std::int64_t data = safetensors_prefix_bytes + static_cast<std::int64_t>(header.size());
  const auto needed = bytes_of(chosen.shape, table.type);
  if (!needed || chosen.end < chosen.begin || chosen.end - chosen.begin != *needed ||
      chosen.end > file_bytes - data) {
    throw InvalidArgument(
        format_text("data_offsets of tensor {} are {} and {}; allowed with shape {}: {} bytes, in "
                    "the {} that the file has",
                    table.tensor, chosen.begin, chosen.end, shape_text(chosen.shape),
                    needed ? std::to_string(*needed) : "more than 2^63", file_bytes - data));
  }
  table.offset = data + chosen.begin;
  return table;
}

TableView TableInMemory::view() const noexcept {
  TableView view;
  view.data = elements.get();
  view.type = stored.type;
  view.rows = stored.rows;
  view.columns = stored.columns;
  view.row_stride = stored.is_column_major ? 1 : stored.columns;
  view.column_stride = stored.is_column_major ? stored.rows : 1;
  return view;
}

TableInMemory read_table(const std::filesystem::path& file, const TableFileOptions& options) {
  const InputFile input(file);
  TableInMemory table;
  try {
    if (input.bytes() == 0) throw InvalidArgument("the file is empty; allowed: a table");
    table.stored = stored_table(input, file, options);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(file.string() + ": " + error.what());
  }
  const std::int64_t element = size_of(table.stored.type);
  const auto bytes = static_cast<std::size_t>(table.stored.rows * table.stored.columns * element);
  table.elements.reset(new std::byte[bytes]);
  input.read(table.stored.offset, table.elements.get(), static_cast<std::int64_t>(bytes));
  const bool is_big_endian_here = std::endian::native == std::endian::big;
  if (table.stored.is_big_endian != is_big_endian_here)
    reverse_bytes({table.elements.get(), bytes}, static_cast<std::size_t>(element));
  return table;
}

}  // namespace posenc::suite
