#include "posenc/backends/shared_values.h"

namespace posenc::detail {

bool have_equal_frequencies(const EncodingSpec& a, const EncodingSpec& b) {
  return a.d_model == b.d_model && a.base == b.base && a.spacing == b.spacing &&
         a.frequencies == b.frequencies;
}

std::shared_ptr<const Frequencies> shared_frequencies(const EncodingSpec& spec) {
  return shared_values<Frequencies>().get(spec, {}, spec);
}

}  // namespace posenc::detail
