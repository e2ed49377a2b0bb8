#include "cli/options.h"

#include "cli/report.h"

#include "posenc/frequency_rule_text.h"
#include "posenc/selection.h"
#include "posenc/suite/files.h"
#include "posenc/suite/measure.h"
#include "posenc/support/frequency_parameters.h"
#include "posenc/support/parallel_for.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <sstream>

namespace posenc::cli {

using namespace model;
using namespace suite;
namespace {

Rule flag(const char* key, bool Options::*field, const char* description) {
  return {key, "", description, [field](Options& options, const std::string& text) {
            options.*field = true;
            return text == "true" ? "" : "no value";
          }};
}

void keep(std::string& field, const std::string& value) { field = value; }
void keep(Names& field, const std::string& value) { field.push_back(value); }

template <class T>
void keep(std::vector<T>& field, const T& value) {
  add_once(field, value);
}
template <class T>
void keep(std::optional<T>& field, const T& value) {
  field = value;
}

template <class Field>
Rule text(const char* key, const char* value, Field Options::*field, const char* description) {
  return {key, value, description, [field](Options& options, const std::string& given) {
            keep(options.*field, given);
            return given.empty() ? "at least one character" : "";
          }};
}

/// Refuses numbers that do not print as they were typed, such as 010.
template <class Field>
Rule integer(
    const char* key, Field Options::*field, const char* description,
    typename Field::value_type least = std::numeric_limits<typename Field::value_type>::min(),
    typename Field::value_type most = std::numeric_limits<typename Field::value_type>::max()) {
  return {key, "N", description, [=](Options& options, const std::string& text) {
            typename Field::value_type value = 0;
            std::from_chars(text.data(), text.data() + text.size(), value);
            keep(options.*field, value);
            const bool is_read = fmt::to_string(value) == text && value >= least && value <= most;
            return is_read ? "" : fmt::format("an integer, {} to {}", least, most);
          }};
}

/// A finite number above `least`, or equal to it if `may_be_least`.
Rule real(const char* key, std::optional<double> Options::*field, const char* description,
          double least, bool may_be_least = false) {
  return {key, "X", description, [=](Options& options, const std::string& text) {
            const auto value = options.*field = parse_real(text);
            const bool is_allowed = value && std::isfinite(*value) &&
                                    (*value > least || (may_be_least && *value == least));
            return is_allowed ? ""
                              : fmt::format("a finite number, {} {}",
                                            may_be_least ? "at least" : "greater than", least);
          }};
}

/// One of several names; the description lists them.
Rule choice_of(const char* key, const std::string& what, const Names& known,
               const std::string& by_default,
               const std::function<void(Options& options, const std::string& name)>& use) {
  const std::string names = join(known, ", ");
  return {key, "NAME",
          (what.empty() ? "" : what + ": ") + names +
              (by_default.empty() ? "" : " (default: " + by_default + ")"),
          [=](Options& options, const std::string& name) {
            if (std::ranges::count(known, name) == 0) return names;
            use(options, name);
            return std::string();
          }};
}

template <class Field>
Rule choice(const char* key, const char* what, const Names& known, const std::string& by_default,
            Field Options::*field) {
  return choice_of(
      key, what, known, by_default,
      [field](Options& options, const std::string& name) { keep(options.*field, name); });
}

template <class Enum, std::size_t count, class Field>
requires std::is_enum_v<Enum> Rule choice(const char* key, const char* what,
                                          const Enum (&all)[count], const char* by_default,
                                          Field Options::*field) {
  const auto name_of = [](Enum each) { return to_string(each); };
  return choice_of(key, what, names_of(all, name_of), by_default,
                   [=, &all](Options& options, const std::string& name) {
                     keep(options.*field, *std::ranges::find(all, name, name_of));
                   });
}

/// The rule for a list with commas between its values.
Rule list_of(Rule rule) {
  rule.key += "...";
  rule.value += ",...";
  rule.take = [take = rule.take](Options& options, const std::string& list) {
    std::string allowed;
    for (std::size_t begin = 0, end = 0; end != std::string::npos && allowed.empty();
         begin = end + 1) {
      end = list.find(',', begin);
      allowed = take(options, list.substr(begin, end - begin));
    }
    return allowed;
  };
  return rule;
}

std::string take_shape(Options& options, const std::string& text) {
  TableSize size;
  const char* const end = text.data() + text.size();
  const char* at = std::from_chars(text.data(), end, size.rows).ptr;
  if (at != end && *at == 'x') std::from_chars(at + 1, end, size.d_model);
  options.shapes.push_back(size);
  const bool is_read = fmt::format("{}x{}", size.rows, size.d_model) == text;
  return is_read && size.rows > 0 && size.d_model > 0 ? "" : "rows and channels, as in 777x768";
}

std::string take_grid(Options& options, const std::string& text) {
  GridSizes sizes = {};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::int64_t& size : sizes) {
    at = std::from_chars(at, end, size).ptr;
    at += at != end ? 1 : 0;
  }
  options.grid = sizes;
  const bool is_read = fmt::format("{}", fmt::join(sizes, ",")) == text;
  return is_read ? "" : "three integers with commas between them";
}

/// The format that the suffix of the file names; empty if no command has such a format. Throws
/// InvalidArgument if only other commands have it.
std::string format_of_suffix(const std::string& file, const Names& allowed) {
  const std::string suffix = std::filesystem::path(file).extension().string();
  const std::string format = suffix.empty() ? "" : suffix.substr(1);
  const auto is_in = [&](const Names& names) { return std::ranges::count(names, format) > 0; };
  if (is_in(allowed)) return format;
  if (!is_in(Names{"json", "csv", "npy", "safetensors", "raw"})) return "";
  throw_invalid("--output is '{}'; allowed formats: {} (give --format)", file, join(allowed, ", "));
}

constexpr std::string_view default_preset = "tutorial";

/// The table after `size`, `first` and the options have replaced its parts; validated. A size of 0
/// replaces nothing. The table keeps its name if its spec and rows do not change.
MeasuredTable overridden(const Options& options, const MeasuredTable& usual, TableSize size,
                         std::optional<std::int64_t> first) {
  EncodingSpec spec = usual.spec;
  RowRange rows = usual.rows;
  spec.d_model = options.d_model.value_or(size.d_model > 0 ? size.d_model : spec.d_model);
  spec.base = options.base.value_or(spec.base);
  spec.layout = options.layout.value_or(spec.layout);
  spec.spacing = options.spacing.value_or(spec.spacing);
  spec.frequencies = options.frequencies.value_or(spec.frequencies);
  rows.first = first.value_or(rows.first);
  rows.count = options.rows.value_or(size.rows > 0 ? size.rows : rows.count);
  validate(spec);
  validate(rows);
  table_bytes(spec, rows.count, size_of(usual.type));  // throws if the bytes overflow
  MeasuredTable table = {.name = size_name(spec, rows),
                         .spec = spec,
                         .rows = rows,
                         .type = usual.type,
                         .stride = spec.d_model,
                         .threads = usual.threads};
  if (!usual.name.empty() && spec == usual.spec && rows == usual.rows) table.name = usual.name;
  return table;
}

const Backend& named_backend(const std::string& name, std::optional<Isa> isa) {
  if (isa && name.find(':') != std::string::npos) {
    throw_invalid("--isa is '{}' and --backend is '{}'; allowed: the ISA in one place",
                  to_string(*isa), name);
  }
  return isa ? backend(name, *isa) : posenc::backend(name);
}

}  // namespace

