#include "posenc/suite/checking/table_file.h"

#include "posenc/model/internal/json_text.h"
#include "posenc/suite/files.h"
#include "posenc/support/format.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <span>
#include <tuple>
#include <utility>

namespace posenc::suite {
namespace {

using Json = nlohmann::json;

/// A type in both formats. bfloat16 is none of NumPy's own: it is V2 of ml_dtypes, or u2.
struct TypeNames {
  DataType type;
  std::string_view npy, safetensors;
};
constexpr TypeNames type_names[] = {{DataType::float32, "f4", "F32"},
                                    {DataType::float64, "f8", "F64"},
                                    {DataType::float16, "f2", "F16"},
                                    {DataType::bfloat16, "V2", "BF16"},
                                    {DataType::bfloat16, "u2", "BF16"}};

std::optional<DataType> type_named(std::string_view name, std::string_view TypeNames::*format) {
  const auto* const found = std::ranges::find(type_names, name, format);
  return found == std::end(type_names) ? std::nullopt : std::optional(found->type);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t each : shape) text += (text.empty() ? "" : ", ") + std::to_string(each);
  return "(" + text + (shape.size() == 1 ? ",)" : ")");
}

/// Rows and columns of a shape without its sizes of 1: (1, 1, 1, d) is one row, and (n,) no table.
std::optional<std::pair<std::int64_t, std::int64_t>> table_shape(
    const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> kept;
  for (const std::int64_t each : shape)
    if (each != 1) kept.push_back(each);
  if (shape.size() < 2 || kept.size() > 2) return {};
  // Sizes of 1 that are needed for two dimensions: (5, 1) has five rows, and (1, 5) has one.
  if (kept.size() == 1 && shape.back() == 1) kept.push_back(1);
  while (kept.size() < 2) kept.insert(kept.begin(), 1);
  return std::pair(kept[0], kept[1]);
}

/// Sets rows and columns. Throws unless elements of that shape take the bytes that are present.
void set_shape(StoredTable& table, const std::vector<std::int64_t>& shape, std::int64_t present,
               const std::string& what) {
  const auto kept = table_shape(shape);
  if (!kept || std::ranges::count(shape, 0) > 0) {
    throw InvalidArgument(format_text(
        "shape is {}; allowed: {}", shape_text(shape),
        kept ? "at least one row and column" : "two dimensions, besides those of size 1"));
  }
  std::tie(table.rows, table.columns) = *kept;
  std::int64_t bytes = size_of(table.type);
  bool is_too_large = false;
  for (const std::int64_t each : shape)
    is_too_large = is_too_large || __builtin_mul_overflow(bytes, each, &bytes);
  if (!is_too_large && bytes == present) return;
  throw InvalidArgument(format_text("{} has {} bytes of elements; allowed with shape {}: {}", what,
                                    present, shape_text(shape),
                                    is_too_large ? "more than 2^63" : std::to_string(bytes)));
}

[[noreturn]] void refuse_header(const char* format, const char* what) {
  const bool is_npy = std::string_view(format) == ".npy";
  throw InvalidArgument(
      format_text("the header of the {} file is damaged: {}; allowed: {}", format, what,
                  is_npy ? "a dictionary of descr, fortran_order and shape, each once"
                         : "tensors with dtype, shape and data_offsets"));
}

/// The integers of at least 0 in an array of a header.
std::vector<std::int64_t> sizes(const Json& fields, const char* key, const char* format) {
  if (!fields.is_object() || !fields.contains(key) || !fields[key].is_array())
    refuse_header(format, "a field is missing");
  std::vector<std::int64_t> all;
  for (const Json& each : fields[key]) {
    // An integer of at least 0 is unsigned, for nlohmann/json.
    if (!each.is_number_unsigned() || each.get<std::uint64_t>() > INT64_MAX)
      refuse_header(format, "a size is not a number");
    all.push_back(each.get<std::int64_t>());
  }
  return all;
}

/// The dictionary in the header of a .npy file, a literal of Python, as JSON. Tuples become arrays;
/// lists, of which it has none, become arrays that begin with null.
std::string json_of_python(std::string_view text) {
  std::string json;
  bool has_comma = false;
  const auto replaced = [&](std::size_t& at, std::string_view python, std::string_view by) {
    if (!text.substr(at).starts_with(python)) return false;
    json += by;
    at += python.size() - 1;
    return true;
  };
  for (const char* const other : {"true", "false", "null", "\\"})
    if (text.find(other) != std::string_view::npos) refuse_header(".npy", "it is no dictionary");
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (replaced(i, "True", "true") || replaced(i, "False", "false") || replaced(i, "'", "\"") ||
        replaced(i, "[", "[null,"))
      continue;
    if (c == 'L' && !json.empty() && json.back() >= '0' && json.back() <= '9')
      continue;  // 3L, as Python 2 wrote
    if (c == ',') {
      has_comma = true;
      const std::size_t next = text.find_first_not_of(" \n", i + 1);
      if (next != std::string_view::npos && (text[next] == ')' || text[next] == '}')) continue;
    }
    if (c == '(') has_comma = false;
    if (c == ')' && !has_comma && !json.ends_with('['))
      refuse_header(".npy", "(3) is no tuple, which (3,) is");
    json += c == '(' ? '[' : c == ')' ? ']' : c;
  }
  return json;
}

