#include "posenc/backends/vectorised.h"

#include <algorithm>
#include <cstddef>

namespace posenc::detail {

simd::Columns columns_of(const EncodingSpec& spec) noexcept {
  const ChannelPair first = channels_of(spec, 0);
  return {spec.layout == Layout::interleaved, first.sine, first.cosine};
}

void write_row_0(const EncodingSpec& spec, const RowTask& task) noexcept {
  const simd::Columns columns = columns_of(spec);
  const std::int64_t frequencies = spec.d_model / 2;
  with_type(task.type, [&]<class T>(T) {
    T* const row = task.row<T>(0);
    const T zero = nearest<T>(0.0), one = nearest<T>(1.0);
    if (columns.interleaved) {
      for (std::int64_t k = 0; k < frequencies; ++k) {
        row[2 * k] = zero;
        row[2 * k + 1] = one;
      }
    } else {
      std::fill_n(row + columns.sine, frequencies, zero);
      std::fill_n(row + columns.cosine, frequencies, one);
    }
  });
}

FrequencyTables::FrequencyTables(const Frequencies& frequencies)
    : high_(static_cast<std::size_t>((frequencies.count() + simd::padding - 1) / simd::padding *
                                     simd::padding)),
      low_(high_.size()),
      quarter_turns_(high_.size()),
      rest_(high_.size()) {
  for (std::size_t k = 0; k < static_cast<std::size_t>(frequencies.count()); ++k) {
    const Turns& turns = frequencies[static_cast<std::int64_t>(k)];
    high_[k] = turns.limb[0];
    low_[k] = turns.limb[1];
    const FrequencyDoubles doubles = frequency_doubles(this->turns(k));
    quarter_turns_[k] = doubles.quarter_turns;
    rest_[k] = doubles.rest;
  }
}

FrequencyDoubles frequency_doubles(uint128 turns) noexcept {
  // Of a turn or its complement, whichever is shorter, so that nothing overflows.
  const bool is_negative = turns >> 127 != 0;
  const uint128 magnitude = is_negative ? -turns : turns;
  const auto rounded = static_cast<double>(magnitude);
  const uint128 lacking = magnitude - static_cast<uint128>(rounded);  // modulo 2^128
  const double rest =
      lacking >> 127 != 0 ? -static_cast<double>(-lacking) : static_cast<double>(lacking);
  constexpr double two_pi = 6.283185307179586;
  const double sign = is_negative ? -1 : 1;
  return {sign * rounded * 0x1p-126, sign * rest * 0x1p-128 * two_pi};
}

}  // namespace posenc::detail