Names words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

std::vector<Rule> rules(const Subcommand& subcommand) {
  // Some commands take one value of these options, others take a list.
  const Rule preset = choice("--preset", "convention and shape of a real system",
                             names_of(presets(), &Preset::name), "", &Options::presets);
  const Rule shape = {"--shape", "ROWSxD", "rows and d_model in one, as in 777x768", take_shape};
  const Rule first =
      integer("--first", &Options::firsts, "first position, -2^53 to 2^53 (default: the preset's)");
  const Rule type =
      choice("--dtype", "type of an entry", all_data_types, "float32", &Options::types);
  const Rule threads =
      integer("--threads", &Options::threads, "number of threads (default: 1)", 1, most_threads);
  return {
      preset,
      list_of(preset),
      shape,
      list_of(shape),
      integer("--rows", &Options::rows, "number of positions (default: the preset's)"),
      integer("--d-model", &Options::d_model, "channels per row, even (default: the preset's)"),
      first,
      list_of(first),
      real("--base", &Options::base, "base of the frequencies, above 1 (default: the preset's)", 1),
      choice("--layout", "", all_layouts, "the preset's", &Options::layout),
      choice("--spacing", "exponents of the frequencies, 2i/d or i/(d/2-1)", all_spacings,
             "the preset's", &Options::spacing),
      {"--frequencies", "RULE",
       "rule, and its parameters after a colon, as in linear:factor=4: " + join(rule_names, ", ") +
           " (default: the preset's)",
       [](Options& options, const std::string& rule) {
         options.frequencies = parse_frequency_rule(rule);
         return "";
       }},
      type,
      list_of(type),
      text("--backend", "NAME", &Options::backends,
           "backend, or backend:isa (default: by the accuracy)"),
      list_of(text("--backend", "NAME", &Options::backends,
                   "backend, or backend:isa (default: all that run here)")),
      choice("--isa", "instruction set", all_isas, "the best, or all if no backend is named",
             &Options::isa),
      real("--max-error", &Options::max_error,
           "take the fastest backend that promises |error| up to X (default: correctly rounded)",
           0),
      real("--max-ulp", &Options::max_ulp, "the same in ulp", 0),
      threads,
      list_of(threads),
      text("--config", "FILE", &Options::config,
           "a model's rotary embedding: its config.json, or the folder that holds it"),
      text("--layers", "KIND", &Options::layers,
           "kind of layers, for a model with several, such as sliding_attention"),
      choice("--axes", "system whose positions are on several axes, the cells of a grid",
             names_of(axes_presets(), &AxesPreset::name), "", &Options::axes),
      {"--grid", "T,H,W", "cells along time, height and width (default: a usual grid)", take_grid},
      choice("--rotary",
             "the cache of a rotary embedding of dimension --d-model, times the attention factor "
             "of its frequencies",
             {"halves", "interleaved"}, "", &Options::rotary),
      text("--positions", "FILE", &Options::positions,
           "positions of the rows: .npy of int32 or int64, of one dimension"),
      text("--conformance", "DIR", &Options::conformance,
           "a conformance set: tables of all types at telling positions, and manifest.json"),
      text("TABLE?", "FILE", &Options::table,
           ".npy, .safetensors, or raw little-endian elements with --d-model"),
      text("--tensor", "NAME", &Options::tensor,
           "the tensor of a .safetensors file (default: the only table in it)"),
      flag("--twice", &Options::is_twice,
           "cosines or sines, and the same again: cos_cached of Transformers"),
      flag("--repeated", &Options::is_repeated, "cosines or sines, each in two adjacent columns"),
      text("--rotated", "FILE", &Options::rotated,
           "heads before a kernel that turns them by rotary angles; TABLE holds those after it"),
      text("DOCUMENT...", "FILE", &Options::documents,
           "JSON of posenc measure or posenc accuracy; with --run, two posenc commands"),
      flag("--run", &Options::runs,
           "run two posenc commands, OLD and NEW, in turn, and judge whether NEW is slower"),
      real("--tolerance", &Options::tolerance,
           "accepted relative growth of an error or of the share of wrongly rounded entries "
           "(default: 0; for builds of two compilers: 0.01)",
           0, true),
      text("DOCUMENT?", "FILE", &Options::document,
           "JSON of posenc measure (default: measure now)"),
      text("--cpu", "NAME", &Options::cpu,
           "answer for this CPU by a document that comes with posenc: a name, such as \"Zen 4\", "
           "or \"family N, model M\" (see posenc list --cpus)"),
      integer("--processes", &Options::processes,
              "processes to time in; up to twice as many if figures are noisy (default: 7)", 2,
              100),
      integer("--rounds", &Options::rounds,
              "rounds of --run; in each, a table has four processes: OLD NEW NEW OLD (default: 8)",
              2, 100),
      list_of(text("--question", "NAME", &Options::questions, "")),
      text("--save", "FILE", &Options::save,
           "keep the measurements in this file, a profile that programs load"),
      integer("--worst", &Options::worst,
              "number of worst entries to show, by |error| and in ulp (default: 1)", 1, 10000),
      flag("--force", &Options::is_forced,
           "write the file even if its disk seems to have too little space"),
      flag("--presets", &Options::lists_presets, "list the conventions of real systems instead"),
      flag("--cpus", &Options::lists_cpus,
           "list the CPUs whose measurements come with posenc instead"),
      choice("--format", "", subcommand.formats,
             "by the suffix of --output, else " + subcommand.default_format, &Options::format),
      {"--output", "FILE", "file to write (default: standard output)",
       [formats = subcommand.formats](Options& options, const std::string& file) {
         options.output = file;
         if (options.format.empty()) options.format = format_of_suffix(file, formats);
         return file.empty() ? "at least one character" : "";
       }},
  };
}

