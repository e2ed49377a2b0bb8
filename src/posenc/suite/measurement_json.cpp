#include "posenc/suite/measurement_json.h"

#include "posenc/frequency_rule_text.h"
#include "posenc/model/internal/json_text.h"
#include "posenc/suite/microarchitecture.h"
#include "posenc/support/format.h"

#include <concepts>
#include <limits>
#include <unordered_set>

namespace posenc::suite {
inline namespace internals {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Writes the members of a value.
struct Writer {
  Json json = Json::object();

  static constexpr bool has(const char*) { return true; }
  template <class T>
  void operator()(const char* key, const T& value, const auto&...) {
    json[key] = written(value);
  }

  template <class T>
  static Json written(const std::optional<T>& value) {
    return value ? written(*value) : Json();
  }
  static Json written(const std::vector<Isa>& isas) {
    Json names = Json::array();
    for (const Isa isa : isas) names.push_back(to_string(isa));
    return names;
  }
  template <class T>
  static Json written(const T& value) {
    if constexpr (requires { Json(to_string(value)); })
      return to_string(value);
    else if constexpr (requires { members(std::declval<Writer&>(), std::declval<T&>()); }) {
      Writer members_of_value;
      T copy = value;
      members(members_of_value, copy);
      return members_of_value.json;
    } else {
      return value;
    }
  }
};

/// A value in a document, and its path in the document for messages. Throws InvalidArgument if a
/// member is not as expected.
struct Reader {
  const Json& value;
  std::string path;

  [[noreturn]] void fail(std::string_view wanted) const {
    throw_invalid("{} is not {}", path.empty() ? std::string("the document") : path, wanted);
  }
  Reader operator[](const char* key) const {
    if (!value.is_object()) fail("an object");
    const std::string place = path.empty() ? key : path + "." + key;
    if (!value.contains(key)) throw_invalid("{} is missing", place);
    return {value.at(key), place};
  }
  bool has(const char* key) const {  ///< present, and not null
    return value.is_object() && value.contains(key) && !value.at(key).is_null();
  }
  std::vector<Reader> elements() const {
    if (!value.is_array()) fail("an array");
    std::vector<Reader> all;
    for (std::size_t i = 0; i < value.size(); ++i)
      all.push_back({value[i], format_text("{}[{}]", path, i)});
    return all;
  }

  // Read the value itself.
  void read(bool& to) const {
    if (!value.is_boolean()) fail("true or false");
    to = value.get<bool>();
  }
  /// Reads a printable text of at most max_text_bytes.
  void read(std::string& to, bool is_optional = false) const {
    to = value.is_string() ? value.get<std::string>() : "";
    if (!value.is_string() || (to.empty() && !is_optional) || to.size() > max_text_bytes ||
        escaped(to) != to)
      fail("a text");
  }
  template <std::integral Integer>
  void read(Integer& to, std::int64_t least, std::int64_t most) const {
    // A comparison of signed integers would take 2^64 - 1 for -1.
    if (!value.is_number_integer() || value < least || value > static_cast<std::uint64_t>(most))
      fail(format_text("an integer from {} to {}", least, most));
    to = value.get<Integer>();
  }
  /// Reads a finite number of at least `least`. Null stands for `if_null`, because JSON has no
  /// infinity and no NaN.
  void read(double& to, double if_null = 0, double least = 0) const {
    to = value.is_number() ? value.get<double>() : if_null;
    const bool is_allowed = value.is_number() && std::isfinite(to) && to >= least;
    if (!value.is_null() && !is_allowed) fail(format_text("a number of at least {}", least));
  }
  void read(std::vector<double>& to) const {
    for (const Reader& each : elements()) {
      each.read(to.emplace_back());
      if (to.back() == 0) each.fail("a number above 0");
    }
  }
  /// `parse` throws InvalidArgument if the text is not allowed.
  template <class Name>
  void read(Name& to, Name (*parse)(std::string_view)) const {
    std::string name;
    read(name);
    to = in_place(path, [&] { return parse(name); });
  }
  void read(std::vector<Isa>& to) const {
    for (const Reader& each : elements()) each.read(to.emplace_back(), parse_isa);
    if (to.empty()) fail("a list of at least one ISA");
  }
  template <class T>
  void read(T& to) const {
    members(*this, to);
  }

  void operator()(const char* key, auto& to, const auto&... how) const {
    (*this)[key].read(to, how...);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& to) const {
    if (has(key)) (*this)[key].read(to.emplace());
  }
};

constexpr bool may_be_empty = true;

// The members of each value, in the order of a document. `io` is a Writer or a Reader.

void members(auto&& io, EncodingSpec& spec) {
  io("d_model", spec.d_model, 1, max_d_model);
  io("base", spec.base);
  io("layout", spec.layout, parse_layout);
  io("spacing", spec.spacing, parse_spacing);
  io("frequencies", spec.frequencies, parse_frequency_rule);
}

void members(auto&& io, RowRange& rows) {
  io("first", rows.first, -max_position, max_position);
  io("count", rows.count, 1, max_position);
}

void members(auto&& io, MeasuredTable& table) {
  io("name", table.name);
  io("spec", table.spec);
  io("rows", table.rows);
  io("dtype", table.type, parse_data_type);
  io("stride", table.stride, 1, max_position);
  io("threads", table.threads, 1, 1 << 20);
  io("stores", table.stores, parse_store_policy);
}

void members(auto&& io, MeasuredError& error) {
  io("max_abs", error.max_abs, nan);
  io("max_ulp", error.max_ulp, nan);
  io("rms", error.rms, nan);
  if (!io.has("mean")) error.mean = nan;  // older documents lack it
  if (io.has("mean")) io("mean", error.mean, nan, -infinity);
  io("correctly_rounded", error.correctly_rounded);
  if (!io.has("checked")) error.checked = 0;  // older documents compared some
  if (io.has("checked")) io("checked", error.checked);
}

void members(auto&& io, Promise& promise) {
  io("max_abs", promise.max_abs, infinity);
  io("max_ulp", promise.max_ulp, infinity);
  io("correctly_rounded", promise.is_correctly_rounded);
}

void members(auto&& io, Cpu& machine) {
  io("cpu", machine.model);
  io("isas", machine.isas);
  io("l1_bytes", machine.l1_bytes, 0, max_position);
  io("l2_bytes", machine.l2_bytes, 0, max_position);
  io("l3_bytes", machine.l3_bytes, 0, max_position);
  io("logical_cores", machine.logical_cores, 1, 1 << 20);
  // Only for people who read the document: this library derives the name anew.
  if constexpr (requires { io.json; })
    io.json["microarchitecture"] = microarchitecture_text(machine);
}

void members(auto&& io, Measurement& measured) {
  io("backend", measured.backend);
  io("isa", measured.isa, may_be_empty);
  if (io.has("phases")) io("phases", measured.phases, may_be_empty);  // older documents lack it
  io("role", measured.role, parse_role);
  io("table", measured.table);
  io("seconds", measured.seconds);
  io("self_ratios", measured.self_ratios);
  io("error", measured.error);
  io("bound", measured.promise);
  constexpr bool writes = requires { io.json; };
  if (writes ? !measured.not_available.empty() : io.has("not_available"))
    io("not_available", measured.not_available, may_be_empty);
}

/// All members but the measurements.
void members(auto&& io, Measurements& document) {
  io("machine", document.machine);
  io("compiler", document.compiler);
  io("library_version", document.library_version);
  io("kernels", document.kernels, may_be_empty);
  io("measured_at", document.measured_at);
  io("disturbed", document.disturbed, may_be_empty);
  // Older documents lack these.
  if (io.has("one_process")) io("one_process", document.one_process, may_be_empty);
  if (io.has("left_out")) io("left_out", document.left_out, may_be_empty);
}

/// The context of Google Benchmark's format.
Json context_of(const Measurements& document) {
  Json caches = Json::array();
  const std::int64_t sizes[] = {document.machine.l1_bytes, document.machine.l2_bytes,
                                document.machine.l3_bytes};
  for (int level = 1; level <= 3; ++level) {
    if (sizes[level - 1] == 0) continue;
    caches.push_back(
        {{"type", level == 1 ? "Data" : "Unified"}, {"level", level}, {"size", sizes[level - 1]}});
  }
  return {{"date", document.measured_at},
          {"executable", "posenc measure"},
          {"num_cpus", document.machine.logical_cores},
          {"caches", caches},
          {"library_build_type", "release"},
          {"cpu", document.machine.model},
          {"compiler", document.compiler},
          {"posenc_version", document.library_version},
          {"kernels", document.kernels},
          {"disturbed", document.disturbed}};
}

}  // namespace

Measurements measurements_from(const std::string& text) {
  const auto parsed = parse_json_text<Json>(text, "it");
  const Reader root = {parsed.json, ""};
  int version = 0;
  root("version", version, 1, 1 << 20);
  if (version != Measurements::format_version)
    throw_invalid("its format is {}, this library reads {}", version, Measurements::format_version);
  Measurements document;
  members(root, document);
  std::unordered_set<std::string> seen;
  for (const Reader& node : root["measurements"].elements()) {
    const Measurement& added = document.all.emplace_back(measurement_from(node.value, node.path));
    if (!seen.insert(added.full_name() + Writer::written(added.table).dump()).second)
      throw_invalid("{} repeats a backend and table", node.path);
  }
  return document;
}

Json to_json(const EncodingSpec& spec) { return Writer::written(spec); }
Json to_json(RowRange rows) { return Writer::written(rows); }
Json to_json(const Cpu& machine) { return Writer::written(machine); }
Json to_json(const Measurement& measured) { return Writer::written(measured); }

Json to_json(const Measurements& document) {
  Json json = {{"version", Measurements::format_version}};
  json.update(Writer::written(document));
  json["measurements"] = Json::array();
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
  // Each measurement is one line, so that the document is short and its changes are readable.
  Json head = document;
  head["measurements"] = Json::array();
  std::string whole = text(head, 1), lines;
  for (const Json& each : *rows) lines += (lines.empty() ? "[\n  " : ",\n  ") + text(each, -1);
  constexpr std::string_view key = "\"measurements\": ";
  return whole.replace(whole.find(key) + key.size(), 2, lines + "\n ]") + "\n";
}

std::string benchmark_path(const MeasuredTable& table) {
  const EncodingSpec paper;
  const EncodingSpec& spec = table.spec;
  std::string path;
  const auto say = [&path](bool is_said, std::string_view key, const auto& value) {
    if (is_said) path += format_text("{}{}:{}", path.empty() ? "" : "/", key, value);
  };
  const bool is_preset = table.name != size_name(spec, table.rows);
  say(is_preset, "preset", table.name);
  say(table.rows.first != 0 && !is_preset, "first", table.rows.first);
  say(true, "rows", table.rows.count);
  say(true, "d", spec.d_model);
  if (!is_preset) {
    say(spec.layout != paper.layout, "layout", to_string(spec.layout));
    say(spec.spacing != paper.spacing, "spacing", to_string(spec.spacing));
    say(spec.base != paper.base, "base", spec.base);
    say(!is_base(spec.frequencies), "frequencies", to_string(spec.frequencies));
  }
  say(table.stride != spec.d_model, "stride", table.stride);
  say(table.type != DataType::float32, "dtype", to_string(table.type));
  say(table.stores != StorePolicy::automatic, "stores", to_string(table.stores));
  say(table.threads > 1, "threads", table.threads);
  return path;
}

Json google_benchmark_document(const Measurements& document) {
  Json all = Json::array();
  std::size_t family = 0;
  for (const Measurement& each : document.all) {
    if (!each.is_timed()) continue;
    const std::string name = format_text("{}/{}/{}", each.role == Role::limit ? "limit" : "encode",
                                         each.full_name(), benchmark_path(each.table));
    for (std::size_t process = 0; process < each.seconds.size(); ++process) {
      const double seconds = each.seconds[process], entries = each.table.entries();
      all.push_back({{"name", name},
                     {"family_index", family},
                     {"per_family_instance_index", 0},
                     {"run_name", name},
                     {"run_type", "iteration"},
                     {"repetitions", each.seconds.size()},
                     {"repetition_index", process},
                     {"threads", 1},
                     {"iterations", 1},
                     {"real_time", 1e9 * seconds},
                     {"cpu_time", 1e9 * seconds},
                     {"time_unit", "ns"},
                     {"items_per_second", entries / seconds},
                     {"bytes_per_second", static_cast<double>(each.table.bytes()) / seconds}});
    }
    ++family;
  }
  return {{"context", context_of(document)}, {"benchmarks", std::move(all)}};
}

Measurement measurement_from(const Json& value, const std::string& path) {
  Measurement measured;
  members(Reader{value, path}, measured);
  in_place(path + ".table", [&] {
    validate(measured.table.spec);
    validate(measured.table.rows);
    measured.table.bytes();
  });
  return measured;
}

}  // namespace internals
}  // namespace posenc::suite
