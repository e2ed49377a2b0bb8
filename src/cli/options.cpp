#include "cli/options.h"

#include "cli/spelling.h"
#include "cli/text.h"

#include "posenc/cpu.h"
#include "posenc/support/enum_names.h"
#include "posenc/support/frequency_parameters.h"
#include "posenc/support/parallel_for.h"
#include "posenc/support/parse_real.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <string_view>

namespace posenc::cli {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& text,
                         const std::string& allowed) {
  throw InvalidArgument(fmt::format("{} is '{}'; allowed: {}", option, text, allowed));
}

/// None unless the number prints as it was typed: the parser's own conversion saturates, reads a
/// leading 0 as octal, and in some versions takes separators.
std::optional<std::int64_t> parse_integer(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  if (fmt::to_string(value) != text) return {};
  return value;
}

/// `take` throws InvalidArgument on a value that is not allowed: the parser's own conversions round
/// twice, and its errors are worded as no other error of the command.
template <class Take>
CLI::Option* add(CLI::App& command, const std::string& option, const std::string& value_name,
                 const std::string& description, Take take) {
  return command.add_option_function<std::string>(option, take, description)->type_name(value_name);
}

/// A finite number for which `is_allowed` holds.
template <class IsAllowed>
void add_real(CLI::App& command, std::optional<double>& value, const std::string& option,
              const std::string& description, const std::string& allowed, IsAllowed is_allowed) {
  add(command, option, "X", description, [=, &value](const std::string& text) {
    value = parse_real(text);
    if (!value || !std::isfinite(*value) || !is_allowed(*value)) refuse(option, text, allowed);
  });
}

/// The library says which positions and counts are allowed.
void add_position_option(CLI::App& command, std::optional<std::int64_t>& value,
                         const std::string& option, const std::string& description) {
  add(command, option, "N", description, [&value, option](const std::string& text) {
    value = parse_integer(text);
    if (!value) refuse(option, text, "a decimal integer of 64 bits");
  });
}

/// The format that the suffix of the file names; empty if it names none of any command.
std::string format_of_suffix(const std::string& file, const std::vector<std::string>& allowed) {
  const std::string suffix = std::filesystem::path(file).extension().string();
  if (suffix.empty()) return "";
  const std::string format = suffix.substr(1);
  if (std::ranges::count(allowed, format) > 0) return format;
  constexpr std::string_view of_any_command[] = {"json", "csv", "npy", "safetensors", "raw"};
  if (std::ranges::count(of_any_command, format) == 0) return "";
  throw InvalidArgument(fmt::format("--output is '{}'; allowed formats: {} (give --format)", file,
                                    fmt::join(allowed, ", ")));
}

CLI::Option* add_names_option(CLI::App& command, std::vector<std::string>& names,
                              const std::string& option, Times times,
                              const std::string& description) {
  auto* added = command.add_option(option, names, description)->type_name("NAME");
  if (times == Times::once) added->expected(1);
  return added;
}

const Backend& named_backend(const std::string& name, std::optional<Isa> isa) {
  if (isa && name.find(':') != std::string::npos) {
    throw InvalidArgument(
        fmt::format("--isa is '{}' and --backend is '{}'; allowed: the ISA in one place",
                    to_string(*isa), name));
  }
  const auto find = [&]() -> const Backend& { return isa ? backend(name, *isa) : backend(name); };
  return with_suggestion(find, name, known_backends());
}

constexpr auto rotary_names =
    enum_names<RotaryTables>("--rotary", "halves", "interleaved", "cosines", "sines", "apart");
constexpr auto repeat_names = enum_names<Repeat>("--repeat", "once", "halves", "interleaved");

}  // namespace

std::string_view to_string(RotaryTables tables) noexcept { return rotary_names[tables]; }

void add_rotary_options(CLI::App& command, RotaryOptions& options) {
  add(command, "--rotary", "NAME",
      fmt::format("the cache of a rotary embedding, whose dimension is --d-model, times the "
                  "attention factor of its frequencies: {} (cosines and sines apart: two tensors "
                  "of .safetensors)",
                  fmt::join(rotary_names.names, ", ")),
      [&options](const std::string& text) { options.tables = rotary_names.parse(text); });
  add(command, "--repeat", "NAME",
      fmt::format("of cosines and sines apart: {} (default: once)",
                  fmt::join(repeat_names.names, ", ")),
      [&options](const std::string& text) { options.repeat = repeat_names.parse(text); })
      ->needs("--rotary");
}

