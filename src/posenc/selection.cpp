#include "posenc/selection.h"

#include "posenc/measuring/ties.h"
#include "posenc/profile.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc {
namespace {

/// The order without measurements: the methods that are known to be fast, the fastest first.
constexpr std::string_view fast_methods[] = {"rotation32", "rotation"};

const std::string& environment() {
  static const std::string value = [] {
    const char* wanted = std::getenv("POSENC_BACKEND");
    return std::string(wanted == nullptr ? "" : wanted);
  }();
  return value;
}

/// A table, and the options of its selection.
struct Request {
  const EncodingSpec& spec;
  RowRange rows;
  const SelectionOptions& options;
  ShapeClass shape;
  bool wants_reason;  ///< writing one costs more than selecting
};

/// A selection, and its encoder if the check of the accuracy has planned it.
struct Choice {
  Selection selection;
  std::unique_ptr<const Encoder> encoder = {};
};

/// The choice of that backend, without source and reason, if it supports the request and promises
/// the accuracy. The request's spec is planned only if the promise depends on it.
std::optional<Choice> qualified(const Backend& backend, const Request& request, bool must_add) {
  const SelectionOptions& options = request.options;
  if (!backend.supports(options.type) || (must_add && !backend.supports_add())) return {};
  Choice choice = {{&backend, SelectionSource::built_in, ""}};
  if (options.accuracy.measure() == Accuracy::Measure::correctly_rounded) {
    if (!backend.is_correctly_rounded(options.type)) return {};
    return choice;
  }
  choice.encoder = backend.plan(request.spec);
  const Promise promise = promise_of(*choice.encoder, request.rows, options.type);
  if (!options.accuracy.is_kept_by(promise)) return {};
  return choice;
}

std::string asked_for(const Request& request, bool must_add) {
  return to_string(request.options.accuracy) + (must_add ? " and can add" : "");
}

/// Calls `use` for the methods that may be selected, until it returns true: for those that are
/// known to be fast, then for the others in order of registration; each at its best ISA.
template <class Use>
void in_built_in_order(const Use& use) {
  const std::vector<const Backend*> all = backends();
  std::vector<const Backend*> used;
  const auto is_enough = [&](std::string_view name) {
    const Backend* best = nullptr;
    for (const Backend* each : all) {
      const bool is_it = each->name() == name && each->can_be_picked() && each->runs_here();
      if (is_it && (best == nullptr || each->isa() > best->isa())) best = each;
    }
    if (best == nullptr || std::ranges::count(used, best) != 0) return false;
    used.push_back(best);
    return use(*best);
  };
  for (const std::string_view each : fast_methods) {
    if (is_enough(each)) return;
  }
  for (const Backend* each : all) {
    if (is_enough(each->name())) return;
  }
}

Choice from_environment(const Request& request) {
  const Backend* named = nullptr;
  try {
    named = &backend(environment());
    named->check_supports(request.options.type);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(format_text("POSENC_BACKEND: {}", error.what()));
  }
  if (auto choice = qualified(*named, request, false)) {
    choice->selection.source = SelectionSource::environment;
    choice->selection.reason = "POSENC_BACKEND names it";
    return std::move(*choice);
  }
  std::vector<std::string> allowed;
  in_built_in_order([&](const Backend& each) {
    if (qualified(each, request, false)) allowed.emplace_back(each.name());
    return false;
  });
  throw InvalidArgument(format_text(
      "POSENC_BACKEND is '{}', which does not promise what the program asks for: {}; allowed: {}",
      environment(), asked_for(request, false),
      allowed.empty() ? "none of the backends" : join(allowed, ", ")));
}

/// The backend of a measured candidate; null if it is not in this build, cannot be selected or does
/// not run here.
const Backend* backend_of(const Candidate& candidate, const std::vector<const Backend*>& all) {
  const auto is_it = [&](const Backend* each) {
    return each->name() == candidate.backend && to_string(each->isa()) == candidate.isa;
  };
  const auto found = std::ranges::find_if(all, is_it);
  const bool is_usable = found != all.end() && (*found)->can_be_picked() && (*found)->runs_here();
  return is_usable ? *found : nullptr;
}

/// The fastest measured backend that qualifies, or the simplest method that ties with it. Empty if
/// none qualifies.
std::optional<Choice> from_measurements(const MeasuredClass& measured, const Request& request,
                                        bool must_add) {
  const std::vector<const Backend*> all = backends();
  std::vector<TimedCandidate> timed;
  std::vector<Choice> choices;
  for (const Candidate& each : measured.candidates) {
    const Backend* const backend = backend_of(each, all);
    if (backend == nullptr || each.seconds_per_entry.empty()) continue;
    if (auto choice = qualified(*backend, request, must_add)) {
      timed.push_back({each.method, backend->isa(), each.seconds_per_entry});
      choices.push_back(std::move(*choice));
    }
  }
  if (timed.empty()) return {};
  const std::size_t fastest = fastest_of(timed);
  const std::size_t chosen = by_preference(timed, fastest, measured.noise_floor).front();
  Selection& selection = choices[chosen].selection;
  selection.source = SelectionSource::profile;
  if (request.wants_reason) {
    selection.reason = format_text("the profile: {} of those that are {} ({})",
                                   chosen == fastest ? "the fastest" : "it ties with the fastest",
                                   asked_for(request, must_add), measured.text());
  }
  return std::move(choices[chosen]);
}

/// The choice by the profile, or else by the built-in order.
std::optional<Choice> chosen(const Request& request, bool must_add) {
  const LoadedProfile& profile = profile_in_use();
  const MeasuredClass* measured = nullptr;
  if (profile.measurements) {
    const SelectionOptions& options = request.options;
    measured = find_class(profile.classes, request.shape, options.type, options.threads);
    if (measured != nullptr) {
      if (auto found = from_measurements(*measured, request, must_add)) return found;
    }
  }
  std::optional<Choice> choice;
  in_built_in_order([&](const Backend& each) {
    choice = qualified(each, request, must_add);
    return choice.has_value();
  });
  if (!choice || !request.wants_reason) return choice;
  const std::string why_not =
      profile.measurements ? format_text("the profile has {} for {}, {}",
                                         measured == nullptr ? "nothing" : "no such backend",
                                         to_string(request.shape), to_string(request.options.type))
                           : profile.reason;
  choice->selection.reason = format_text("built-in order: the first that is {} ({})",
                                         asked_for(request, must_add), why_not);
  return choice;
}

[[noreturn]] void throw_none_promises(const Request& request) {
  double least = std::numeric_limits<double>::infinity();
  const bool is_ulp = request.options.accuracy.measure() == Accuracy::Measure::ulp;
  const DataType type = request.options.type;
  in_built_in_order([&](const Backend& each) {
    if (!each.supports(type)) return false;
    const Promise promise = promise_of(*each.plan(request.spec), request.rows, type);
    least = std::min(least, is_ulp ? promise.max_ulp : promise.max_abs);
    return false;
  });
  throw InvalidArgument(format_text("accuracy is {}; allowed for {}: at least {}{}",
                                    to_string(request.options.accuracy), to_string(type), least,
                                    is_ulp ? " ulp" : ""));
}

Choice select(const EncodingSpec& spec, RowRange rows, const SelectionOptions& options,
              bool wants_reason) {
  validate(spec);
  validate(rows);
  check_threads(options.threads);
  const auto whole_table = [&] {
    return shape_class(table_bytes(spec, rows.count, size_of(options.type)));
  };
  const Request request = {spec, rows, options, options.shape ? *options.shape : whole_table(),
                           wants_reason};
  if (!environment().empty()) return from_environment(request);
  if (options.adds) {
    if (auto found = chosen(request, true)) return std::move(*found);
  }
  if (auto found = chosen(request, false)) return std::move(*found);
  throw_none_promises(request);
}

SelectedEncoder plan(const EncodingSpec& spec, RowRange rows, const SelectionOptions& options,
                     bool wants_reason) {
  Choice choice = select(spec, rows, options, wants_reason);
  if (choice.encoder == nullptr) choice.encoder = choice.selection.backend->plan(spec);
  return {std::move(choice.encoder), std::move(choice.selection)};
}

}  // namespace

const LoadedProfile& profile_in_use() {
  static const LoadedProfile loaded = load_profile(default_profile_path());
  return loaded;
}

Selection select_backend(const EncodingSpec& spec, RowRange rows, const SelectionOptions& options) {
  return select(spec, rows, options, true).selection;
}

SelectedEncoder plan_selected(const EncodingSpec& spec, RowRange rows,
                              const SelectionOptions& options) {
  return plan(spec, rows, options, true);
}

Matrix encode(RowRange rows, const EncodingSpec& spec, EncodeOptions options) {
  return encode(rows, spec, Accuracy(), options);
}

Matrix encode(RowRange rows, const EncodingSpec& spec, const Accuracy& accuracy,
              EncodeOptions options) {
  const auto encoder =
      plan(spec, rows, {.accuracy = accuracy, .threads = options.threads}, false).encoder;
  Matrix table(rows.count, spec.d_model);
  encoder->encode(rows, table.view(), options);
  return table;
}

Matrix encode(std::int64_t rows, std::int64_t d_model) {
  return encode({.first = 0, .count = rows}, {.d_model = d_model}, Accuracy());
}

}  // namespace posenc
