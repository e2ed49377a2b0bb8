#include "options.h"

#include "cli/spelling.h"

#include "posenc/cpu.h"
#include "posenc/isa.h"
#include "posenc/presets.h"
#include "posenc/support/parallel_for.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/App.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <system_error>

namespace posenc::bench {
namespace {

void check_runs_here(const std::string& isa) {
  if (cpu_has(parse_isa(isa))) return;
  std::vector<std::string_view> allowed;
  for (const Isa each : cpu().isas) allowed.push_back(to_string(each));
  throw InvalidArgument(fmt::format("ISA is '{}'; allowed: what this CPU supports: {}", isa,
                                    fmt::join(allowed, ", ")));
}

/// True if nothing is asked for.
bool is_among(const std::vector<std::string>& asked_for, std::string_view name,
              std::string_view other = {}) {
  return asked_for.empty() || std::ranges::any_of(asked_for, [=](const std::string& each) {
           return each == name || each == other;
         });
}

}  // namespace

void allow_only(CLI::Option& option, const std::vector<std::string>& names) {
  const std::string name = option.get_name();
  option.each([name, names](const std::string& value) {
    if (std::ranges::count(names, value) > 0) return;
    throw InvalidArgument(fmt::format("{} is '{}'; allowed: {}{}", name, value,
                                      fmt::join(names, ", "), cli::did_you_mean(value, names)));
  });
}

void add_threads_option(CLI::App& app, std::vector<int>& threads, const std::string& by_default) {
  app.add_option(
         "--threads", threads,
         fmt::format("Only this number of threads; may be repeated. {} unless given", by_default))
      ->type_name("N")
      ->allow_extra_args(false)
      ->each([](const std::string& text) {
        int value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc() && end == text.data() + text.size() && value >= 1 &&
            value <= most_threads)
          return;
        throw InvalidArgument(
            fmt::format("--threads is '{}'; allowed: an integer, 1 to {}", text, most_threads));
      });
}

void add_backend_options(CLI::App& app, BackendChoice& choice) {
  app.add_option("--backend", choice.names,
                 "Only this backend, such as rotation or rotation:avx2; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--isa", choice.isas, "Only backends of this ISA, such as avx2; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
}

std::vector<const Backend*> select_backends(const BackendChoice& choice) {
  for (const std::string& name : choice.names) {  // Throws if it cannot be used.
    cli::with_suggestion([&]() -> const Backend& { return backend(name); }, name,
                         cli::known_backends());
  }
  for (const std::string& isa : choice.isas) check_runs_here(isa);
  std::vector<const Backend*> selected;
  for (const Backend* candidate : backends()) {
    if (candidate->runs_here() &&
        is_among(choice.names, candidate->name(), candidate->full_name()) &&
        is_among(choice.isas, to_string(candidate->isa()))) {
      selected.push_back(candidate);
    }
  }
  if (selected.empty()) {
    throw InvalidArgument(fmt::format("ISA is '{}'; allowed: one that backend {} has",
                                      fmt::join(choice.isas, ", "), fmt::join(choice.names, ", ")));
  }
  return selected;
}

std::vector<const Backend*> best_isa_only(const std::vector<const Backend*>& backends) {
  std::vector<const Backend*> best;
  for (const Backend* candidate : backends) {
    const auto known = std::ranges::find(best, candidate->name(), &Backend::name);
    if (known == best.end()) {
      best.push_back(candidate);
    } else if (candidate->isa() > (*known)->isa()) {
      *known = candidate;
    }
  }
  return best;
}

std::vector<Preset> select_presets(const std::vector<std::string>& names) {
  std::vector<Preset> selected;
  std::vector<std::string> known = cli::known_presets();
  std::ranges::copy(cli::known_benchmark_shapes(), std::back_inserter(known));
  for (const std::string& name : names) {
    selected.push_back(
        cli::with_suggestion([&] { return preset_or_benchmark_shape(name); }, name, known));
  }
  return selected;
}

}  // namespace posenc::bench
