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

const std::string& environment() {
  static const std::string& none = *new std::string;
  if (is_environment_ignored) return none;
  // Never freed, so that it is valid while the process exits.
  static const std::string& value = *new std::string([] {
    const char* wanted = std::getenv("POSENC_BACKEND");
    return wanted == nullptr ? "" : wanted;
  }());
  return value;
}

/// A table, and the options of its selection.
struct Request {
  const EncodingSpec& spec;
  RowRange rows;
  const SelectionOptions& options;
};

/// The backend, if it writes the type and promises the accuracy. Its encoder is planned only if the
/// promise depends on the spec.
std::optional<SelectedEncoder> qualified(const Backend& backend, const Request& request) {
  const SelectionOptions& options = request.options;
  if (!backend.supports(options.type)) return {};
  SelectedEncoder selected;
  selected.selection.backend = &backend;
  if (options.accuracy.measure() == Accuracy::Measure::correctly_rounded) {
    if (!backend.is_correctly_rounded(options.type)) return {};
    return selected;
  }
  try {
    selected.encoder = backend.plan(request.spec);
  } catch (const InvalidArgument&) {
    return {};  // a backend that refuses the spec does not promise anything
  }
  const Promise promise = promise_of(*selected.encoder, request.rows, options.type);
  if (!options.accuracy.is_kept_by(promise)) return {};
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

[[noreturn]] void throw_none_promises(const Request& request) {
  double least = std::numeric_limits<double>::infinity();
  const bool is_ulp = request.options.accuracy.measure() == Accuracy::Measure::ulp;
  const DataType type = request.options.type;
  std::string refusal;
  for (const Backend* each : built_in_order()) {
    if (!each->supports(type)) continue;
    try {
      const Promise promise = promise_of(*each->plan(request.spec), request.rows, type);
      least = std::min(least, is_ulp ? promise.max_ulp : promise.max_abs);
    } catch (const InvalidArgument& error) {
      if (refusal.empty()) refusal = error.what();
    }
  }
  if (least == std::numeric_limits<double>::infinity() && !refusal.empty())
    throw InvalidArgument(refusal);
  throw_invalid("accuracy is {}; allowed for {}: at least {}{}",
                to_string(request.options.accuracy), to_string(type), least, is_ulp ? " ulp" : "");
}

/// The selection without its reason. Its encoder is set only if qualified() has planned it.
SelectedEncoder select(const Request& request) {
  validate(request.spec);
  validate(request.rows);
  const std::string& wanted = environment();
  if (!wanted.empty()) {
    const Backend* const named = in_place("POSENC_BACKEND", [&] {
      const Backend& known = backend(wanted);
      known.check_supports(request.options.type);
      return &known;
    });
    if (auto selected = qualified(*named, request)) {
      selected->selection.source = SelectionSource::environment;
      return std::move(*selected);
    }
  }
  std::vector<std::string_view> allowed;
  for (const Backend* each : built_in_order()) {
    auto selected = qualified(*each, request);
    if (selected && wanted.empty()) return std::move(*selected);
    if (selected) allowed.push_back(each->name());
  }
  if (allowed.empty()) throw_none_promises(request);
  throw_invalid(
      "POSENC_BACKEND is '{}', which does not promise what the program asks for: {}; allowed: {}",
      wanted, to_string(request.options.accuracy), join(allowed, ", "));
}

SelectedEncoder planned(const Request& request) {
  SelectedEncoder selected = select(request);
  if (!selected.encoder) selected.encoder = selected.selection.backend->plan(request.spec);
  return selected;
}

Selection with_reason(Selection selection, const SelectionOptions& options) {
  selection.reason =
      selection.source == SelectionSource::environment
          ? "POSENC_BACKEND names it"
          : format_text("built-in order: the first that is {}", to_string(options.accuracy));
  return selection;
}

}  // namespace

void ignore_posenc_backend() noexcept { is_environment_ignored = true; }

Selection select_backend(const EncodingSpec& spec, RowRange rows, const SelectionOptions& options) {
  return with_reason(select({spec, rows, options}).selection, options);
}

SelectedEncoder plan_selected(const EncodingSpec& spec, RowRange rows,
                              const SelectionOptions& options) {
  SelectedEncoder selected = planned({spec, rows, options});
  selected.selection = with_reason(std::move(selected.selection), options);
  return selected;
}

bool promises(const Backend& backend, const EncodingSpec& spec, RowRange rows,
              const SelectionOptions& options) {
  return qualified(backend, {spec, rows, options}).has_value();
}

Matrix encode(RowRange rows, const EncodingSpec& spec, EncodeOptions options) {
  return encode(rows, spec, Accuracy(), options);
}

Matrix encode(RowRange rows, const EncodingSpec& spec, const Accuracy& accuracy,
              EncodeOptions options) {
  const auto encoder = planned({spec, rows, {.accuracy = accuracy}}).encoder;
  table_bytes(spec, rows.count, sizeof(float));  // throws if they overflow
  Matrix table(rows.count, spec.d_model);
  encoder->encode(rows, table.view(), options);
  return table;
}

Matrix encode(std::int64_t rows, std::int64_t d_model) {
  return encode({.first = 0, .count = rows}, {.d_model = d_model}, Accuracy());
}

}  // namespace posenc
