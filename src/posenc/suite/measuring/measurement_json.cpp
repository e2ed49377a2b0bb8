#include "posenc/suite/measuring/measurement_json.h"

#include "posenc/error.h"
#include "posenc/support/format.h"
#include "posenc/support/json_text.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

namespace posenc::suite {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Json to_json(const MeasuredTable& table) {
  return {{"name", table.name},
          {"spec", suite::to_json(table.spec)},
          {"rows", suite::to_json(table.rows)},
          {"dtype", to_string(table.type)},
          {"stride", table.stride},
          {"threads", table.threads},
          {"stores", to_string(table.stores)}};
}

Json to_json(const MeasuredError& error) {
  return {{"max_abs", number_or_null(error.max_abs)},
          {"max_ulp", number_or_null(error.max_ulp)},
          {"rms", number_or_null(error.rms)},
          {"correctly_rounded", error.correctly_rounded},
          {"checked", error.checked}};
}

Json to_json(const Promise& promise) {
  return {{"max_abs", number_or_null(promise.max_abs)},
          {"max_ulp", number_or_null(promise.max_ulp)},
          {"correctly_rounded", promise.is_correctly_rounded}};
}

/// A value of a document, and its path in the document for messages. Each function throws
/// BadDocument if the value is not what is asked for.
struct JsonNode {
  const Json& value;
  std::string path;

  [[noreturn]] void fail(std::string_view wanted) const {
    throw BadDocument(
        format_text("{} is not {}", path.empty() ? std::string("the document") : path, wanted));
  }
  JsonNode operator[](const char* key) const {
    if (!value.is_object()) fail("an object");
    const std::string place = path.empty() ? key : path + "." + key;
    if (!value.contains(key)) throw BadDocument(format_text("{} is missing", place));
    return {value.at(key), place};
  }
  bool has(const char* key) const {  ///< present, and not null
    return value.is_object() && value.contains(key) && !value.at(key).is_null();
  }
  std::vector<JsonNode> elements() const {
    if (!value.is_array()) fail("an array");
    std::vector<JsonNode> all;
    for (std::size_t i = 0; i < value.size(); ++i)
      all.push_back({value[i], format_text("{}[{}]", path, i)});
    return all;
  }
  /// Printable, of at most max_text_bytes.
  std::string text() const {
    const std::string content = value.is_string() ? value.get<std::string>() : "";
    if (content.empty() || content.size() > max_text_bytes || escaped(content) != content)
      fail("a text");
    return content;
  }
  std::string text_or_empty() const { return value == "" ? "" : text(); }
  std::int64_t integer(std::int64_t least, std::int64_t most) const {
    if (!value.is_number_integer() || value < least || value > most)
      fail(format_text("an integer from {} to {}", least, most));
    return value.get<std::int64_t>();
  }
  double non_negative(double if_null) const {
    if (value.is_null()) return if_null;
    if (!value.is_number() || !std::isfinite(value.get<double>()) || value < 0)
      fail("a number of at least 0");
    return value.get<double>();
  }
  std::vector<double> positive_numbers() const {
    std::vector<double> all;
    for (const JsonNode& each : elements()) {
      all.push_back(each.non_negative(0));
      if (all.back() == 0) each.fail("a number above 0");
    }
    return all;
  }
  /// What `parse` makes of the text; it throws InvalidArgument if the text is not allowed.
  template <class Parse>
  auto parsed(Parse parse) const {
    const std::string content = text();
    try {
      return parse(content);
    } catch (const InvalidArgument& error) {
      throw BadDocument(path + ": " + error.what());
    }
  }
};

MeasuredTable table_from(const JsonNode& node) {
  constexpr std::int64_t any = max_position;
  const JsonNode spec = node["spec"];
  MeasuredTable table = {
      .name = node["name"].text(),
      .spec = {.d_model = spec["d_model"].integer(1, max_d_model),
               .base = spec["base"].non_negative(0),
               .layout = spec["layout"].parsed(parse_layout),
               .spacing = spec["spacing"].parsed(parse_spacing),
               .frequencies = spec["frequencies"].parsed(parse_frequency_rule)},
      .rows = {node["rows"]["first"].integer(-any, any), node["rows"]["count"].integer(1, any)},
      .type = node["dtype"].parsed(parse_data_type),
      .stride = node["stride"].integer(1, any),
      .threads = static_cast<int>(node["threads"].integer(1, 1 << 20)),
      .stores = node["stores"].parsed(parse_store_policy)};
  try {
    validate(table.spec);
    validate(table.rows);
    table.bytes();
  } catch (const InvalidArgument& error) {
    throw BadDocument(node.path + ": " + error.what());
  }
  return table;
}

MeasuredError error_from(const JsonNode& node) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  return {node["max_abs"].non_negative(nan), node["max_ulp"].non_negative(nan),
          node["rms"].non_negative(nan), node["correctly_rounded"].non_negative(0),
          node.has("checked") ? node["checked"].non_negative(0) : 0};  // older ones compared some
}

Promise promise_from(const JsonNode& node) {
  const JsonNode rounded = node["correctly_rounded"];
  if (!rounded.value.is_boolean()) rounded.fail("true or false");
  return {node["max_abs"].non_negative(infinity), node["max_ulp"].non_negative(infinity),
          rounded.value.get<bool>()};
}

