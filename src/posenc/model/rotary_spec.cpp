#include "posenc/model/rotary_spec.h"

#include "posenc/support/format.h"

namespace posenc {

void validate(const RotarySpec& spec) {
  validate(spec.angles);
  if (spec.attention_factor >= 0x1p-20 && spec.attention_factor <= 0x1p20) return;
  throw InvalidArgument(format_text("attention_factor is {}; allowed: {} to {}",
                                    spec.attention_factor, 0x1p-20, 0x1p20));
}

RotarySpec rotary_spec(const EncodingSpec& spec, RotaryLayout channels) {
  validate(spec);
  const double factor = attention_factor(spec.frequencies);
  if (factor == 0) {
    throw InvalidArgument("attention_factor is 0, not given; allowed: greater than 0, 1 for none");
  }
  EncodingSpec angles = spec;
  angles.frequencies = without_attention_factor(spec.frequencies);
  return {.angles = one_axis(angles), .channels = channels, .attention_factor = factor};
}

}  // namespace posenc