/// The object that a header is.
Json json_of(std::string_view header, const char* format) {
  Json fields;
  try {
    fields = parse_json_text<Json>(header, format_text("the header of the {} file", format));
  } catch (const Json::exception&) {
    refuse_header(format, "it cannot be parsed");
  }
  if (!fields.is_object()) refuse_header(format, "it is no object");
  return fields;
}

std::uint64_t little_endian(std::string_view bytes) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// The fields of a header, after a prefix that ends with their length. The length is compared with
/// what is allowed and with the file before it is used.
std::string_view header_fields(std::string_view start, std::size_t prefix_bytes,
                               std::size_t length_bytes, std::int64_t file_bytes, std::int64_t most,
                               const char* format) {
  if (start.size() < prefix_bytes) {
    throw InvalidArgument(format_text("the {} file has {} bytes; allowed: at least {}", format,
                                      file_bytes, prefix_bytes));
  }
  const std::uint64_t bytes =
      little_endian(start.substr(prefix_bytes - length_bytes, length_bytes));
  const std::int64_t rest = file_bytes - static_cast<std::int64_t>(prefix_bytes);
  if (bytes > static_cast<std::uint64_t>(std::min(most, rest))) {
    throw InvalidArgument(format_text(
        "the header of the {} file has {} bytes; allowed: at most {}, in the {} that the file has",
        format, bytes, most, rest));
  }
  return start.substr(prefix_bytes, static_cast<std::size_t>(bytes));
}

/// At most ten names, for a message.
std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t most = 10;
  std::vector<std::string> shown;
  for (const std::string& each : std::span(names).first(std::min(names.size(), most)))
    shown.push_back(shortened(each, max_quoted_bytes));
  return join(shown, ", ") +
         (names.size() > most ? format_text(" and {} more", names.size() - most) : std::string());
}

struct Tensor {
  std::string name, type;
  std::vector<std::int64_t> shape;
  std::int64_t begin = 0, end = 0;
};

std::vector<Tensor> tensors_of(const Json& fields) {
  std::vector<Tensor> all;
  for (const auto& [name, json] : fields.items()) {
    if (name == "__metadata__") continue;
    const std::vector<std::int64_t> offsets = sizes(json, "data_offsets", ".safetensors");
    if (offsets.size() != 2 || !json.contains("dtype") || !json["dtype"].is_string())
      refuse_header(".safetensors", "a field is missing");
    all.push_back({name, json["dtype"].get<std::string>(), sizes(json, "shape", ".safetensors"),
                   offsets[0], offsets[1]});
  }
  return all;
}

/// The tensor of that name, or the only one that may be a table.
const Tensor& chosen_tensor(const std::vector<Tensor>& all, const std::string& wanted) {
  std::vector<std::string> names;
  const Tensor* chosen = nullptr;
  for (const Tensor& each : all) {
    if (wanted.empty() &&
        !(type_named(each.type, &TypeNames::safetensors) && table_shape(each.shape)))
      continue;
    names.push_back(each.name);
    if (wanted.empty() || each.name == wanted) chosen = &each;
  }
  if (chosen != nullptr && (!wanted.empty() || names.size() == 1)) return *chosen;
  throw InvalidArgument(
      !wanted.empty() ? format_text("tensor is '{}'; allowed: {}", wanted, names_text(names))
      : names.empty() ? format_text("none of the {} tensors is a table; allowed: F32, F64, F16 or "
                                    "BF16 of two dimensions",
                                    all.size())
                      : format_text("the file has {} tensors; allowed: one of them (give "
                                    "--tensor): {}",
                                    names.size(), names_text(names)));
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
  if (input.bytes() == 0) throw InvalidArgument("the file is empty; allowed: a table");
  const std::string start = input.text(0, std::min(input.bytes(), table_header_bytes));
  if (is_npy(start)) return parse_npy(start, input.bytes());
  if (file.extension() == ".npy") {
    throw InvalidArgument(
        "the file is not one of NumPy's; allowed: one that begins with \\x93NUMPY");
  }
  if (file.extension() == ".safetensors")
    return parse_safetensors(start, input.bytes(), options.tensor);
  return raw_table(input.bytes(), options);
}

}  // namespace

