#include "posenc/exact/entry.h"

#include "posenc/exact/sincos.h"

namespace posenc::detail {
namespace {

/// True if the frequency is not 0 and below 2^-100 radians per position. Modulo 1, a frequency in
/// turns may be negative. Note that 2^-103 < 2^-100 / (2 pi).
bool is_below_range(const Turns& turns) noexcept {
  const Turns magnitude = turns.limb[0] >> 63 != 0 ? Turns{} - turns : turns;
  return !is_zero(turns) && less(magnitude, power_of_2<4>(-103));
}

}  // namespace

RoundedEntry rounded_entry(const Frequencies& frequencies, std::int64_t k, std::int64_t position,
                           bool is_cosine, DataType type, EntryPrecision precision) noexcept {
  const auto value = [&](const auto& phase) { return is_cosine ? cosine(phase) : sine(phase); };
  if (const auto quarters = frequencies.whole_quarters(k, position)) {
    const Turns exact = {{std::uint64_t{*quarters} << 62}};
    return {round_to_bits(value(exact), type, no_error), false};
  }
  const Rounded first = round_to_bits(value(frequencies.phase(k, position)), type,
                                      Frequencies::log2_phase_error(position), -precision.first);
  if (first.is_certain || (type == DataType::float64 && is_below_range(frequencies[k])))
    return {first, false};
  const Widest phase = frequencies.widest(k) * static_cast<std::uint64_t>(position);
  return {round_to_bits(value(phase), type, -precision.second, no_error), true};
}

}  // namespace posenc::detail
