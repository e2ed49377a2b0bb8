#include "cli/options.h"

#include "cli/text.h"

#include "posenc/cpu.h"
#include "posenc/selection.h"
#include "posenc/support/files.h"
#include "posenc/support/frequency_parameters.h"
#include "posenc/support/parallel_for.h"
#include "posenc/support/parse_real.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <sstream>
#include <string_view>
#include <utility>

namespace posenc::cli {
namespace {

/// The values of --repeat, in the order of Repeat.
const Names repeats = {"once", "halves", "interleaved"};

Rule flag(const char* key, bool Options::*field, const char* description) {
  return {key, "", description, [field](Options& options, const std::string& text) {
            options.*field = true;
            return text == "true" ? "" : "no value";
          }};
}

Rule text_rule(const char* key, const char* value, std::string Options::*field,
               const char* description) {
  return {key, value, description, [field](Options& options, const std::string& text) {
            options.*field = text;
            return text.empty() ? "at least one character" : "";
          }};
}

/// Refuses numbers that do not print as they were typed, such as 010.
template <class T>
Rule integer(const char* key, std::optional<T> Options::*field, const char* description,
             T least = std::numeric_limits<T>::min(), T most = std::numeric_limits<T>::max()) {
  return {key, "N", description, [=](Options& options, const std::string& text) {
            T value = 0;
            std::from_chars(text.data(), text.data() + text.size(), value);
            options.*field = value;
            const bool is_read = fmt::to_string(value) == text && value >= least && value <= most;
            return is_read ? "" : fmt::format("an integer, {} to {}", least, most);
          }};
}

/// The library refuses what is not negative, and yet not allowed.
Rule real(const char* key, std::optional<double> Options::*field, const char* description) {
  return {key, "X", description, [=](Options& options, const std::string& text) {
            const auto value = options.*field = parse_real(text);
            return value && std::isfinite(*value) && *value >= 0 ? ""
                                                                 : "a finite number, at least 0";
          }};
}

/// One of the names, which the description lists.
Rule choice(const std::string& key, const std::string& what, const Names& known,
            const std::string& by_default,
            const std::function<void(Options& options, const std::string& name)>& use) {
  const std::string names = join(known, ", ");
  return {key, "NAME",
          (what.empty() ? "" : what + ": ") + names +
              (by_default.empty() ? "" : " (default: " + by_default + ")"),
          [=](Options& options, const std::string& name) {
            if (std::ranges::count(known, name) == 0) return names + did_you_mean(name, known);
            use(options, name);
            return std::string();
          }};
}

Rule choice(const char* key, const char* what, const Names& known, const char* by_default,
            std::string Options::*field) {
  return choice(key, what, known, by_default,
                [field](Options& options, const std::string& name) { options.*field = name; });
}

template <class Enum, std::size_t count>
Rule choice(const char* key, const char* what, const Enum (&all)[count], const char* by_default,
            std::optional<Enum> Options::*field) {
  return choice(key, what, names_of(all, [](Enum each) { return to_string(each); }), by_default,
                [&all, field](Options& options, const std::string& name) {
                  options.*field =
                      *std::ranges::find(all, name, [](Enum e) { return to_string(e); });
                });
}

void add_preset(Options& options, const std::string& name) { options.presets.push_back(name); }

std::string add_backend(Options& options, const std::string& name) {
  options.backends.push_back(name);
  return "";
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

/// The format that the suffix of the file names; empty if it names none of any command.
std::string format_of_suffix(const std::string& file, const Names& allowed) {
  const std::string suffix = std::filesystem::path(file).extension().string();
  const std::string format = suffix.empty() ? "" : suffix.substr(1);
  const auto is_in = [&](const Names& names) { return std::ranges::count(names, format) > 0; };
  if (is_in(allowed)) return format;
  if (!is_in(Names{"json", "csv", "npy", "safetensors", "raw"})) return "";
  throw InvalidArgument(fmt::format("--output is '{}'; allowed formats: {} (give --format)", file,
                                    join(allowed, ", ")));
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

Names words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

std::vector<Rule> rules(const Subcommand& subcommand) {
  const Names names = names_of(presets(), &Preset::name);
  Names and_shapes = names;
  std::ranges::copy(names_of(benchmark_shapes(), &Preset::name), std::back_inserter(and_shapes));
  return {
      choice("--preset", "convention and shape of a real system", names, "", add_preset),
      choice("--preset...", "convention and shape of a system, or a benchmark's; may be repeated",
             and_shapes, "", add_preset),
      integer("--rows", &Options::rows, "number of positions (default: the preset's)"),
      integer("--d-model", &Options::d_model, "channels per row, even (default: the preset's)"),
      integer("--first", &Options::first, "first position, -2^53 to 2^53 (default: the preset's)"),
      real("--base", &Options::base, "base of the frequencies, above 1 (default: the preset's)"),
      choice("--layout", "", all_layouts, "the preset's", &Options::layout),
      choice("--spacing", "exponents of the frequencies, 2i/d or i/(d/2-1)", all_spacings,
             "the preset's", &Options::spacing),
      {"--frequencies", "RULE",
       "rule, and its parameters after a colon, as in linear:factor=4: " +
           join(given_rule_names, ", ") + " (default: the preset's)",
       [](Options& options, const std::string& rule) {
         options.frequencies = parse_frequency_rule(rule);
         return "";
       }},
      choice("--dtype", "type of an entry", all_data_types, "float32", &Options::type),
      {"--backend", "NAME", "backend, or backend:isa (default: by the accuracy)", add_backend},
      {"--backend...", "NAME",
       "backend, or backend:isa; may be repeated (default: all that run here)", add_backend},
      choice("--isa", "instruction set", all_isas, "the best, or all if no backend is named",
             &Options::isa),
      real("--max-error", &Options::max_error,
           "take the fastest backend that promises |error| up to X (default: correctly rounded)"),
      real("--max-ulp", &Options::max_ulp, "the same in ulp"),
      integer("--threads", &Options::threads, "number of threads (default: 1)", 1, most_threads),
      text_rule("--config", "FILE", &Options::config,
                "a model's rotary embedding: its config.json, or the folder that holds it"),
      text_rule("--layers", "KIND", &Options::layers,
                "kind of layers, for a model with several, such as sliding_attention"),
      integer("--longest", &Options::longest,
              "rows of the longest sequence, on which some rules depend (default: the model's "
              "max_position_embeddings)",
              1),
      choice("--axes", "system whose positions are on several axes, the cells of a grid",
             names_of(axes_presets(), &AxesPreset::name), "", &Options::axes),
      {"--grid", "T,H,W", "cells along time, height and width (default: a usual grid)", take_grid},
      text_rule("--positions", "FILE", &Options::positions,
                "positions of the rows: .npy of int32 or int64, shape (rows) or (axes, rows)"),
      choice("--like", "phases rounded in float32 as a system rounds them, instead of exact ones",
             all_systems, "", &Options::like),
      choice("--rotary",
             "the cache of a rotary embedding of dimension --d-model, times the attention factor "
             "of its frequencies (apart: two tensors of .safetensors)",
             {"halves", "interleaved", "cosines", "sines", "apart"}, "", &Options::rotary),
      choice("--repeat", "of cosines and sines apart", repeats, "once",
             [](Options& options, const std::string& name) {
               const auto at = std::ranges::find(repeats, name) - repeats.begin();
               options.repeat = static_cast<Repeat>(at);
             }),
      integer("--digits", &Options::digits,
              "decimals in csv (default: as many as read back as the same value)", 0, 17),
      text_rule("TABLE", "FILE", &Options::table,
                ".npy, .safetensors, or raw little-endian elements with --d-model"),
      text_rule("--tensor", "NAME", &Options::tensor,
                "the tensor of a .safetensors file (default: the only table in it)"),
      flag("--twice", &Options::is_twice,
           "cosines or sines, and the same again: cos_cached of Transformers"),
      flag("--repeated", &Options::is_repeated, "cosines or sines, each in two adjacent columns"),
      text_rule("A", "FILE", &Options::before, "JSON of posenc measure or posenc accuracy"),
      text_rule("B", "FILE", &Options::after, "the same, compared with A"),
      real("--tolerance", &Options::tolerance,
           "relative growth of an error, or of the share wrongly rounded, that is no regression "
           "(default: 0; for builds of two compilers: 0.01)"),
      text_rule("--filter", "TEXT", &Options::filter,
                "compare only backends whose names, such as rotation:avx2, have this part"),
      flag("--allow-missing", &Options::allows_missing, "accept that B lacks rows of A"),
      text_rule("DOCUMENT?", "FILE", &Options::document,
                "JSON of posenc measure to judge (default: measure now)"),
      // The table of Student's t ends at 30 processes.
      integer("--processes", &Options::processes,
              "processes to time in; up to twice as many if figures are noisy (default: 7)", 2, 15),
      flag("--time-on-request", &Options::times_on_request, ""),
      text_rule("--save", "FILE", &Options::save, "add the measurements to this profile"),
      flag("--force", &Options::force, "accept and save the times even if other work ran"),
      flag("--presets", &Options::lists_presets, "list the conventions of real systems instead"),
      choice("--format", "", subcommand.formats,
             "by the suffix of --output, else " + subcommand.default_format,
             [](Options& options, const std::string& name) { options.format = name; }),
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
  table_bytes(shape.spec, shape.rows.count,
              size_of(options.data_type()));  // throws if they overflow
  return shape;
}

const Backend& backend_of(const Options& options, const TableShape& shape) {
  if (!options.backends.empty()) return named_backend(options.backends.front(), options.isa);
  const Accuracy accuracy = options.accuracy();
  const Selection selected =
      select_backend(shape.spec, shape.rows, {.accuracy = accuracy, .type = options.data_type()});
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
    return read_rotary_config(text, options.longest);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("{}: {}", file.string(), error.what()));
  }
}

}  // namespace posenc::cli