Accuracy Options::accuracy() const {
  if (max_error) return Accuracy::within(*max_error);
  return max_ulp ? Accuracy::within_ulp(*max_ulp) : Accuracy();
}

Preset shape_of(const Options& options) {
  Preset shape = preset(options.presets.empty() ? default_preset : options.presets.front());
  const MeasuredTable table = overridden(
      options, {.name = {}, .spec = shape.spec, .rows = shape.rows, .type = options.data_type()},
      options.shapes.empty() ? TableSize{} : options.shapes.front(), options.first());
  shape.spec = table.spec;
  shape.rows = table.rows;
  return shape;
}

std::vector<MeasuredTable> tables_of(const Options& options,
                                     const std::vector<MeasuredTable>& by_default) {
  std::vector<MeasuredTable> conventions;
  for (const std::string& name : options.presets) {
    const Preset& named = preset(name);
    conventions.push_back({.name = name, .spec = named.spec, .rows = named.rows});
  }
  const bool is_sized = !options.shapes.empty() || options.rows || options.d_model;
  if (conventions.empty() && is_sized) {
    const Preset& usual = preset(default_preset);
    conventions.push_back({.name = {}, .spec = usual.spec, .rows = usual.rows});
  }
  if (conventions.empty()) conventions = by_default;
  const auto or_default = [](auto values, auto usual) {
    if (values.empty()) values.push_back(usual);
    return values;
  };
  std::vector<std::optional<std::int64_t>> firsts(options.firsts.begin(), options.firsts.end());
  std::vector<MeasuredTable> tables;
  const auto add = [&](MeasuredTable usual, TableSize shape, std::optional<std::int64_t> first,
                       DataType type) {
    usual.type = type;
    for (const int threads : or_default(options.threads, 1)) {
      usual.threads = threads;
      const MeasuredTable table = overridden(options, usual, shape, first);
      table_of(table.spec, table.rows, type, threads);  // throws if the table cannot be measured
      add_once(tables, table);
    }
  };
  for (const MeasuredTable& convention : conventions) {
    for (const TableSize& shape : or_default(options.shapes, TableSize{})) {
      for (const auto& first : or_default(firsts, std::optional<std::int64_t>())) {
        for (const DataType type : or_default(options.types, DataType::float32))
          add(convention, shape, first, type);
      }
    }
  }
  return tables;
}