bool is_npy(std::string_view start) noexcept { return start.starts_with("\x93NUMPY"); }

NpyHeader parse_npy_header(std::string_view start, std::int64_t file_bytes) {
  constexpr std::size_t version_at = 6, length_at = 8;
  const int version = start.size() < length_at ? 1 : static_cast<unsigned char>(start[version_at]);
  const int minor =
      start.size() < length_at ? 0 : static_cast<unsigned char>(start[version_at + 1]);
  if (version < 1 || version > 3 || minor != 0) {
    throw InvalidArgument(format_text(
        "the version of the .npy file is {}.{}; allowed: 1.0, 2.0, 3.0", version, minor));
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::string_view fields = header_fields(start, length_at + length_bytes, length_bytes,
                                                file_bytes, max_npy_header_bytes, ".npy");
  const Json json = json_of(json_of_python(fields), ".npy");
  NpyHeader header = {.shape = sizes(json, "shape", ".npy"),
                      .bytes = static_cast<std::int64_t>(length_at + length_bytes + fields.size())};
  if (json.size() != 3 || !json.contains("descr") || !json.contains("fortran_order") ||
      !json["fortran_order"].is_boolean())
    refuse_header(".npy", "a field is missing, or another one is there");
  if (!json["descr"].is_string())
    throw InvalidArgument("descr is a list of fields; allowed: one floating-point type");
  header.descr = json["descr"].get<std::string>();
  header.is_column_major = json["fortran_order"].get<bool>();
  return header;
}

StoredTable parse_npy(std::string_view start, std::int64_t file_bytes) {
  const NpyHeader header = parse_npy_header(start, file_bytes);
  const auto type = type_named(std::string_view(header.descr).substr(header.descr.empty() ? 0 : 1),
                               &TypeNames::npy);
  const char order = type ? header.descr.front() : '\0';
  if (!type || std::string_view("<>=|").find(order) == std::string_view::npos) {
    throw InvalidArgument(format_text(
        "descr is '{}'; allowed: f4, f8, f2, and for bfloat16 V2 or u2, of either byte order",
        header.descr));
  }
  StoredTable table = {.type = *type,
                       .is_big_endian = order == '>',
                       .is_column_major = header.is_column_major,
                       .offset = header.bytes};
  set_shape(table, header.shape, file_bytes - header.bytes, "the file");
  return table;
}

StoredTable parse_safetensors(std::string_view start, std::int64_t file_bytes,
                              const std::string& tensor) {
  const std::string_view header =
      header_fields(start, safetensors_prefix_bytes, safetensors_prefix_bytes, file_bytes,
                    max_safetensors_header_bytes, ".safetensors");
  const std::vector<Tensor> all = tensors_of(json_of(header, ".safetensors"));
  const Tensor& chosen = chosen_tensor(all, tensor);
  const auto type = type_named(chosen.type, &TypeNames::safetensors);
  if (!type) {
    throw InvalidArgument(format_text("dtype of tensor {} is {}; allowed: F32, F64, F16, BF16",
                                      chosen.name, chosen.type));
  }
  const std::int64_t data = safetensors_prefix_bytes + static_cast<std::int64_t>(header.size());
  if (chosen.begin > chosen.end || chosen.end > file_bytes - data) {
    throw InvalidArgument(format_text(
        "data_offsets of tensor {} are {} and {}; allowed: a range of the {} bytes that "
        "the file has",
        chosen.name, chosen.begin, chosen.end, file_bytes - data));
  }
  StoredTable table = {.type = *type, .offset = data + chosen.begin, .tensor = chosen.name};
  set_shape(table, chosen.shape, chosen.end - chosen.begin, "tensor " + chosen.name);
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
    table.stored = stored_table(input, file, options);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(file.string() + ": " + error.what());
  }
  const auto element = static_cast<std::size_t>(size_of(table.stored.type));
  const std::size_t bytes =
      static_cast<std::size_t>(table.stored.rows * table.stored.columns) * element;
  table.elements.reset(new std::byte[bytes]);
  input.read(table.stored.offset, table.elements.get(), static_cast<std::int64_t>(bytes));
  if (table.stored.is_big_endian != (std::endian::native == std::endian::big)) {
    for (std::size_t i = 0; i < bytes; i += element)
      std::ranges::reverse(std::span(&table.elements[i], element));
  }
  return table;
}

}  // namespace posenc::suite
