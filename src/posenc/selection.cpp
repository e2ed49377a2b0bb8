#include "posenc/selection.h"

#include "posenc/support/format.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc {
namespace {

/// The methods that are known to be fast, the fastest first.
constexpr std::string_view fast_methods[] = {"rotation32", "rotation"};

const std::string& environment() {
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

/// A backend, and its encoder if the check of the accuracy has planned it.
struct Choice {
  const Backend* backend;
  std::unique_ptr<const Encoder> encoder = {};
};

/// The choice of that backend if it writes the type and promises the accuracy.
/// The request's spec is planned only if the promise depends on it.
std::optional<Choice> qualified(const Backend& backend, const Request& request) {
  const SelectionOptions& options = request.options;
  if (!backend.supports(options.type)) return {};
  if (options.accuracy.measure() == Accuracy::Measure::correctly_rounded) {
    if (!backend.is_correctly_rounded(options.type)) return {};
    return Choice{&backend};
  }
  Choice choice = {&backend, backend.plan(request.spec)};
  const Promise promise = promise_of(*choice.encoder, request.rows, options.type);
  if (!options.accuracy.is_kept_by(promise)) return {};
  return choice;
}

/// The methods that may be selected, each at its best ISA: those that are known
/// to be fast, then the others in order of registration.
std::vector<const Backend*> built_in_order() {
  const std::vector<const Backend*> all = backends();
  std::vector<const Backend*> order;
  const auto append = [&](std::string_view name) {
    const Backend* best = nullptr;
    for (const Backend* each : all) {
      const bool is_it = each->name() == name && each->can_be_picked() && each->runs_here();
      if (is_it && (best == nullptr || each->isa() > best->isa())) best = each;
    }
    if (best != nullptr && std::ranges::count(order, best) == 0) order.push_back(best);
  };
  for (const std::string_view each : fast_methods) append(each);
  for (const Backend* each : all) append(each->name());
  return order;
}

Choice from_environment(const Request& request) {
  const Backend* named = nullptr;
  try {
    named = &backend(environment());
    named->check_supports(request.options.type);
  } catch (const InvalidArgument& error) {
    throw_invalid("POSENC_BACKEND: {}", error.what());
  }
  if (auto choice = qualified(*named, request)) return std::move(*choice);
  std::vector<std::string_view> allowed;
  for (const Backend* each : built_in_order()) {
    if (qualified(*each, request)) allowed.push_back(each->name());
  }
  throw_invalid(
      "POSENC_BACKEND is '{}', which does not promise what the program asks "
      "for: {}; allowed: {}",
      environment(), to_string(request.options.accuracy),
      allowed.empty() ? "none of the backends" : join(allowed, ", "));
}

[[noreturn]] void throw_none_promises(const Request& request) {
  double least = std::numeric_limits<double>::infinity();
  const bool is_ulp = request.options.accuracy.measure() == Accuracy::Measure::ulp;
  const DataType type = request.options.type;
  for (const Backend* each : built_in_order()) {
    if (!each->supports(type)) continue;
    const Promise promise = promise_of(*each->plan(request.spec), request.rows, type);
    least = std::min(least, is_ulp ? promise.max_ulp : promise.max_abs);
  }
  throw_invalid("accuracy is {}; allowed for {}: at least {}{}",
                to_string(request.options.accuracy), to_string(type), least, is_ulp ? " ulp" : "");
}

Choice select(const Request& request) {
  validate(request.spec);
  validate(request.rows);
  if (!environment().empty()) return from_environment(request);
  for (const Backend* each : built_in_order()) {
    if (auto choice = qualified(*each, request)) return std::move(*choice);
  }
  throw_none_promises(request);
}

std::unique_ptr<const Encoder> planned(Choice choice, const EncodingSpec& spec) {
  return choice.encoder ? std::move(choice.encoder) : choice.backend->plan(spec);
}

Selection with_reason(const Backend& backend, const SelectionOptions& options) {
  if (!environment().empty())
    return {&backend, SelectionSource::environment, "POSENC_BACKEND names it"};
  return {&backend, SelectionSource::built_in,
          format_text("built-in order: the first that is {}", to_string(options.accuracy))};
}

}  // namespace

Selection select_backend(const EncodingSpec& spec, RowRange rows, const SelectionOptions& options) {
  return with_reason(*select({spec, rows, options}).backend, options);
}

SelectedEncoder plan_selected(const EncodingSpec& spec, RowRange rows,
                              const SelectionOptions& options) {
  Choice choice = select({spec, rows, options});
  Selection selection = with_reason(*choice.backend, options);
  return {planned(std::move(choice), spec), std::move(selection)};
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
  const auto encoder = planned(select({spec, rows, {.accuracy = accuracy}}), spec);
  table_bytes(spec, rows.count, sizeof(float));  // throws if they overflow
  Matrix table(rows.count, spec.d_model);
  encoder->encode(rows, table.view(), options);
  return table;
}

Matrix encode(std::int64_t rows, std::int64_t d_model) {
  return encode({.first = 0, .count = rows}, {.d_model = d_model}, Accuracy());
}

}  // namespace posenc
