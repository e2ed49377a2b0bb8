#include "posenc/backend.h"

#include "posenc/accuracy.h"
#include "posenc/cpu.h"
#include "posenc/support/check.h"
#include "posenc/support/floating_point.h"

#include <algorithm>
#include <vector>

namespace posenc {

bool Backend::runs_here() const noexcept { return cpu_has(isa()); }

std::string Backend::full_name() const { return format_text("{}:{}", name(), to_string(isa())); }

void Backend::check_runs_here() const {
  if (runs_here()) return;
  std::vector<std::string_view> names;
  for (const Isa each : cpu().isas) names.push_back(to_string(each));
  throw_invalid("ISA is '{}' (backend {}); allowed: what this CPU supports: {}", to_string(isa()),
                name(), join(names, ", "));
}

void Backend::check_supports(DataType type) const {
  if (supports(type) && std::ranges::count(all_data_types, type) == 1) return;
  std::vector<std::string_view> allowed;
  for (const DataType each : all_data_types) {
    if (supports(each)) allowed.push_back(to_string(each));
  }
  throw_invalid("dtype is {}; allowed for backend {}: {}", to_string(type), name(),
                join(allowed, ", "));
}

std::unique_ptr<const Encoder> Backend::plan(const EncodingSpec& spec) const {
  validate(spec);
  const double factor = attention_factor(spec.frequencies);
  if (factor != 1)
    throw_invalid(
        "attention_factor is {}{}; allowed in an encoding, which does not apply it: 1, for the "
        "table without it (Rotary applies it)",
        factor, factor == 0 ? ", not given" : "");
  check_runs_here();
  const DefaultFloatingPoint environment;
  return make_encoder(spec);
}

Promise promise_of(const Encoder& encoder, RowRange rows, DataType type) {
  return {encoder.error_bound(rows, type), encoder.ulp_bound(rows, type),
          encoder.backend().is_correctly_rounded(type)};
}

Accuracy Accuracy::within(double error) {
  check_positive("max_error", error);
  return {Measure::absolute, error};
}

Accuracy Accuracy::within_ulp(double ulp) {
  check_positive("max_ulp", ulp);
  return {Measure::ulp, ulp};
}

bool Accuracy::is_kept_by(const Promise& promise) const noexcept {
  if (measure_ == Measure::correctly_rounded) return promise.is_correctly_rounded;
  return (measure_ == Measure::absolute ? promise.max_abs : promise.max_ulp) <= most_;
}

std::string to_string(const Accuracy& accuracy) {
  if (accuracy.measure() == Accuracy::Measure::correctly_rounded) return "correctly rounded";
  const bool is_ulp = accuracy.measure() == Accuracy::Measure::ulp;
  return format_text("within {}{}", accuracy.most(), is_ulp ? " ulp" : "");
}

}  // namespace posenc
