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
  switch (measure_) {
    case Measure::correctly_rounded: return promise.is_correctly_rounded;
    case Measure::absolute: return promise.max_abs <= most_;
    case Measure::ulp: break;
  }
  return promise.max_ulp <= most_;
}

std::string to_string(const Accuracy& accuracy) {
  switch (accuracy.measure()) {
    case Accuracy::Measure::correctly_rounded: return "correctly rounded";
    case Accuracy::Measure::absolute: return format_text("within {}", accuracy.most());
    case Accuracy::Measure::ulp: break;
  }
  return format_text("within {} ulp", accuracy.most());
}

}  // namespace posenc
