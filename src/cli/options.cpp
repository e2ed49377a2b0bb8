#include "cli/options.h"

#include "cli/help.h"
#include "cli/output.h"

#include "posenc/cpu.h"
#include "posenc/selection.h"
#include "posenc/support/frequency_parameters.h"
#include "posenc/support/input_file.h"
#include "posenc/support/parallel_for.h"
#include "posenc/support/parse_real.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <sstream>
#include <string_view>
#include <utility>

namespace posenc::cli {
namespace {

/// The table of Student's t ends at twice this number.
constexpr int most_processes = 15;

[[noreturn]] void refuse(const std::string& option, const std::string& text,
                         const std::string& allowed) {
  throw InvalidArgument(fmt::format("{} is '{}'; allowed: {}", option, text, allowed));
}

/// Refuses numbers that do not print as they were typed, such as 010.
std::int64_t parse_integer(const std::string& option, const std::string& text, std::int64_t least,
                           std::int64_t most) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  if (fmt::to_string(value) != text || value < least || value > most)
    refuse(option, text, fmt::format("an integer, {} to {}", least, most));
  return value;
}

/// The format that the suffix of the file names; empty if it names none of any command.
std::string format_of_suffix(const std::string& file, const Names& allowed) {
  const std::string suffix = std::filesystem::path(file).extension().string();
  const std::string format = suffix.empty() ? "" : suffix.substr(1);
  const auto is_in = [&](const auto& formats) { return std::ranges::count(formats, format) > 0; };
  if (is_in(allowed)) return format;
  if (!is_in(Names{"json", "csv", "npy", "safetensors", "raw"})) return "";
  throw InvalidArgument(fmt::format("--output is '{}'; allowed formats: {} (give --format)", file,
                                    fmt::join(allowed, ", ")));
}

const Backend& named_backend(const std::string& name, std::optional<Isa> isa) {
  if (isa && name.find(':') != std::string::npos) {
    throw InvalidArgument(
        fmt::format("--isa is '{}' and --backend is '{}'; allowed: the ISA in one place",
                    to_string(*isa), name));
  }
  try {
    return isa ? backend(name, *isa) : posenc::backend(name);
  } catch (const InvalidArgument& error) {
    Names known = names_of(backends(), &Backend::name);
    std::ranges::copy(names_of(backends(), &Backend::full_name), std::back_inserter(known));
    throw InvalidArgument(error.what() + did_you_mean(name, known));
  }
}

}  // namespace

Accuracy Options::accuracy() const {
  if (max_error) return Accuracy::within(*max_error);
  return max_ulp ? Accuracy::within_ulp(*max_ulp) : Accuracy();
}

Subcommand::Subcommand(CLI::App& app, Options& options, const std::string& name,
                       const std::string& description, int (*run)(const Options&))
    : app_(*app.add_subcommand(name, help_lines(description))->group("Subcommands")),
      options_(options) {
  app_.get_help_ptr()->group("Options");
  app_.callback([&options, run] { options.run = run; });
}

CLI::Option* Subcommand::take(const std::string& option, const std::string& value_name,
                              const std::string& description, Take use, Times times) {
  const auto use_each = [use = std::move(use)](const Names& values) {
    for (const std::string& each : values) use(each);
  };
  CLI::Option* const added =
      app_.add_option_function<Names>(option, use_each, help_lines(description));
  added->type_name(value_name);
  return times == Times::once ? added->expected(1) : added;
}

CLI::Option* Subcommand::text(const std::string& option, const std::string& value_name,
                              std::string& value, const std::string& description) {
  return take(option, value_name, description, [&value, option](const std::string& given) {
    if (given.empty()) refuse(option, given, "at least one character");
    value = given;
  });
}

void Subcommand::required_file(const std::string& name, std::string& value,
                               const std::string& description) {
  text(name, "FILE", value, description)->required();
}

CLI::Option* Subcommand::choice(const std::string& option, const std::string& description,
                                const Names& known, const std::string& by_default, Take use,
                                Times times) {
  const std::string names = fmt::format("{}", fmt::join(known, ", "));
  const std::string text =
      (description.empty() ? "" : description + ": ") + names +
      (by_default.empty() ? "" : " (default: " + by_default + ")");
  return take(
      option, "NAME", text,
      [=](const std::string& given) {
        if (std::ranges::count(known, given) == 0)
          refuse(option, given, names + did_you_mean(given, known));
        use(given);
      },
      times);
}

