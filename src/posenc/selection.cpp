#include "posenc/selection.h"

#include "posenc/support/format.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc {
namespace {

/// The methods that are known to be fast, the fastest first.
constexpr std::string_view fast_methods[] = {"rotation32", "rotation"};

std::atomic<bool> is_environment_ignored = false;

/// POSENC_BACKEND, which is read once; empty if it is not set or ignored.
std::string environment() {
  // Never freed, so that it is valid while the process exits.
  static const std::string& value = *new std::string([] {
    const char* const wanted = std::getenv("POSENC_BACKEND");
    return wanted == nullptr ? "" : wanted;
  }());
  return is_environment_ignored ? "" : value;
}

/// The backend, if it writes the type and promises the accuracy. Its encoder is planned only if the
/// promise depends on the spec.
std::optional<SelectedEncoder> qualified(const Backend& backend, const EncodingSpec& spec,
                                         RowRange rows, const SelectionOptions& options) {
  if (!backend.supports(options.type)) return {};
  SelectedEncoder selected;
  selected.selection.backend = &backend;
  if (options.accuracy.measure() == Accuracy::Measure::correctly_rounded) {
    if (!backend.is_correctly_rounded(options.type)) return {};
    return selected;
  }
  try {
    selected.encoder = backend.plan(spec);
  } catch (const InvalidArgument&) {
    return {};  // a backend that refuses the spec does not promise anything
  }
  if (!options.accuracy.is_kept_by(promise_of(*selected.encoder, rows, options.type))) return {};
  return selected;
}

/// The methods that may be selected, each at its best ISA: those that are known to be fast, then
/// the others in order of registration.
std::vector<const Backend*> built_in_order() {
  std::vector<const Backend*> order;
  for (const Backend* each : backends()) {
    if (!each->can_be_picked() || !each->runs_here()) continue;
    const auto same = std::ranges::find(order, each->name(), &Backend::name);
    if (same == order.end()) {
      order.push_back(each);
    } else if (each->isa() > (*same)->isa()) {
      *same = each;
    }
  }
  std::ranges::stable_sort(order, {}, [](const Backend* each) {
    return std::ranges::find(fast_methods, each->name()) - std::begin(fast_methods);
  });
  return order;
}

[[noreturn]] void throw_none_promises(const EncodingSpec& spec, RowRange rows,
                                      const SelectionOptions& options) {
  double least = std::numeric_limits<double>::infinity();
  const bool is_ulp = options.accuracy.measure() == Accuracy::Measure::ulp;
  std::string refusal;
  for (const Backend* each : built_in_order()) {
    if (!each->supports(options.type)) continue;
    try {
      const Promise promise = promise_of(*each->plan(spec), rows, options.type);
      least = std::min(least, is_ulp ? promise.max_ulp : promise.max_abs);
    } catch (const InvalidArgument& error) {
      if (refusal.empty()) refusal = error.what();
    }
  }
  if (least == std::numeric_limits<double>::infinity() && !refusal.empty())
    throw InvalidArgument(refusal);
  throw_invalid("accuracy is {}; allowed for {}: at least {}{}", to_string(options.accuracy),
                to_string(options.type), least, is_ulp ? " ulp" : "");
}

/// The selection. Its encoder is set only if qualified() has planned it.
SelectedEncoder select(const EncodingSpec& spec, RowRange rows, const SelectionOptions& options) {
  validate(spec);
  validate(rows);
  const std::string accuracy = to_string(options.accuracy);
  const std::string wanted = environment();
  if (!wanted.empty()) {
    const Backend* const named = in_place("POSENC_BACKEND", [&] {
      const Backend& known = backend(wanted);
      known.check_supports(options.type);
      return &known;
    });
    if (auto selected = qualified(*named, spec, rows, options)) {
      selected->selection.source = SelectionSource::environment;
      selected->selection.reason = "POSENC_BACKEND names it";
      return std::move(*selected);
    }
  }
  std::vector<std::string_view> allowed;
  for (const Backend* each : built_in_order()) {
    auto selected = qualified(*each, spec, rows, options);
    if (!selected) continue;
    selected->selection.reason = "built-in order: the first that is " + accuracy;
    if (wanted.empty()) return std::move(*selected);
    allowed.push_back(each->name());
  }
  if (allowed.empty()) throw_none_promises(spec, rows, options);
  throw_invalid(
      "POSENC_BACKEND is '{}', which does not promise the accuracy that the program asks "
      "for ({}); allowed: {}",
      wanted, accuracy, join(allowed, ", "));
}

}  // namespace

void ignore_posenc_backend() noexcept { is_environment_ignored = true; }

Selection select_backend(const EncodingSpec& spec, RowRange rows, const SelectionOptions& options) {
  return select(spec, rows, options).selection;
}

SelectedEncoder plan_selected(const EncodingSpec& spec, RowRange rows,
                              const SelectionOptions& options) {
  SelectedEncoder selected = select(spec, rows, options);
  if (!selected.encoder) selected.encoder = selected.selection.backend->plan(spec);
  return selected;
}

bool promises(const Backend& backend, const EncodingSpec& spec, RowRange rows,
              const SelectionOptions& options) {
  return qualified(backend, spec, rows, options).has_value();
}

Matrix encode(RowRange rows, const EncodingSpec& spec, EncodeOptions options) {
  return encode<float>(rows, spec, Accuracy(), options);
}

Matrix encode(RowRange rows, const EncodingSpec& spec, const Accuracy& accuracy,
              EncodeOptions options) {
  return encode<float>(rows, spec, accuracy, options);
}

Matrix encode(std::int64_t rows, std::int64_t d_model) {
  return encode({.first = 0, .count = rows}, {.d_model = d_model}, Accuracy());
}

}  // namespace posenc
