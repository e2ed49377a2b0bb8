#include "posenc/check/table_file.h"

#include "posenc/check/text.h"
#include "posenc/model/internal/json_text.h"
#include "posenc/suite/files.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

namespace posenc::check {
inline namespace internals {
namespace {

using Json = nlohmann::json;
using Shape = std::vector<std::int64_t>;
using std::string_view_literals::operator""sv;

/// The names of a type in both formats. NumPy has no bfloat16: it is stored as ml_dtypes' V2, or as
/// u2. A complex number is a cosine and a sine, side by side.
struct TypeNames {
  DataType type;
  std::string_view npy, safetensors;
};
constexpr TypeNames type_names[] = {
    {DataType::float32, "f4", "F32"},   {DataType::float64, "f8", "F64"},
    {DataType::float16, "f2", "F16"},   {DataType::bfloat16, "V2", "BF16"},
    {DataType::bfloat16, "u2", "BF16"}, {DataType::float32, "c8", "C64"},
    {DataType::float64, "c16", ""}};

std::optional<DataType> type_named(std::string_view name, std::string_view TypeNames::*format) {
  const auto* const found = std::ranges::find(type_names, name, format);
  if (name.empty() || found == std::end(type_names)) return {};
  return found->type;
}

/// Rows and columns of a shape without its sizes of 1: (1, 1, 1, d) is one row, (5, 1) has five
/// rows, and (n, h, 2) has pairs side by side. Empty for (n,), and if more than two dimensions are
/// left.
Shape table_shape(Shape shape, bool is_column_major = false) {
  const bool has_rows = shape.size() >= 2, is_column = has_rows && shape.back() == 1;
  std::erase(shape, 1);
  if (shape.size() == 3 && shape[2] == 2 && shape[1] <= max_d_model && !is_column_major) {
    shape[1] *= 2;
    shape.pop_back();
  }
  if (!has_rows || shape.size() > 2) return {};
  if (shape.size() == 1 && is_column) shape.push_back(1);
  shape.insert(shape.begin(), 2 - shape.size(), 1);
  return shape;
}

/// Rows, heads and columns of a shape, such as (1, 8, 100, 64) or (100, 64). Empty if the shape has
/// other numbers of dimensions.
Shape heads_shape(Shape shape) {
  while (shape.size() > 3 && std::ranges::count(shape, 1) > 0)
    shape.erase(std::ranges::find(shape, 1));
  if (shape.size() == 2) shape.insert(shape.begin() + 1, 1);
  return shape.size() == 3 ? shape : Shape{};
}

/// The shape of what the file holds; empty if the file cannot hold it.
Shape shape_of(Shape shape, Holds holds, bool is_column_major = false) {
  if (holds == Holds::heads) return is_column_major ? Shape{} : heads_shape(std::move(shape));
  if (holds == Holds::table) return table_shape(std::move(shape), is_column_major);
  const std::int64_t count = shape.size() == 1 ? shape.front() : 0;
  return count > 0 ? Shape{1, count} : Shape{};
}

/// Sets rows, heads and columns. Throws unless they fill exactly the bytes that are present.
void set_shape(StoredTable& table, Shape shape, bool is_complex, Holds holds, std::int64_t present,
               const std::string& what) {
  if (is_complex) shape.push_back(2);
  Shape kept = shape_of(shape, holds, table.is_column_major);
  const std::string text = shape_text(shape);
  if (kept.empty()) {
    throw_invalid("shape is {}; allowed: {}", text,
                  holds == Holds::frequencies ? "one dimension"
                  : holds == Holds::heads
                      ? "three dimensions, not counting those of size 1, in row-major order"
                      : "two dimensions, not counting those of size 1");
  }
  if (std::ranges::count(kept, 0) > 0)
    throw_invalid("shape is {}; allowed: at least one row and column", text);
  table.rows = kept.front();
  table.heads = holds == Holds::heads ? kept[1] : 1;
  table.columns = kept.back();
  std::int64_t bytes = 0;
  const bool is_too_large = __builtin_mul_overflow(table.rows, table.heads, &bytes) ||
                            __builtin_mul_overflow(bytes, table.columns, &bytes) ||
                            __builtin_mul_overflow(bytes, size_of(table.type), &bytes);
  if (is_too_large || bytes != present)
    throw_invalid("{} has {} bytes of elements; allowed with shape {}: {}", what, present, text,
                  is_too_large ? "more than 2^63" : std::to_string(bytes));
}

[[noreturn]] void refuse_header(std::string_view format, std::string_view what) {
  throw_invalid("the header of the {} file is damaged: {}; allowed: {}, each once", format, what,
                format == ".npy" ? "a dictionary of descr, fortran_order and shape"
                                 : "tensors with dtype, shape and data_offsets");
}

/// The fields of a header. They follow a prefix that ends with their length. The length is compared
/// with the allowed one and with the file before it is used.
std::string_view header_fields(std::string_view start, std::size_t prefix_bytes,
                               std::size_t length_bytes, std::int64_t file_bytes, std::int64_t most,
                               const char* format) {
  if (start.size() < prefix_bytes)
    throw_invalid("the {} file has {} bytes; allowed: at least {}", format, file_bytes,
                  prefix_bytes);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    bytes = (bytes << 8) | static_cast<unsigned char>(start[prefix_bytes - 1 - i]);
  const std::int64_t rest = file_bytes - static_cast<std::int64_t>(prefix_bytes);
  if (bytes > static_cast<std::uint64_t>(std::min(most, rest)))
    throw_invalid(
        "the header of the {} file has {} bytes; allowed: at most {}, and no more than the {} "
        "that follow in the file",
        format, bytes, most, rest);
  return start.substr(prefix_bytes, static_cast<std::size_t>(bytes));
}

/// The non-negative integers in an array of a header.
Shape sizes(const Json& fields, const char* key, std::string_view format) {
  Shape all;
  for (const Json& each : fields.at(key).get_ref<const Json::array_t&>()) {
    // nlohmann/json counts a non-negative integer as unsigned.
    if (!each.is_number_unsigned() || each.get<std::uint64_t>() > INT64_MAX)
      refuse_header(format, "a size is not an integer from 0 to 2^63 - 1");
    all.push_back(each.get<std::int64_t>());
  }
  return all;
}

struct Tensor {
  std::string name, type;
  Shape shape, offsets;

  bool may_be_read(Holds holds) const {
    return type_named(type, &TypeNames::safetensors) && !shape_of(shape, holds).empty();
  }
};

std::vector<Tensor> tensors_of(std::string_view header) {
  const char* const format = ".safetensors";
  std::vector<Tensor> all;
  try {
    const auto fields = parse_json_text<Json>(header, "the header of the .safetensors file");
    if (!fields.json.is_object()) refuse_header(format, "it is not an object");
    for (const auto& [name, json] : fields.json.items()) {
      if (name == "__metadata__") continue;
      all.push_back({name, json.at("dtype").get<std::string>(), sizes(json, "shape", format),
                     sizes(json, "data_offsets", format)});
      if (all.back().offsets.size() != 2)
        refuse_header(format, "data_offsets does not have two values");
    }
  } catch (const Json::parse_error&) {
    refuse_header(format, "it cannot be parsed");
  } catch (const Json::exception&) {
    refuse_header(format, "a field is missing or has the wrong type");
  }
  return all;
}

/// The header of a .safetensors file, without its length.
std::string_view safetensors_header(std::string_view start, std::int64_t file_bytes) {
  return header_fields(start, safetensors_prefix_bytes, safetensors_prefix_bytes, file_bytes,
                       max_safetensors_header_bytes, ".safetensors");
}

/// The tensor of this name. Without a name, the only tensor that may be a table or hold heads.
Tensor chosen_tensor(std::vector<Tensor> all, const std::string& wanted, Holds holds) {
  const std::size_t count = all.size();
  if (wanted.empty())
    std::erase_if(all, [=](const Tensor& each) { return !each.may_be_read(holds); });
  for (const Tensor& each : all)
    if (each.name == wanted || (wanted.empty() && all.size() == 1)) return each;
  if (wanted.empty() && all.empty())
    throw_invalid(
        "none of the {} tensors is a table; allowed: F32, F64, F16 or BF16 of two dimensions",
        count);
  constexpr std::size_t most_shown = 10;
  std::vector<std::string> names;
  for (const Tensor& each : std::span(all).first(std::min(all.size(), most_shown)))
    names.push_back(shortened(each.name, max_quoted_bytes));
  std::string shown = join(names, ", ");
  if (all.size() > most_shown) shown += format_text(" and {} more", all.size() - most_shown);
  if (!wanted.empty()) throw_invalid("tensor is '{}'; allowed: {}", wanted, shown);
  throw_invalid("the file has {} tensors; allowed: one of them (give --tensor): {}", all.size(),
                shown);
}

StoredTable raw_table(std::int64_t file_bytes, const TableFileOptions& options) {
  if (!options.columns)
    throw_invalid(
        "the file is neither .npy nor .safetensors; allowed: raw elements, with --d-model for "
        "the channels of a row, and --dtype for the type of the elements");
  check_range("d_model", *options.columns, 1, max_d_model);
  const std::int64_t row_bytes = *options.columns * size_of(options.type);
  if (file_bytes % row_bytes != 0)
    throw_invalid("the file has {} bytes; allowed with d_model {} and {}: a multiple of {}",
                  file_bytes, *options.columns, to_string(options.type), row_bytes);
  return {.type = options.type, .rows = file_bytes / row_bytes, .columns = *options.columns};
}

StoredTable stored_table(const InputFile& input, const std::filesystem::path& file,
                         const TableFileOptions& options) {
  if (input.bytes() == 0) throw_invalid("the file is empty; allowed: a table");
  const std::string start = input.text(0, std::min(input.bytes(), table_header_bytes));
  if (is_npy(start)) return parse_npy(start, input.bytes(), options.holds);
  if (file.extension() == ".npy")
    throw_invalid("the file is not in NumPy's format; allowed: a file that begins with \\x93NUMPY");
  if (file.extension() == ".safetensors")
    return parse_safetensors(start, input.bytes(), options.tensor, options.holds);
  return raw_table(input.bytes(), options);
}

/// Converts a dictionary from Python's syntax to JSON: quotes, tuples, booleans, the commas before
/// closing brackets, and the L of Python 2's integers.
std::string json_of_python(std::string_view text) {
  std::string json;
  char quote = 0;  // the quote of the string that c is in
  for (const char c : text) {
    if (quote == 0 ? c == '\'' || c == '"' : c == quote) {
      quote = quote == 0 ? c : '\0';
      json += '"';
      continue;
    }
    if (quote == 0 && (c == ')' || c == '}')) {
      const std::size_t last = json.find_last_not_of(" \n");
      if (last != json.npos && json[last] == ',') json.resize(last);
    }
    // Characters of JSON that Python lacks become a character that both refuse.
    constexpr std::string_view python = "()TFL[]tfn", other = "[]tf ?????";
    const bool is_digit_before = !json.empty() && json.back() >= '0' && json.back() <= '9';
    const std::size_t place =
        quote != 0 || (c == 'L' && !is_digit_before) ? python.npos : python.find(c);
    json += quote != 0 && c == '"' ? '?' : place != python.npos ? other[place] : c;
  }
  return json;
}

}  // namespace

bool is_npy(std::string_view start) noexcept { return start.starts_with("\x93NUMPY"); }

NpyHeader parse_npy_header(std::string_view start, std::int64_t file_bytes) {
  constexpr std::size_t version_at = 6, length_at = 8;
  const std::string_view version =
      start.size() < length_at ? "\1\0"sv : start.substr(version_at, 2);
  if (version != "\1\0"sv && version != "\2\0"sv && version != "\3\0"sv)
    throw_invalid("the version of the .npy file is {}.{}; allowed: 1.0, 2.0, 3.0",
                  int{static_cast<unsigned char>(version[0])},
                  int{static_cast<unsigned char>(version[1])});
  const std::size_t length_bytes = version[0] == 1 ? 2 : 4;
  const std::string_view fields = header_fields(start, length_at + length_bytes, length_bytes,
                                                file_bytes, max_npy_header_bytes, ".npy");
  const std::string text = json_of_python(fields.substr(0, fields.find_last_not_of(" \n") + 1));
  try {
    const auto parsed = parse_json_text<Json>(text, "the header of the .npy file");
    const Json& json = parsed.json;
    if (json.size() == 3)
      return {json.at("descr").get<std::string>(), json.at("fortran_order").get<bool>(),
              sizes(json, "shape", ".npy"),
              static_cast<std::int64_t>(length_at + length_bytes + fields.size())};
  } catch (const Json::exception&) {
  }
  refuse_header(".npy", "a field is missing or unexpected");
}

StoredTable parse_npy(std::string_view start, std::int64_t file_bytes, Holds holds) {
  const NpyHeader header = parse_npy_header(start, file_bytes);
  const std::string_view descr = header.descr;
  const auto type =
      type_named(descr.substr(std::min<std::size_t>(1, descr.size())), &TypeNames::npy);
  if (!type || descr.find_first_of("<>=|") != 0)
    throw_invalid(
        "descr is '{}'; allowed: f4, f8, f2, and for bfloat16 V2 or u2, of either byte order",
        descr);
  StoredTable table = {.type = *type,
                       .is_big_endian = descr.front() == '>',
                       .is_column_major = header.is_column_major,
                       .offset = header.bytes};
  set_shape(table, header.shape, descr[1] == 'c', holds, file_bytes - header.bytes, "the file");
  return table;
}

StoredTable parse_safetensors(std::string_view start, std::int64_t file_bytes,
                              const std::string& tensor, Holds holds) {
  const std::string_view header = safetensors_header(start, file_bytes);
  const Tensor chosen = chosen_tensor(tensors_of(header), tensor, holds);
  const auto type = type_named(chosen.type, &TypeNames::safetensors);
  if (!type)
    throw_invalid("dtype of tensor {} is {}; allowed: F32, F64, F16, BF16", chosen.name,
                  chosen.type);
  const std::int64_t data = safetensors_prefix_bytes + static_cast<std::int64_t>(header.size()),
                     begin = chosen.offsets[0], end = chosen.offsets[1];
  if (begin > end || end > file_bytes - data)
    throw_invalid(
        "data_offsets of tensor {} are {} and {}; allowed: a range of the {} bytes that the "
        "file has",
        chosen.name, begin, end, file_bytes - data);
  StoredTable table = {.type = *type, .offset = data + begin};
  set_shape(table, chosen.shape, chosen.type == "C64", holds, end - begin, "tensor " + chosen.name);
  return table;
}

std::vector<std::string> tensor_names(const std::filesystem::path& file) {
  const InputFile input(file);
  return in_place(file.string(), [&] {
    const std::string start = input.text(0, std::min(input.bytes(), table_header_bytes));
    std::vector<std::string> names;
    for (const Tensor& each : tensors_of(safetensors_header(start, input.bytes())))
      names.push_back(each.name);
    return names;
  });
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

HeadsTable TableInMemory::heads() const noexcept {
  return {elements.get(),
          stored.type,
          {stored.rows, stored.heads, stored.columns},
          {stored.heads * stored.columns, stored.columns, 1}};
}

TableInMemory read_table(const std::filesystem::path& file, const TableFileOptions& options) {
  const InputFile input(file);
  TableInMemory table;
  table.stored = in_place(file.string(), [&] { return stored_table(input, file, options); });
  const auto element = static_cast<std::size_t>(size_of(table.stored.type));
  const std::size_t bytes =
      static_cast<std::size_t>(table.stored.rows * table.stored.heads * table.stored.columns) *
      element;
  table.elements.reset(new std::byte[bytes]);
  input.read(table.stored.offset, table.elements.get(), static_cast<std::int64_t>(bytes));
  if (table.stored.is_big_endian != (std::endian::native == std::endian::big)) {
    for (std::size_t i = 0; i < bytes; i += element)
      std::ranges::reverse(std::span(&table.elements[i], element));
  }
  return table;
}

}  // namespace internals
}  // namespace posenc::check