void Subcommand::integer(const std::string& option, std::optional<int>& value, int least, int most,
                         const std::string& description) {
  take(option, "N", description, [=, &value](const std::string& given) {
    value = static_cast<int>(parse_integer(option, given, least, most));
  });
}

void Subcommand::integer(const std::string& option, std::optional<std::int64_t>& value,
                         const std::string& description) {
  using Limits = std::numeric_limits<std::int64_t>;
  take(option, "N", description, [=, &value](const std::string& given) {
    value = parse_integer(option, given, Limits::min(), Limits::max());
  });
}

void Subcommand::real(const std::string& option, std::optional<double>& value,
                      const std::string& description, const std::string& allowed,
                      bool (*is_allowed)(double)) {
  take(option, "X", description, [=, &value](const std::string& given) {
    value = parse_real(given);
    if (!value || !std::isfinite(*value) || !is_allowed(*value)) refuse(option, given, allowed);
  });
}

void Subcommand::positive(const std::string& option, std::optional<double>& value,
                          const std::string& description) {
  real(option, value, description, "a finite number greater than 0",
       [](double number) { return number > 0; });
}

void Subcommand::flag(const std::string& option, bool& value, const std::string& description) {
  app_.add_flag(option, value, help_lines(description));
}

void Subcommand::hidden_flag(const std::string& option, bool& value) {
  app_.add_flag(option, value)->group("");
}

void Subcommand::need(const std::string& option, const std::string& other) {
  app_.get_option(option)->needs(app_.get_option(other));
}

void Subcommand::exclude(const std::string& option, const Names& others) {
  for (const std::string& each : others) app_.get_option(option)->excludes(each);
}

void Subcommand::preset(Times times) {
  // An option that may be repeated is one of a command that measures: benchmark shapes serve too.
  Names known = names_of(presets(), &Preset::name);
  if (times == Times::often)
    std::ranges::copy(names_of(benchmark_shapes(), &Preset::name), std::back_inserter(known));
  choice("--preset",
         times == Times::once ? "convention and shape of a real system"
                              : "convention and shape of a real system, or a benchmark shape; may "
                                "be repeated",
         known, "", [&options = options_](const std::string& name) { options.presets.push_back(name); }, times);
}

void Subcommand::spec() {
  integer("--d-model", options_.d_model, "channels per row, even (default: the preset's)");
  integer("--first", options_.first, "first position, -2^53 to 2^53 (default: the preset's)");
  real("--base", options_.base, "base of the frequencies, above 1 (default: the preset's)",
       "a finite decimal number", [](double) { return true; });
  choice("--layout", "", all_layouts, "the preset's", options_.layout);
  choice("--spacing", "exponents of the frequencies: paper is 2i/d, inclusive i/(d/2-1)",
         all_spacings, "the preset's", options_.spacing);
  take("--frequencies", "RULE",
       fmt::format("rule, and its parameters after a colon, as in linear:factor=4: {} (default: the "
                   "preset's)",
                   fmt::join(given_rule_names, ", ")),
       [&options = options_](const std::string& rule) {
         options.frequencies = parse_frequency_rule(rule);
       });
}

void Subcommand::shape() {
  preset(Times::once);
  integer("--rows", options_.rows, "number of positions (default: the preset's)");
  spec();
}

void Subcommand::backend(Times times) {
  const bool is_one = times == Times::once;
  take("--backend", "NAME",
       is_one ? "backend, or backend:isa (default: the library's selection, correctly rounded)"
              : "backend, or backend:isa; may be repeated (default: all that run here)",
       [&options = options_](const std::string& name) { options.backends.push_back(name); }, times);
  choice("--isa", "instruction set", all_isas,
         is_one ? "the best that runs here" : "all that run here; of a named backend, the best",
         options_.isa);
}

void Subcommand::type() {
  choice("--dtype", "type of an entry", all_data_types, "float32", options_.type);
}

void Subcommand::threads(const std::string& by_default) {
  integer("--threads", options_.threads, 1, most_threads,
          fmt::format("number of threads (default: {})", by_default));
}

void Subcommand::config() {
  text("--config", "FILE", options_.config,
       "a model's rotary embedding: its config.json, or the folder that holds it");
  text("--layers", "KIND", options_.layers,
       "kind of layers, for a model with several, such as sliding_attention");
  integer("--longest", options_.longest, 1, std::numeric_limits<int>::max(),
          "rows of the longest sequence, on which some rules depend (default: the model's "
          "max_position_embeddings)");
  need("--layers", "--config");
  need("--longest", "--config");
}

