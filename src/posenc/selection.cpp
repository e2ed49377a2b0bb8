#include "posenc/selection.h"

#include "posenc/profile.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"
#include "posenc/support/store_policy.h"
#include "posenc/support/ties.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <span>
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
};

/// A backend that may be selected, with the results of its checks so far.
struct Candidate {
  const Backend* backend;
  std::span<const double> seconds = {};  ///< measured; empty in the built-in order
  std::optional<bool> qualifies = {};
  std::unique_ptr<const Encoder> encoder = {};
};

/// True if the backend supports the request. Plans the request's own spec only if the answer
/// depends on it.
bool qualifies(Candidate& candidate, const Request& request, bool must_add) {
  if (candidate.qualifies) return *candidate.qualifies;
  const SelectionOptions& options = request.options;
  // These properties do not depend on the spec, so that the smallest one shows them.
  const auto smallest = candidate.backend->plan({.d_model = 2});
  candidate.qualifies = smallest->supports(options.type) && (!must_add || smallest->supports_add());
  if (!*candidate.qualifies) return false;
  if (options.accuracy.measure() == Accuracy::Measure::correctly_rounded) {
    candidate.qualifies = smallest->is_correctly_rounded(options.type);
  } else {
    candidate.encoder = candidate.backend->plan(request.spec);
    candidate.qualifies =
        options.accuracy.is_promised_by(*candidate.encoder, request.rows, options.type);
  }
  return *candidate.qualifies;
}

/// A selection, and its encoder if the check of the accuracy has planned it.
struct Choice {
  Selection selection;
  std::unique_ptr<const Encoder> encoder = {};
};

Choice choice_of(Candidate& candidate, SelectionSource source, std::string reason) {
  return {{candidate.backend, source, std::move(reason)}, std::move(candidate.encoder)};
}

Choice from_environment(const Request& request) {
  try {
    const Backend& named = backend(environment());
    check_supports(*named.plan({.d_model = 2}), request.options.type);
    return {{&named, SelectionSource::environment, "POSENC_BACKEND names it"}};
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(format_text("POSENC_BACKEND: {}", error.what()));
  }
}

/// The place of a method in the order of registration.
std::size_t method_place(std::string_view name, const std::vector<const Backend*>& all) {
  const auto first = std::ranges::find(all, name, &Backend::name);
  return static_cast<std::size_t>(first - all.begin());
}

std::vector<Candidate> measured_candidates(const MeasuredClass& measured) {
  std::vector<Candidate> candidates;
  for (const Backend* each : backends()) {
    if (!each->can_be_picked() || !each->runs_here()) continue;
    const auto is_it = [&](const MeasuredBackend& one) {
      return one.backend == each->name() && one.isa == each->isa();
    };
    const auto found = std::ranges::find_if(measured.backends, is_it);
    if (found != measured.backends.end()) candidates.push_back({each, found->seconds_per_entry});
  }
  return candidates;
}

std::string class_text(ShapeClass shape, DataType type) {
  return format_text("shape class {}, {}", to_string(shape), to_string(type));
}

/// The fastest measured backend that qualifies, or the simplest method that ties with it. Empty if
/// none qualifies.
std::optional<Choice> from_measurements(const MeasuredClass& measured, const Request& request,
                                        bool must_add) {
  const std::vector<const Backend*> all = backends();
  std::vector<Candidate> candidates = measured_candidates(measured);
  std::vector<TimedCandidate> timed;
  for (const Candidate& each : candidates) {
    timed.push_back({method_place(each.backend->name(), all), each.backend->isa(), each.seconds});
  }
  const std::vector<std::size_t> order = by_speed(timed);
  const auto is_good = [&](std::size_t i) { return qualifies(candidates[i], request, must_add); };
  const auto fastest = std::ranges::find_if(order, is_good);
  if (fastest == order.end()) return {};
  const std::vector<std::size_t> preferred = by_preference(timed, *fastest, measured.noise_floor);
  const std::size_t chosen = *std::ranges::find_if(preferred, is_good);
  std::string reason =
      format_text("the profile: {} of those that are {}{} ({})",
                  chosen == *fastest ? "the fastest" : "it ties with the fastest",
                  to_string(request.options.accuracy), must_add ? " and can add" : "",
                  class_text(measured.shape, measured.type));
  return choice_of(candidates[chosen], SelectionSource::profile, std::move(reason));
}

/// The methods that are known to be fast, then the others in order of registration; each at its
/// best ISA.
std::vector<Candidate> built_in_candidates() {
  const std::vector<const Backend*> all = backends();
  std::vector<Candidate> candidates;
  const auto add = [&](std::string_view name) {
    const Backend* best = nullptr;
    for (const Backend* each : all) {
      const bool is_it = each->name() == name && each->can_be_picked() && each->runs_here();
      if (is_it && (best == nullptr || each->isa() > best->isa())) best = each;
    }
    const auto is_there = [&](const Candidate& each) { return each.backend->name() == name; };
    if (best != nullptr && std::ranges::none_of(candidates, is_there)) candidates.push_back({best});
  };
  for (const std::string_view each : fast_methods) add(each);
  for (const Backend* each : all) add(each->name());
  return candidates;
}