bool names_table(const Options& options, const MeasuredTable& table) {
  const auto is_same = [](const auto& wanted, const auto& value) {
    return !wanted || *wanted == value;
  };
  const auto is_one_of = [](const auto& wanted, const auto& value) {
    return wanted.empty() || std::ranges::count(wanted, value) > 0;
  };
  const auto has_size = [&table](const TableSize& size) {
    return size.rows == table.rows.count && size.d_model == table.spec.d_model;
  };
  if (!is_one_of(options.types, table.type) || !is_one_of(options.threads, table.threads))
    return false;
  if (!options.presets.empty()) {  // the presets, with the parts that other options override
    Options one = options;
    one.types = {table.type};
    one.threads = {table.threads};
    return std::ranges::any_of(tables_of(one, {}), [&table](const MeasuredTable& each) {
      return each.spec == table.spec && each.rows == table.rows;
    });
  }
  const EncodingSpec& spec = table.spec;
  return (options.shapes.empty() || std::ranges::any_of(options.shapes, has_size)) &&
         is_same(options.rows, table.rows.count) && is_same(options.d_model, spec.d_model) &&
         is_one_of(options.firsts, table.rows.first) && is_same(options.base, spec.base) &&
         is_same(options.layout, spec.layout) && is_same(options.spacing, spec.spacing) &&
         is_same(options.frequencies, spec.frequencies);
}

const Backend& backend_of(const Options& options, const Preset& shape) {
  if (!options.backends.empty()) return named_backend(options.backends.front(), {});
  return *select_backend(shape.spec, shape.rows,
                         {.accuracy = options.accuracy(), .type = options.data_type()})
              .backend;
}

std::vector<const Backend*> backends_of(const Options& options) {
  std::vector<const Backend*> chosen;
  for (const std::string& name : options.backends) {
    const Backend* named = &named_backend(name, options.isa);
    add_once(chosen, named);
  }
  if (options.backends.empty()) chosen = backends_here(options.isa);
  if (!chosen.empty()) return chosen;
  throw_invalid(
      "--isa is '{}'; allowed: one that this CPU supports and this build has a backend for",
      to_string(*options.isa));
}

RotaryReading reading_of(const Options& options, std::optional<std::int64_t> rows) {
  std::filesystem::path file = options.config;
  if (std::filesystem::is_directory(file)) file /= "config.json";
  const std::string text = read_document(file);
  return in_place(file.string(), [&] { return read_rotary_config(text, rows); });
}

}  // namespace posenc::cli
