#include "cli/options.h"

#include "cli/spelling.h"

#include "posenc/cpu.h"
#include "posenc/support/parse_real.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/App.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <system_error>
#include <utility>

namespace posenc::cli {
namespace {

/// More than any machine has; OpenMP ends the program where it cannot make as many as it is asked
/// for.
constexpr int max_threads = 1024;

template <class Integer>
bool parse_whole(std::string_view text, Integer& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

double real_of(std::string_view option, std::string_view text) {
  const auto value = parse_real(text);
  if (!value) {
    throw InvalidArgument(
        fmt::format("{} is '{}'; allowed: a number in the range of double", option, text));
  }
  return *value;
}

template <class Take>
CLI::Option* add(CLI::App& app, const std::string& option, const std::string& value_name,
                 const std::string& description, Take take) {
  return app.add_option_function<std::string>(option, take, description)->type_name(value_name);
}

void add_position_option(CLI::App& app, std::optional<std::int64_t>& value,
                         const std::string& option, const std::string& description) {
  // The library says what is allowed and why; here only what is no integer at all is refused.
  add(app, option, "N", description, [&value, option](const std::string& text) {
    std::int64_t parsed = 0;
    if (!parse_whole(text, parsed))
      throw InvalidArgument(
          fmt::format("{} is '{}'; allowed: an integer of 64 bits", option, text));
    value = parsed;
  });
}

CLI::Option* add_names_option(CLI::App& app, std::vector<std::string>& names,
                              const std::string& option, Times times,
                              const std::string& description) {
  auto* added = app.add_option(option, names, description)->type_name("NAME");
  if (times == Times::once) added->expected(1);
  return added;
}

const Backend& named_backend(const std::string& name, std::optional<Isa> isa) {
  const auto find = [&]() -> const Backend& { return isa ? backend(name, *isa) : backend(name); };
  if (!isa) return with_suggestion(find, name, known_backends());
  if (name.find(':') != std::string::npos) {
    throw InvalidArgument(
        fmt::format("--isa is '{}' and --backend is '{}'; allowed: the ISA in one place",
                    to_string(*isa), name));
  }
  return with_suggestion(find, name, known_backends());
}

}  // namespace

CLI::App& add_subcommand(CLI::App& app, const std::string& name, const std::string& description,
                         Action& action, Action chosen) {
  CLI::App& command = *app.add_subcommand(name, description);
  command.callback([&action, chosen = std::move(chosen)] { action = chosen; });
  return command;
}

void add_flag(CLI::App& command, bool& value, const std::string& option,
              const std::string& description) {
  command.add_flag(option, value, description);
}

void add_text_option(CLI::App& command, std::string& value, const std::string& option,
                     const std::string& value_name, const std::string& description) {
  command.add_option(option, value, description)->type_name(value_name);
}

void add_file_argument(CLI::App& command, std::string& value, const std::string& name,
                       const std::string& description) {
  command.add_option(name, value, description)->type_name("FILE")->required();
}

void add_preset_option(CLI::App& app, CommonOptions& options, Times times) {
  // What may be given often is timed: there, the sizes of benchmarks serve as well as presets.
  const bool is_timed = times == Times::often;
  const std::string more = is_timed ? ", may be repeated" : "";
  const std::string shapes = is_timed ? fmt::format("; or a benchmark shape: {}",
                                                    fmt::join(known_benchmark_shapes(), ", "))
                                      : "";
  std::vector<std::string> known = known_presets();
  if (is_timed) std::ranges::copy(known_benchmark_shapes(), std::back_inserter(known));
  add_names_option(app, options.presets, "--preset", times,
                   fmt::format("convention and shape of a real system{}: {}{}", more,
                               fmt::join(known_presets(), ", "), shapes))
      ->each([known, is_timed](const std::string& name) {
        const auto find = is_timed ? preset_or_benchmark_shape : preset;
        with_suggestion([&]() -> const Preset& { return find(name); }, name, known);
      });
}

void add_shape_options(CLI::App& app, CommonOptions& options) {
  add_preset_option(app, options, Times::once);
  add_position_option(app, options.rows, "--rows", "number of positions (default: the preset's)");
  add_position_option(app, options.d_model, "--d-model",
                      "channels of a row, even (default: the preset's)");
  add_position_option(app, options.first, "--first",
                      "first position, up to 2^53 (default: the preset's)");
  add(app, "--base", "X", "base of the frequencies, above 1 (default: the preset's)",
      [&options](const std::string& text) { options.base = real_of("--base", text); });
  add(app, "--layout", "NAME", "interleaved, halves or halves_cos_first (default: the preset's)",
      [&options](const std::string& text) { options.layout = parse_layout(text); });
  add(app, "--spacing", "NAME",
      "paper (exponent 2i/d) or inclusive (i/(d/2-1)) (default: the preset's)",
      [&options](const std::string& text) { options.spacing = parse_spacing(text); });
}

void add_backend_options(CLI::App& app, CommonOptions& options, Times times) {
  const std::string what =
      times == Times::often
          ? "backend, or backend:isa; may be repeated (default: all that run here)"
          : "backend, or backend:isa (default: the library's selection, correctly rounded)";
  add_names_option(app, options.backends, "--backend", times, what);
  add(app, "--isa", "NAME",
      "instruction set: scalar, sse2, avx2, avx512 or neon64 (default: the best that runs here)",
      [&options](const std::string& text) { options.isa = parse_isa(text); });
}

void add_type_option(CLI::App& app, CommonOptions& options) {
  add(app, "--dtype", "NAME",
      "elements of the table: float32, float64, float16 or bfloat16 (default: float32)",
      [&options](const std::string& text) { options.type = parse_data_type(text); });
}

void add_threads_option(CLI::App& app, CommonOptions& options, const std::string& by_default) {
  add_integer_option(app, options.threads, "--threads", 1, max_threads,
                     fmt::format("threads (default: {})", by_default));
}

void add_format_option(CLI::App& app, CommonOptions& options, std::vector<std::string> allowed,
                       const std::string& by_default) {
  const std::string description =
      fmt::format("{} (default: {})", fmt::join(allowed, ", "), by_default);
  add(app, "--format", "NAME", description,
      [&options, allowed = std::move(allowed)](const std::string& text) {
        if (std::ranges::count(allowed, text) == 0) {
          throw InvalidArgument(
              fmt::format("--format is '{}'; allowed: {}", text, fmt::join(allowed, ", ")));
        }
        options.format = text;
      });
}

void add_output_option(CLI::App& app, CommonOptions& options, const std::string& what) {
  add(app, "--output", "FILE", what, [&options](const std::string& text) {
    if (text.empty()) throw InvalidArgument("--output is ''; allowed: the name of a file");
    options.output = text;
  });
}

void add_integer_option(CLI::App& app, std::optional<int>& value, const std::string& option,
                        int least, int most, const std::string& description) {
  add(app, option, "N", description, [&value, option, least, most](const std::string& text) {
    int parsed = 0;
    if (!parse_whole(text, parsed) || parsed < least || parsed > most) {
      throw InvalidArgument(
          fmt::format("{} is '{}'; allowed: an integer, {} to {}", option, text, least, most));
    }
    value = parsed;
  });
}

CLI::Option* add_real_option(CLI::App& app, std::optional<double>& value, const std::string& option,
                             const std::string& description) {
  return add(app, option, "X", description,
             [&value, option](const std::string& text) { value = real_of(option, text); });
}

Shape shape_of(const CommonOptions& options) {
  const Preset& base = preset(options.presets.empty() ? "tutorial" : options.presets.front());
  const Shape shape = {.spec = {.d_model = options.d_model.value_or(base.spec.d_model),
                                .base = options.base.value_or(base.spec.base),
                                .layout = options.layout.value_or(base.spec.layout),
                                .spacing = options.spacing.value_or(base.spec.spacing)},
                       .rows = {.first = options.first.value_or(base.rows.first),
                                .count = options.rows.value_or(base.rows.count)}};
  validate(shape.spec);
  validate(shape.rows);
  table_bytes(shape.spec, shape.rows.count, size_of(options.type));  // throws where they overflow
  return shape;
}

const Backend& backend_of(const CommonOptions& options, const Shape& shape,
                          const Accuracy& accuracy) {
  if (!options.backends.empty()) return named_backend(options.backends.front(), options.isa);
  const SelectionOptions wanted = {
      .accuracy = accuracy, .type = options.type, .threads = options.threads.value_or(1)};
  const Backend& selected = *select_backend(shape.spec, shape.rows, wanted).backend;
  return options.isa ? backend(selected.name(), *options.isa) : selected;
}

std::vector<const Backend*> backends_of(const CommonOptions& options) {
  std::vector<const Backend*> chosen;
  if (options.backends.empty()) {
    for (const Backend* each : backends()) {
      if (!each->runs_here() || (options.isa && each->isa() != *options.isa)) continue;
      // What is there for comparison stands in a table once, at its best.
      const bool is_best = each->can_be_picked() || options.isa || each == &backend(each->name());
      if (is_best) chosen.push_back(each);
    }
    if (chosen.empty()) {
      throw InvalidArgument(fmt::format(
          "--isa is '{}'; allowed: one that this CPU supports and this build has a backend for",
          to_string(*options.isa)));
    }
  }
  for (const std::string& name : options.backends) {
    const Backend* named = &named_backend(name, options.isa);
    if (std::ranges::count(chosen, named) == 0) chosen.push_back(named);
  }
  return chosen;
}

}  // namespace posenc::cli
