#include "cli/options.h"

#include "cli/spelling.h"
#include "cli/text.h"

#include "posenc/cpu.h"
#include "posenc/support/frequency_parameters.h"
#include "posenc/support/parallel_for.h"
#include "posenc/support/parse_real.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

namespace posenc::cli {
namespace {

/// The parser checks every value of the option; a refusal is worded as all errors of the command
/// are, which the parser's own wording is not.
CLI::Option* allow(CLI::Option* option, const CLI::Validator& validator,
                   const std::string& allowed) {
  const std::string name = option->get_name();
  return option->check([name, validator, allowed](const std::string& text) {
    std::string value = text;
    if (validator(value).empty()) return std::string();
    throw InvalidArgument(fmt::format("{} is '{}'; allowed: {}", name, text, allowed));
  });
}

/// The parser saturates what exceeds 64 bits, reads a leading 0 as octal, and in some versions
/// takes separators: only what prints as it was typed is given to it.
CLI::Validator decimal_integer() {
  return {[](std::string& text) {
            std::int64_t value = 0;
            std::from_chars(text.data(), text.data() + text.size(), value);
            return std::string(fmt::to_string(value) == text ? "" : "not a decimal integer");
          },
          ""};
}

/// The parser's conversion rounds twice, and takes hexadecimal digits and infinities.
double real_of(const std::string& option, const std::string& text) {
  const auto value = parse_real(text);
  if (value && std::isfinite(*value)) return *value;
  throw InvalidArgument(fmt::format("{} is '{}'; allowed: a finite decimal number", option, text));
}

/// `take` throws InvalidArgument on a value that is not allowed.
template <class Take>
CLI::Option* add(CLI::App& command, const std::string& option, const std::string& value_name,
                 const std::string& description, Take take) {
  return command.add_option_function<std::string>(option, take, description)->type_name(value_name);
}

CLI::Option* add_real(CLI::App& command, std::optional<double>& value, const std::string& option,
                      const std::string& description) {
  return add(command, option, "X", description,
             [&value, option](const std::string& text) { value = real_of(option, text); });
}

/// The library says which positions and counts are allowed.
void add_position_option(CLI::App& command, std::optional<std::int64_t>& value,
                         const std::string& option, const std::string& description) {
  allow(command.add_option(option, value, description)->type_name("N"), decimal_integer(),
        "a decimal integer of 64 bits");
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

}  // namespace

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
  add_position_option(command, options.d_model, "--d-model",
                      "channels per row, even (default: the preset's)");
  add_position_option(command, options.first, "--first",
                      "first position, up to 2^53 (default: the preset's)");
  add_real(command, options.base, "--base",
           "base of the frequencies, above 1 (default: the preset's)");
  add(command, "--layout", "NAME",
      fmt::format("{} (default: the preset's)", names_text(all_layouts)),
      [&options](const std::string& text) { options.layout = parse_layout(text); });
  add(command, "--spacing", "NAME",
      "paper (exponent 2i/d) or inclusive (i/(d/2-1)) (default: the preset's)",
      [&options](const std::string& text) { options.spacing = parse_spacing(text); });
  add(command, "--frequencies", "RULE",
      fmt::format("rule, and its parameters after a colon, as in linear:factor=4: {} (default: the "
                  "preset's)",
                  fmt::join(rule_names, ", ")),
      [&options](const std::string& text) { options.frequencies = parse_frequency_rule(text); });
}

void add_backend_options(CLI::App& command, CommonOptions& options, Times times) {
  add_names_option(
      command, options.backends, "--backend", times,
      times == Times::often
          ? "backend, or backend:isa; may be repeated (default: all that run here)"
          : "backend, or backend:isa (default: the library's selection, correctly rounded)");
  add(command, "--isa", "NAME",
      fmt::format("instruction set: {} (default: the best that runs here)", names_text(all_isas)),
      [&options](const std::string& text) { options.isa = parse_isa(text); });
}

void add_type_option(CLI::App& command, CommonOptions& options) {
  add(command, "--dtype", "NAME",
      fmt::format("type of an entry: {} (default: float32)", names_text(all_data_types)),
      [&options](const std::string& text) { options.type = parse_data_type(text); });
}

void add_threads_option(CLI::App& command, CommonOptions& options, const std::string& by_default) {
  add_integer_option(command, options.threads, "--threads", 1, most_threads,
                     fmt::format("number of threads (default: {})", by_default));
}

void add_format_option(CLI::App& command, CommonOptions& options,
                       const std::vector<std::string>& allowed, const std::string& by_default) {
  const std::string names = fmt::format("{}", fmt::join(allowed, ", "));
  allow(command
            .add_option("--format", options.format,
                        fmt::format("{} (default: {})", names, by_default))
            ->type_name("NAME"),
        CLI::IsMember(allowed), names);
}

void add_output_option(CLI::App& command, CommonOptions& options) {
  const std::string what = "file to write (default: standard output)";
  add(command, "--output", "FILE", what, [&options](const std::string& text) {
    if (text.empty()) throw InvalidArgument("--output is ''; allowed: the name of a file");
    options.output = text;
  });
}

void add_integer_option(CLI::App& command, std::optional<int>& value, const std::string& option,
                        int least, int most, const std::string& description) {
  allow(command.add_option(option, value, description)->type_name("N"),
        decimal_integer() & CLI::Range(least, most),
        fmt::format("an integer, {} to {}", least, most));
}

void add_real_option(CLI::App& command, std::optional<double>& value, const std::string& option,
                     Sign sign, const std::string& description) {
  CLI::Option* const added = add_real(command, value, option, description);
  if (sign == Sign::positive) {
    allow(added, CLI::PositiveNumber, "a finite number greater than 0");
  } else {
    allow(added, CLI::NonNegativeNumber, "a finite number of at least 0");
  }
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
