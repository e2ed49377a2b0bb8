#include "posenc/accuracy.h"

#include "posenc/backend.h"
#include "posenc/encoder.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"

namespace posenc {

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
