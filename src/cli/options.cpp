#include "cli/options.h"

#include "cli/report.h"

#include "posenc/frequency_rule_text.h"
#include "posenc/suite/files.h"
#include "posenc/support/frequency_parameters.h"
#include "posenc/support/parallel_for.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>

namespace posenc::cli {

using namespace model;
using namespace suite;
namespace {

/// The elements of a list, which commas separate; empty elements are kept.
Names elements_of(const std::string& text) {
  Names elements;
  for (std::size_t first = 0, end = 0; end != text.npos; first = end + 1) {
    end = text.find(',', first);
    elements.push_back(text.substr(first, end - first));
  }
  return elements;
}

std::string take_shape(Options& options, const std::string& text) {
  TableSize size;
  const char* const end = text.data() + text.size();
  const char* at = std::from_chars(text.data(), end, size.rows).ptr;
  if (at != end && *at == 'x') std::from_chars(at + 1, end, size.d_model);
  options.shapes.push_back(size);
  const bool is_read = fmt::format("{}x{}", size.rows, size.d_model) == text;
  return is_read && size.rows > 0 && size.d_model > 0
             ? ""
             : "rows from 1 on and an even number of channels, as in 777x768";
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
  std::string format = suffix.empty() ? "" : suffix.substr(1);
  std::ranges::transform(format, format.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  const auto is_in = [&](const Names& names) { return std::ranges::count(names, format) > 0; };
  if (is_in(allowed)) return format;
  if (!is_in(Names{"json", "csv", "npy", "safetensors", "raw"})) return "";
  throw_invalid("--output is '{}'; allowed formats: {} (give --format)", file, join(allowed, ", "));
}

/// Every convention with every size, first position, type and number of threads that the options
/// name, and with the parts that the other options override. A table keeps the name of its
/// convention if its spec and rows do not change. The tables are not validated.
std::vector<MeasuredTable> combined(const Options& options,
                                    const std::vector<MeasuredTable>& conventions) {
  const auto or_default = [](auto values, auto usual) {
    if (values.empty()) values.push_back(usual);
    return values;
  };
  std::vector<MeasuredTable> tables;
  const auto add = [&](MeasuredTable table, TableSize size, std::int64_t first, DataType type) {
    const EncodingSpec usual_spec = table.spec;
    const RowRange usual_rows = table.rows;
    table.rows = {first, options.rows.value_or(size.rows)};
    table.spec.d_model = table.stride = options.d_model.value_or(size.d_model);
    table.spec.base = options.base.value_or(table.spec.base);
    table.spec.layout = options.layout.value_or(table.spec.layout);
    table.spec.spacing = options.spacing.value_or(table.spec.spacing);
    table.spec.frequencies = options.frequencies.value_or(table.spec.frequencies);
    if (table.name.empty() || table.spec != usual_spec || table.rows != usual_rows)
      table.name = size_name(table.spec, table.rows);
    table.type = type;
    for (const int threads : or_default(options.threads, table.threads)) {
      table.threads = threads;
      add_once(tables, table);
    }
  };
  for (const MeasuredTable& each : conventions) {
    const TableSize usual = {each.rows.count, each.spec.d_model};
    for (const TableSize& size : or_default(options.shapes, usual)) {
      for (const std::int64_t first : or_default(options.firsts, each.rows.first)) {
        for (const DataType type : or_default(options.types, each.type))
          add(each, size, first, type);
      }
    }
  }
  return tables;
}

/// The presets that the options name.
std::vector<MeasuredTable> presets_of(const Names& names) {
  std::vector<MeasuredTable> tables;
  for (const std::string& name : names)
    tables.push_back({.name = name, .spec = preset(name).spec, .rows = preset(name).rows});
  return tables;
}

}  // namespace

std::string help_lines(const std::string& text) {
  constexpr std::size_t width = 65;
  return join(broken(text, width), "\n");
}

CLI::Option* add_option(CLI::App& app, const std::string& name, const std::string& value,
                        const std::string& description, const Take& take, Values values) {
  // The parser's own delimiter would drop empty elements.
  const auto take_all = [name, take, values](const Names& given) {
    for (const std::string& text : given) {
      for (const std::string& each : values == Values::list ? elements_of(text) : Names{text}) {
        if (const std::string allowed = take(each); !allowed.empty())
          throw_invalid("{} is '{}'; allowed: {}", name, each.empty() ? text : each, allowed);
      }
    }
    return true;
  };
  CLI::Option* const option = app.add_option(name, take_all, help_lines(description));
  option->type_name(value)->expected(1);
  if (values == Values::list) {
    option->type_name(value + ",...");
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  return option;
}

CLI::Option* add_flag(CLI::App& app, const std::string& name, bool& field,
                      const std::string& description) {
  return app.add_flag(name, field, help_lines(description))->disable_flag_override();
}

CLI::Option* add_real(CLI::App& app, const std::string& name, std::optional<double>& field,
                      const std::string& description, double least, bool may_be_least) {
  const auto take = [=, &field](const std::string& text) {
    field = parse_real(text);
    const bool is_allowed =
        field && std::isfinite(*field) && (*field > least || (may_be_least && *field == least));
    return is_allowed ? std::string()
                      : fmt::format("a finite number, {} {}",
                                    may_be_least ? "at least" : "greater than", least);
  };
  return add_option(app, name, "X", description, take);
}

void exclude(CLI::App& app, const std::string& option, const Names& others) {
  for (const std::string& each : others) app.get_option(option)->excludes(each);
}

void add_preset(CLI::App& app, Options& options, Values values) {
  add_choice(app, "--preset", "convention and shape of a real system",
             names_of(presets(), &Preset::name), "", options.presets, values);
}

void add_d_model(CLI::App& app, Options& options, const std::string& by_default) {
  add_integer(app, "--d-model", options.d_model,
              "even number of channels per row (default: " + by_default + ")");
}

void add_size(CLI::App& app, Options& options, Values values) {
  add_option(
      app, "--shape", "ROWSxD", "--rows and --d-model in one, as in 777x768",
      [&](const std::string& text) { return take_shape(options, text); }, values);
  add_integer(app, "--rows", options.rows, "number of positions (default: the preset's)",
              std::int64_t{0}, max_position + 1);
  add_d_model(app, options);
  exclude(app, "--shape", {"--rows", "--d-model"});
}

void add_first(CLI::App& app, Options& options, Values values, const std::string& by_default) {
  add_integer(app, "--first", options.firsts,
              "position of the first row, -2^53 to 2^53 (default: " + by_default + ")",
              -max_position, max_position, values);
}

void add_convention(CLI::App& app, Options& options, const std::string& by_default) {
  add_real(app, "--base", options.base,
           "base of the frequencies, greater than 1 (default: " + by_default + ")", 1);
  add_choice(app, "--layout", "order of sines and cosines in a row", all_layouts, by_default,
             options.layout);
  add_choice(app, "--spacing", "exponents of the frequencies, 2i/d or i/(d/2-1)", all_spacings,
             by_default, options.spacing);
  add_option(app, "--frequencies", "RULE",
             "frequency rule, with its parameters after a colon, as in linear:factor=4: " +
                 join(rule_names, ", ") + " (default: " + by_default + ")",
             [&](const std::string& rule) {
               options.frequencies = parse_frequency_rule(rule);
               return "";
             });
}

void add_type(CLI::App& app, Options& options, Values values, const std::string& by_default) {
  add_choice(app, "--dtype", "type of the entries", all_data_types, by_default, options.types,
             values);
}

void add_threads(CLI::App& app, Options& options, Values values, const std::string& by_default) {
  add_integer(app, "--threads", options.threads, "number of threads (default: " + by_default + ")",
              1, most_threads, values);
}

void add_backends(CLI::App& app, Options& options) {
  add_text(app, "--backend", "NAME", options.backends,
           "backend, or backend:isa (default: all that run here)", Values::list);
  add_choice(app, "--isa", "instruction set", all_isas,
             "all; if backends are named and measured, the best one of each", options.isa);
}

void add_tables(CLI::App& app, Options& options) {
  add_preset(app, options, Values::list);
  add_size(app, options, Values::list);
  add_first(app, options, Values::list);
  add_convention(app, options);
  add_type(app, options, Values::list);
  add_threads(app, options, Values::list);
}

void add_measuring(CLI::App& app, Options& options) {
  add_tables(app, options);
  add_backends(app, options);
  add_integer(
      app, "--processes", options.processes,
      "number of processes that measure times; up to twice as many run if the times are noisy "
      "(default: 7)",
      2, 100);
}

void add_accuracy(CLI::App& app, Options& options) {
  add_real(app, "--max-error", options.max_error,
           "accept backends that promise |error| of at most X (default: only correctly rounded "
           "tables)",
           0);
  add_real(app, "--max-ulp", options.max_ulp, "the same limit in ulp", 0)->excludes("--max-error");
}

void add_model(CLI::App& app, Options& options) {
  add_text(app, "--config", "FILE", options.config,
           "use the rotary embedding of a model: its config.json, or the folder of that file");
  add_integer<std::optional<std::int64_t>>(app, "--length", options.length,
                                           "length of the longest sequence, on which the rules "
                                           "dynamic and longrope depend (default: the "
                                           "rows, or the model's)",
                                           1)
      ->needs("--config");
  add_text(app, "--layers", "KIND", options.layers,
           "kind of layers, such as sliding_attention, if the model has several kinds")
      ->needs("--config");
  add_text(app, "--types", "FILE", options.types_file,
           "JSON that describes model types that posenc does not know (docs/config-json.md)")
      ->needs("--config");
  add_choice(app, "--axes", "system whose positions are the cells of a grid",
             names_of(axes_presets(), &AxesPreset::name), "", options.axes);
  add_option(app, "--grid", "T,H,W",
             "number of cells along time, height and width (default: the usual grid of --axes); "
             "with --config, the positions of a model with several axes",
             [&](const std::string& text) { return take_grid(options, text); });
}

void add_output(CLI::App& app, Options& options, const Names& formats,
                const std::string& by_default) {
  add_choice(app, "--format", "", formats, "by the suffix of --output, else " + by_default,
             options.format);
  add_option(app, "--output", "FILE", "file to write (default: standard output)",
             [&options, formats](const std::string& file) {
               options.output = file;
               if (options.format.empty()) options.format = format_of_suffix(file, formats);
               return file.empty() ? "at least one character" : "";
             });
}

Accuracy Options::accuracy() const {
  if (max_error) return Accuracy::within(*max_error);
  return max_ulp ? Accuracy::within_ulp(*max_ulp) : Accuracy();
}

std::vector<MeasuredTable> tables_of(const Options& options,
                                     const std::vector<MeasuredTable>& by_default) {
  const bool is_sized = !options.shapes.empty() || options.rows || options.d_model;
  std::vector<MeasuredTable> conventions = presets_of(options.presets);
  if (conventions.empty() && !is_sized) conventions = by_default;
  if (conventions.empty()) {
    conventions = presets_of({"tutorial"});
    conventions.front().name.clear();  // its size names the table
  }
  std::vector<MeasuredTable> tables = combined(options, conventions);
  for (const MeasuredTable& each : tables) {
    table_of(each.spec, each.rows, each.type, each.threads);      // throws if it cannot be measured
    table_bytes(each.spec, each.rows.count, size_of(each.type));  // throws if the bytes overflow
  }
  return tables;
}

bool names_table(const Options& options, const MeasuredTable& table) {
  std::vector<MeasuredTable> conventions = presets_of(options.presets);
  if (conventions.empty()) conventions.push_back(table);
  for (MeasuredTable& each : conventions) {
    each.type = table.type;
    each.threads = table.threads;
  }
  return std::ranges::any_of(combined(options, conventions), [&](const MeasuredTable& each) {
    return each.spec == table.spec && each.rows == table.rows && each.type == table.type &&
           each.threads == table.threads;
  });
}

std::vector<const Backend*> backends_of(const Options& options) {
  std::vector<const Backend*> chosen;
  for (const std::string& name : options.backends) {
    if (options.isa && name.find(':') != std::string::npos) {
      throw_invalid("--isa is '{}' and --backend is '{}'; allowed: the ISA in only one of them",
                    to_string(*options.isa), name);
    }
    add_once(chosen, options.isa ? &backend(name, *options.isa) : &backend(name));
  }
  if (options.backends.empty()) chosen = backends_here(options.isa);
  if (!chosen.empty()) return chosen;
  std::vector<Isa> isas;
  for (const Backend* each : backends_here()) add_once(isas, each->isa());
  throw_invalid("--isa is '{}'; allowed on this CPU, in this build: {}", to_string(*options.isa),
                join(names_of(isas, [](Isa each) { return to_string(each); }), ", "));
}

std::vector<const Backend*> backends_of(const Options& options, DataType type) {
  std::vector<const Backend*> chosen = backends_of(options);
  std::erase_if(chosen, [&](const Backend* each) {
    if (!options.backends.empty()) each->check_supports(type);
    return !each->supports(type);
  });
  return chosen;
}

std::vector<std::int64_t> positions_on_grid(const Options& options, const AxesSpec& axes) {
  if (axes.axes() == 1) throw_invalid("--grid is given, and the model has one axis; allowed: none");
  const auto& [time, height, width] = *options.grid;
  std::vector<std::int64_t> sizes = {time, height, width};
  if (axes.axes() == 2 && time == 1) sizes.erase(sizes.begin());
  if (std::ssize(sizes) != axes.axes())
    throw_invalid(
        "--grid is '{}', and the model has {} axes; allowed: three axes, or two with one "
        "cell along time",
        fmt::format("{}", fmt::join(*options.grid, ",")), axes.axes());
  return grid_positions(sizes,
                        std::vector<std::int64_t>(sizes.size(), options.first().value_or(0)));
}

RotaryReading reading_of(const Options& options, std::optional<std::int64_t> rows) {
  std::filesystem::path file = options.config;
  if (std::filesystem::is_directory(file)) file /= "config.json";
  const std::string text = read_document(file);
  const std::string types = options.types_file.empty() ? "" : read_document(options.types_file);
  return in_place(file.string(), [&] {
    return read_rotary_config(text, options.length ? options.length : rows, types);
  });
}

}  // namespace posenc::cli