void Subcommand::grid() {
  const auto read = [&options = options_](const std::string& text) {
    GridSizes sizes = {};
    std::istringstream parts(text);
    std::string part;
    bool is_read = std::ranges::count(text, ',') == 2;
    for (std::int64_t& size : sizes) {
      is_read &= static_cast<bool>(std::getline(parts, part, ','));
      std::from_chars(part.data(), part.data() + part.size(), size);
      is_read &= fmt::to_string(size) == part;
    }
    if (!is_read) refuse("--grid", text, "three integers with commas between them");
    options.grid = sizes;
  };
  take("--grid", "T,H,W", "cells along time, height and width (default: a usual grid)", read);
  need("--grid", "--axes");
}

void Subcommand::processes() {
  integer("--processes", options_.processes, 2, most_processes,
          "number of processes to time in; up to twice as many if the figures are noisy (default: "
          "7)");
}

void Subcommand::output(const Names& formats, const std::string& by_default) {
  choice("--format", "", formats, fmt::format("by the suffix of --output, else {}", by_default),
         [&options = options_](const std::string& name) { options.format = name; });
  take("--output", "FILE", "file to write (default: standard output)",
       [&options = options_, formats](const std::string& file) {
         if (file.empty()) refuse("--output", file, "at least one character");
         options.output = file;
         if (options.format.empty()) options.format = format_of_suffix(file, formats);
       });
}

void Subcommand::describe(const std::vector<Example>& examples) {
  app_.footer(help_footer(examples));
}

TableShape shape_of(const Options& options) {
  const Preset& base = preset(options.presets.empty() ? "tutorial" : options.presets.front());
  const TableShape shape = {
      .spec = {.d_model = options.d_model.value_or(base.spec.d_model),
               .base = options.base.value_or(base.spec.base),
               .layout = options.layout.value_or(base.spec.layout),
               .spacing = options.spacing.value_or(base.spec.spacing),
               .frequencies = options.frequencies.value_or(base.spec.frequencies)},
      .rows = {.first = options.first.value_or(base.rows.first),
               .count = options.rows.value_or(base.rows.count)}};
  validate(shape.spec);
  validate(shape.rows);
  table_bytes(shape.spec, shape.rows.count, size_of(options.data_type()));  // throws if they overflow
  return shape;
}

const Backend& backend_of(const Options& options, const TableShape& shape) {
  if (!options.backends.empty()) return named_backend(options.backends.front(), options.isa);
  const Accuracy accuracy = options.accuracy();
  const Selection selected =
      select_backend(shape.spec, shape.rows,
                     {.accuracy = accuracy,
                      .type = options.data_type(),
                      .threads = options.threads.value_or(1)});
  if (!options.isa) return *selected.backend;
  const Backend& chosen = backend(selected.backend->name(), *options.isa);
  // A bound may be larger at another ISA.
  if (accuracy.is_kept_by(promise_of(*chosen.plan(shape.spec), shape.rows, options.data_type())))
    return chosen;
  throw InvalidArgument(
      fmt::format("--isa is '{}'; {} does not promise the accuracy asked for; allowed: another "
                  "ISA, or a backend by --backend",
                  to_string(*options.isa), chosen.full_name()));
}

std::vector<const Backend*> backends_of(const Options& options) {
  std::vector<const Backend*> chosen;
  for (const std::string& name : options.backends) {
    const Backend* named = &named_backend(name, options.isa);
    if (std::ranges::count(chosen, named) == 0) chosen.push_back(named);
  }
  if (!options.backends.empty()) return chosen;
  for (const Backend* each : backends()) {
    if (!each->runs_here() || (options.isa && each->isa() != *options.isa)) continue;
    // A peer appears once, at its best ISA.
    const bool is_best = each->can_be_picked() || options.isa || each == &backend(each->name());
    if (is_best) chosen.push_back(each);
  }
  if (!chosen.empty()) return chosen;
  throw InvalidArgument(fmt::format(
      "--isa is '{}'; allowed: one that this CPU supports and this build has a backend for",
      to_string(*options.isa)));
}

RotaryReading reading_of(const Options& options) {
  std::filesystem::path file = options.config;
  if (std::filesystem::is_directory(file)) file /= "config.json";
  const std::string text = read_document(file);
  try {
    return read_rotary_config(text, {.rows = options.longest, .channels = {}});
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("{}: {}", file.string(), error.what()));
  }
}

}  // namespace posenc::cli