Cpu machine_from(const JsonNode& node) {
  Cpu machine = {.model = node["cpu"].text(), .isas = {}};
  for (const JsonNode& each : node["isas"].elements())
    machine.isas.push_back(each.parsed(parse_isa));
  machine.l1_bytes = node["l1_bytes"].integer(0, max_position);
  machine.l2_bytes = node["l2_bytes"].integer(0, max_position);
  machine.l3_bytes = node["l3_bytes"].integer(0, max_position);
  machine.logical_cores = static_cast<int>(node["logical_cores"].integer(1, 1 << 20));
  return machine;
}

}  // namespace

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json to_json(const EncodingSpec& spec) {
  return {{"d_model", spec.d_model},
          {"base", spec.base},
          {"layout", to_string(spec.layout)},
          {"spacing", to_string(spec.spacing)},
          {"frequencies", to_string(spec.frequencies)}};
}

Json to_json(RowRange rows) { return {{"first", rows.first}, {"count", rows.count}}; }

Json to_json(const Cpu& machine) {
  Json isas = Json::array();
  for (const Isa isa : machine.isas) isas.push_back(to_string(isa));
  return {{"cpu", machine.model},         {"isas", isas},
          {"l1_bytes", machine.l1_bytes}, {"l2_bytes", machine.l2_bytes},
          {"l3_bytes", machine.l3_bytes}, {"logical_cores", machine.logical_cores}};
}

Json to_json(const Measurement& measured) {
  return {{"backend", measured.backend},
          {"isa", measured.isa},
          {"phases", measured.phases},
          {"role", to_string(measured.role)},
          {"table", to_json(measured.table)},
          {"seconds", measured.seconds},
          {"self_ratios", measured.self_ratios},
          {"error", measured.error ? to_json(*measured.error) : Json()},
          {"bound", measured.promise ? to_json(*measured.promise) : Json()}};
}

Json to_json(const Measurements& document) {
  Json json = {{"version", Measurements::format_version},
               {"machine", to_json(document.machine)},
               {"compiler", document.compiler},
               {"library_version", document.library_version},
               {"kernels", document.kernels},
               {"measured_at", document.measured_at},
               {"disturbed", document.disturbed},
               {"measurements", Json::array()}};
  for (const Measurement& each : document.all) json["measurements"].push_back(to_json(each));
  return json;
}

std::string text_of(const Json& document) {
  constexpr bool ensure_ascii = true;  // no control characters for a terminal
  const auto text = [](const Json& json, int indent) {
    return json.dump(indent, ' ', ensure_ascii, Json::error_handler_t::replace);
  };
  const auto rows = document.find("measurements");
  if (rows == document.end() || rows->empty()) return text(document, 1) + "\n";
  // One line a measurement, so that a document is short, and its changes can be read.
  Json head = document;
  head["measurements"] = Json::array();
  std::string whole = text(head, 1), lines;
  for (const Json& each : *rows) lines += (lines.empty() ? "[\n  " : ",\n  ") + text(each, -1);
  constexpr std::string_view key = "\"measurements\": ";
  return whole.replace(whole.find(key) + key.size(), 2, lines + "\n ]") + "\n";
}

Measurement measurement_from(const Json& value, const std::string& path) {
  const JsonNode node = {value, path};
  Measurement measured = {.backend = node["backend"].text(),
                          .isa = node["isa"].text_or_empty(),
                          .role = node["role"].parsed(parse_role),
                          .table = table_from(node["table"]),
                          .seconds = node["seconds"].positive_numbers(),
                          .self_ratios = node["self_ratios"].positive_numbers(),
                          .error = {},
                          .promise = {}};
  if (node.has("error")) measured.error = error_from(node["error"]);
  if (node.has("bound")) measured.promise = promise_from(node["bound"]);
  if (node.has("phases")) measured.phases = node["phases"].text_or_empty();  // older ones lack it
  return measured;
}

Json parse_json(const std::string& text) {
  try {
    return parse_json_text<Json>(text, "it");
  } catch (const InvalidArgument& error) {
    throw BadDocument(error.what());
  } catch (const Json::parse_error& error) {
    throw BadDocument(format_text("it is not JSON at byte {}", error.byte));
  } catch (const Json::exception&) {
    throw BadDocument("it is not JSON (a number out of range)");
  }
}

Measurements parse_measurements(const std::string& text) {
  const Json json = parse_json(text);
  const JsonNode root = {json, ""};
  const std::int64_t version = root["version"].integer(1, 1 << 20);
  if (version != Measurements::format_version) {
    throw BadDocument(format_text("its format is {}, this library reads {}", version,
                                  Measurements::format_version));
  }
  Measurements document = {.machine = machine_from(root["machine"]),
                           .compiler = root["compiler"].text(),
                           .library_version = root["library_version"].text(),
                           .kernels = root["kernels"].text_or_empty(),
                           .measured_at = root["measured_at"].text(),
                           .disturbed = root["disturbed"].text_or_empty(),
                           .all = {}};
  std::unordered_set<std::string> seen;
  for (const JsonNode& node : root["measurements"].elements()) {
    const Measurement& added = document.all.emplace_back(measurement_from(node.value, node.path));
    if (!seen.insert(added.full_name() + to_json(added.table).dump()).second)
      throw BadDocument(format_text("{} repeats a backend and table", node.path));
  }
  return document;
}

}  // namespace posenc::suite