std::optional<Choice> from_built_in_order(const Request& request, const std::string& why_not,
                                          bool must_add) {
  for (Candidate& each : built_in_candidates()) {
    if (!qualifies(each, request, must_add)) continue;
    std::string reason =
        format_text("built-in order: the first that is {}{} ({})",
                    to_string(request.options.accuracy), must_add ? " and can add" : "", why_not);
    return choice_of(each, SelectionSource::built_in, std::move(reason));
  }
  return {};
}

std::optional<Choice> chosen(const Request& request, bool must_add) {
  std::string why_not = profile_in_use().reason;
  if (const auto& profile = profile_in_use().profile) {
    const SelectionOptions& options = request.options;
    const MeasuredClass* measured = profile->find(request.shape, options.type, options.threads);
    if (measured != nullptr) {
      if (auto found = from_measurements(*measured, request, must_add)) return found;
    }
    why_not = format_text("the profile has {} for {}",
                          measured == nullptr ? "nothing" : "no such backend",
                          class_text(request.shape, options.type));
  }
  return from_built_in_order(request, why_not, must_add);
}

[[noreturn]] void throw_none_promises(const Request& request) {
  double least = std::numeric_limits<double>::infinity();
  const bool is_ulp = request.options.accuracy.measure() == Accuracy::Measure::ulp;
  const DataType type = request.options.type;
  for (const Candidate& each : built_in_candidates()) {
    const auto encoder = each.backend->plan(request.spec);
    if (!encoder->supports(type)) continue;
    least = std::min(least, is_ulp ? encoder->ulp_bound(request.rows, type)
                                   : encoder->error_bound(request.rows, type));
  }
  throw InvalidArgument(format_text("accuracy is {}; allowed for {}: at least {}{}",
                                    to_string(request.options.accuracy), to_string(type), least,
                                    is_ulp ? " ulp" : ""));
}

Choice select(const EncodingSpec& spec, RowRange rows, const SelectionOptions& options) {
  validate(spec);
  validate(rows);
  check_threads(options.threads);
  const auto whole_table = [&] {
    return shape_class(table_bytes(spec, rows.count, size_of(options.type)));
  };
  const Request request = {spec, rows, options, options.shape ? *options.shape : whole_table()};
  if (!environment().empty()) return from_environment(request);
  if (options.adds) {
    if (auto found = chosen(request, true)) return std::move(*found);
  }
  if (auto found = chosen(request, false)) return std::move(*found);
  throw_none_promises(request);
}

}  // namespace

Accuracy Accuracy::within(double error) {
  check_positive("max_error", error);
  return {Measure::absolute, error};
}

Accuracy Accuracy::within_ulp(double ulp) {
  check_positive("max_ulp", ulp);
  return {Measure::ulp, ulp};
}

bool Accuracy::is_promised_by(const Encoder& encoder, RowRange rows, DataType type) const noexcept {
  switch (measure_) {
    case Measure::correctly_rounded: return encoder.is_correctly_rounded(type);
    case Measure::absolute: return encoder.error_bound(rows, type) <= most_;
    case Measure::ulp: break;
  }
  return encoder.ulp_bound(rows, type) <= most_;
}

std::string to_string(const Accuracy& accuracy) {
  switch (accuracy.measure()) {
    case Accuracy::Measure::correctly_rounded: return "correctly rounded";
    case Accuracy::Measure::absolute: return format_text("within {}", accuracy.most());
    case Accuracy::Measure::ulp: break;
  }
  return format_text("within {} ulp", accuracy.most());
}

const LoadedProfile& profile_in_use() {
  static const LoadedProfile loaded = [] {
    LoadedProfile found = load_profile(default_profile_path());
    if (found.profile) set_most_cached_bytes(found.profile->most_cached_bytes().value_or(0));
    return found;
  }();
  return loaded;
}

Selection select_backend(const EncodingSpec& spec, RowRange rows, const SelectionOptions& options) {
  return select(spec, rows, options).selection;
}

SelectedEncoder plan_selected(const EncodingSpec& spec, RowRange rows,
                              const SelectionOptions& options) {
  Choice choice = select(spec, rows, options);
  const Backend& backend = *choice.selection.backend;
  if (options.repeated) {
    choice.encoder = backend.plan(spec, {rows, options.type});
  } else if (choice.encoder == nullptr) {
    choice.encoder = backend.plan(spec);
  }
  return {std::move(choice.encoder), std::move(choice.selection)};
}

Matrix encode(RowRange rows, const EncodingSpec& spec, EncodeOptions options) {
  return encode(rows, spec, Accuracy(), options);
}

Matrix encode(RowRange rows, const EncodingSpec& spec, const Accuracy& accuracy,
              EncodeOptions options) {
  const auto encoder =
      plan_selected(spec, rows, {.accuracy = accuracy, .threads = options.threads}).encoder;
  Matrix table(rows.count, spec.d_model);
  encoder->encode(rows, table.view(), options);
  return table;
}

Matrix encode(std::int64_t rows, std::int64_t d_model) {
  return encode({.first = 0, .count = rows}, {.d_model = d_model});
}

}  // namespace posenc