void add_preset_option(CLI::App& command, CommonOptions& options, Times times) {
  // An option that may be repeated is one of a command that measures: benchmark shapes serve too.
  const bool takes_shapes = times == Times::often;
  std::vector<std::string> known = known_presets();
  std::string description =
      fmt::format("convention and shape of a real system{}: {}",
                  takes_shapes ? ", may be repeated" : "", fmt::join(known, ", "));
  if (takes_shapes) {
    description +=
        fmt::format("; or a benchmark shape: {}", fmt::join(known_benchmark_shapes(), ", "));
    std::ranges::copy(known_benchmark_shapes(), std::back_inserter(known));
  }
  add_names_option(command, options.presets, "--preset", times, description)
      ->each([known, takes_shapes](const std::string& name) {
        const auto find = takes_shapes ? preset_or_benchmark_shape : preset;
        with_suggestion([&]() -> const Preset& { return find(name); }, name, known);
      });
}

void add_shape_options(CLI::App& command, CommonOptions& options) {
  add_preset_option(command, options, Times::once);
  add_position_option(command, options.rows, "--rows",
                      "number of positions (default: the preset's)");
  add_spec_options(command, options);
}

void add_spec_options(CLI::App& command, CommonOptions& options) {
  add_position_option(command, options.d_model, "--d-model",
                      "channels per row, even (default: the preset's)");
  add_position_option(command, options.first, "--first",
                      "first position, -2^53 to 2^53 (default: the preset's)");
  add_real(command, options.base, "--base",
           "base of the frequencies, above 1 (default: the preset's)", "a finite decimal number",
           [](double) { return true; });
  add(command, "--layout", "NAME",
      fmt::format("{} (default: the preset's)", names_text(all_layouts)),
      [&options](const std::string& text) { options.layout = parse_layout(text); });
  add(command, "--spacing", "NAME",
      "paper (exponent 2i/d) or inclusive (i/(d/2-1)) (default: the preset's)",
      [&options](const std::string& text) { options.spacing = parse_spacing(text); });
  add(command, "--frequencies", "RULE",
      fmt::format("rule, and its parameters after a colon, as in linear:factor=4: {} (default: the "
                  "preset's)",
                  fmt::join(given_rule_names, ", ")),
      [&options](const std::string& text) { options.frequencies = parse_frequency_rule(text); });
}

void add_axes_options(CLI::App& command, AxesOptions& options) {
  std::vector<std::string> known;
  for (const AxesPreset& each : axes_presets()) known.emplace_back(each.name);
  add(command, "--axes", "NAME",
      fmt::format("system whose positions are on several axes, the cells of a grid: {}",
                  fmt::join(known, ", ")),
      [&options, known](const std::string& text) {
        if (std::ranges::count(known, text) == 0) {
          refuse("--axes", text,
                 fmt::format("{}{}", fmt::join(known, ", "), did_you_mean(text, known)));
        }
        options.preset = text;
      });
  add(command, "--grid", "T,H,W", "cells along time, height and width (default: a usual grid)",
      [&options](const std::string& text) {
        GridSizes sizes = {};
        std::string rest = text + ',';
        for (std::int64_t& size : sizes) {
          const std::size_t comma = rest.find(',');
          const auto parsed = parse_integer(rest.substr(0, comma));
          rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
          if (!parsed) refuse("--grid", text, "three integers with commas between them");
          size = *parsed;
        }
        if (!rest.empty()) refuse("--grid", text, "three integers with commas between them");
        options.grid = sizes;
      });
}

void add_backend_options(CLI::App& command, CommonOptions& options, Times times) {
  add_names_option(
      command, options.backends, "--backend", times,
      times == Times::often
          ? "backend, or backend:isa; may be repeated (default: all that run here)"
          : "backend, or backend:isa (default: the library's selection, correctly rounded)");
  const char* const by_default = times == Times::often
                                     ? "all that run here; of a backend that is named, the best"
                                     : "the best that runs here";
  add(command, "--isa", "NAME",
      fmt::format("instruction set: {} (default: {})", names_text(all_isas), by_default),
      [&options](const std::string& text) { options.isa = parse_isa(text); });
}

