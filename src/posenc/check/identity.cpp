#include "posenc/check/identity.h"

#include "posenc/support/format.h"

#include <cmath>

namespace posenc::check {

EncodingSpec shown_spec(const TableIdentity& is) {
  EncodingSpec spec = is.spec;
  if (is.odd_width == 0) return spec;
  const auto width = static_cast<double>(is.odd_width);
  spec.d_model = is.odd_width;
  if (spec.spacing == Spacing::paper) spec.base = std::pow(spec.base, width / (width + 1));
  // Powers and roots are rounded. If a base of at most 12 digits is within 1e-14, it is meant.
  const double few_digits = parse_real(digits_text(spec.base, 12)).value_or(spec.base);
  if (std::fabs(few_digits / spec.base - 1) < 1e-14) spec.base = few_digits;
  return spec;
}

}  // namespace posenc::check