void add_type_option(CLI::App& command, CommonOptions& options) {
  add(command, "--dtype", "NAME",
      fmt::format("type of an entry: {} (default: float32)", names_text(all_data_types)),
      [&options](const std::string& text) { options.type = parse_data_type(text); });
}

void add_like_option(CLI::App& command, std::optional<System>& system) {
  add(command, "--like", "NAME",
      fmt::format("phases rounded in float32 as a system rounds them, instead of exact ones: {}",
                  names_text(all_systems)),
      [&system](const std::string& text) { system = parse_system(text); });
}

void add_threads_option(CLI::App& command, CommonOptions& options, const std::string& by_default) {
  add_integer_option(command, options.threads, "--threads", 1, most_threads,
                     fmt::format("number of threads (default: {})", by_default));
}

void add_format_option(CLI::App& command, CommonOptions& options,
                       const std::vector<std::string>& allowed, const std::string& by_default) {
  const std::string names = fmt::format("{}", fmt::join(allowed, ", "));
  add(command, "--format", "NAME",
      fmt::format("{} (default: by the suffix of --output, else {})", names, by_default),
      [&options, allowed, names](const std::string& text) {
        if (std::ranges::count(allowed, text) == 0)
          refuse("--format", text, names + did_you_mean(text, allowed));
        options.format = text;
      });
  options.formats = allowed;
}

void add_output_option(CLI::App& command, CommonOptions& options) {
  const CLI::Option* const format = command.get_option("--format");
  add(command, "--output", "FILE", "file to write (default: standard output)",
      [&options, format](const std::string& text) {
        if (text.empty()) refuse("--output", text, "the name of a file");
        options.output = text;
        if (format->empty()) options.format = format_of_suffix(text, options.formats);
      });
}

void add_file_option(CLI::App& command, std::string& value, const std::string& option,
                     const std::string& description) {
  add(command, option, "FILE", description, [&value, option](const std::string& text) {
    if (text.empty()) refuse(option, text, "the name of a file");
    value = text;
  });
}

void add_integer_option(CLI::App& command, std::optional<int>& value, const std::string& option,
                        int least, int most, const std::string& description) {
  add(command, option, "N", description, [=, &value](const std::string& text) {
    const auto parsed = parse_integer(text);
    if (!parsed || *parsed < least || *parsed > most)
      refuse(option, text, fmt::format("an integer, {} to {}", least, most));
    value = static_cast<int>(*parsed);
  });
}

void add_real_option(CLI::App& command, std::optional<double>& value, const std::string& option,
                     Sign sign, const std::string& description) {
  const bool takes_zero = sign == Sign::not_negative;
  add_real(command, value, option, description,
           takes_zero ? "a finite number of at least 0" : "a finite number greater than 0",
           [takes_zero](double number) { return takes_zero ? number >= 0 : number > 0; });
}

TableShape shape_of(const CommonOptions& options) {
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
  table_bytes(shape.spec, shape.rows.count, size_of(options.type));  // throws if they overflow
  return shape;
}

const Backend& backend_of(const CommonOptions& options, const TableShape& shape,
                          const Accuracy& accuracy) {
  if (!options.backends.empty()) return named_backend(options.backends.front(), options.isa);
  const SelectionOptions wanted = {
      .accuracy = accuracy, .type = options.type, .threads = options.threads.value_or(1)};
  const Selection selected = select_backend(shape.spec, shape.rows, wanted);
  if (!options.isa) return *selected.backend;
  const Backend& chosen = backend(selected.backend->name(), *options.isa);
  // A bound may be larger at another ISA.
  if (!accuracy.is_kept_by(promise_of(*chosen.plan(shape.spec), shape.rows, options.type))) {
    throw InvalidArgument(
        fmt::format("--isa is '{}'; {} does not promise the accuracy asked for; allowed: another "
                    "ISA, or a backend by --backend",
                    to_string(*options.isa), chosen.full_name()));
  }
  return chosen;
}

std::vector<const Backend*> backends_of(const CommonOptions& options) {
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
  if (chosen.empty()) {
    throw InvalidArgument(fmt::format(
        "--isa is '{}'; allowed: one that this CPU supports and this build has a backend for",
        to_string(*options.isa)));
  }
  return chosen;
}

}  // namespace posenc::cli
