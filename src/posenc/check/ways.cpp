#include "posenc/check/ways.h"

#include "posenc/check/columns.h"
#include "posenc/exact/float32_phases.h"
#include "posenc/suite/statistics.h"
#include "posenc/support/with_type.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace posenc::check {
inline namespace internals {

using namespace suite;
namespace {

constexpr Rounding none = Rounding::none, f32 = Rounding::float32, bf16 = Rounding::bfloat16,
                   f16 = Rounding::float16;

double rounded(double value, Rounding to) noexcept {
  switch (to) {
    case Rounding::none: break;
    case Rounding::float32: return to_double(static_cast<float>(value));
    case Rounding::bfloat16: return to_double(nearest<BFloat16>(value));
    case Rounding::float16: return to_double(nearest<Float16>(value));
    case Rounding::truncated: {
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
      return to_double(std::bit_cast<float>(bits & 0xffff0000U));
    }
    case Rounding::thousandths: return rounded(rounded(value / 1000, bf16) * 1000, bf16);
    case Rounding::int8: return static_cast<std::int8_t>(static_cast<std::int64_t>(value));
    case Rounding::int16: return static_cast<std::int16_t>(static_cast<std::int64_t>(value));
    case Rounding::int32: return static_cast<std::int32_t>(static_cast<std::int64_t>(value));
  }
  return value;
}

// The list of ways: how a frequency is computed, and how its parts are rounded.

/// The operands of a frequency w_k = base^(-k / h). Each operation is rounded.
struct Operands {
  double base, k, h;
  Rounding rounding;

  double r(double value) const noexcept { return rounded(value, rounding); }
  double step() const noexcept { return r(-std::log(base) / h); }
  double power() const noexcept { return r(std::pow(r(base), r(k / h))); }
};

/// A formula of frequencies.
struct FrequencyForm {
  const char* text;
  bool divides;
  double (*of)(const Operands& o);  ///< null: each frequency is the one before times a step
};

constexpr FrequencyForm forms[] = {
    {", of frequencies that are rounded once", false,
     [](const Operands& o) { return o.r(std::pow(o.base, -o.k / o.h)); }},
    {", as PyTorch's tutorial, tensor2tensor and fairseq compute them", false,
     [](const Operands& o) { return o.r(std::exp(o.r(o.k * o.step()))); }},
    {", of exp(k * step), where the step is a number and not a tensor", false,
     [](const Operands& o) {
       const double step = rounded(-std::log(o.base) / o.h, f32);
       return o.r(std::exp(o.r(o.r(o.k) * step)));
     }},
    {", as Transformers and vLLM compute them", false,
     [](const Operands& o) { return o.r(1 / o.power()); }},
    {": the position divided by a power of the base", true,
     [](const Operands& o) { return o.power(); }},
    {", of exp(-ln(base) * k / h), multiplied, then divided, as diffusers computes them", false,
     [](const Operands& o) { return o.r(std::exp(o.r(o.r(o.r(-std::log(o.base)) * o.k) / o.h))); }},
    {", of base ** (-k / h)", false,
     [](const Operands& o) { return o.r(std::pow(o.r(o.base), o.r(-o.k / o.h))); }},
    {", of exp(-k / h * ln(base))", false,
     [](const Operands& o) { return o.r(std::exp(o.r(o.r(-o.k / o.h) * o.r(std::log(o.base))))); }},
    {", of exp2(-k / h * log2(base))", false,
     [](const Operands& o) {
       return o.r(std::exp2(o.r(o.r(-o.k / o.h) * o.r(std::log2(o.base)))));
     }},
    {", of (1 / base) ** (k / h), as KerasHub computes them", false,
     [](const Operands& o) { return o.r(std::pow(o.r(1 / o.base), o.r(o.k / o.h))); }},
    {", of 1 / exp(k * ln(base) / h)", false,
     [](const Operands& o) { return o.r(1 / o.r(std::exp(o.r(o.k * -o.step())))); }},
    {": the position divided by exp(k * ln(base) / h)", true,
     [](const Operands& o) { return o.r(std::exp(o.r(o.k * -o.step()))); }},
    {", of 10 ** (-k / h * log10(base))", false,
     [](const Operands& o) {
       return o.r(std::pow(10.0, o.r(o.k * o.r(-std::log10(o.base) / o.h))));
     }},
    {", of frequencies multiplied from channel to channel", false, nullptr},
};

constexpr const FrequencyForm& transformers_form = forms[3];

/// The operands of these frequencies, in ascending order, with the base in `o`.
std::vector<FrequencyOperand> operands_of(const FrequencyForm& form, Operands o, double scale,
                                          const std::vector<std::int64_t>& frequencies) {
  std::vector<FrequencyOperand> all;
  const double step = o.r(std::pow(o.r(o.base), o.r(-1 / o.h)));
  double product = 1;
  std::int64_t factors = 0;
  for (const std::int64_t k : frequencies) {
    o.k = static_cast<double>(k);
    for (; form.of == nullptr && factors < k; ++factors) product = o.r(product * step);
    const double operand = form.of != nullptr ? form.of(o) : product;
    all.push_back({k, form.divides ? o.r(operand * o.r(scale)) : o.r(operand / o.r(scale))});
  }
  return all;
}

/// The rounding of each part of a phase. The frequency is computed in `arithmetic`.
struct Precision {
  CauseKind kind;
  const char* text;
  Rounding arithmetic, frequency, position, product;
};

constexpr auto frequency_cause = CauseKind::narrow_frequencies,
               position_cause = CauseKind::narrow_positions, phase_cause = CauseKind::narrow_phases;

constexpr Precision precisions[] = {
    {CauseKind::float32_phases, "phases in float32", f32, f32, f32, f32},
    {frequency_cause, "frequencies in bfloat16", f32, bf16, f32, f32},
    {frequency_cause, "frequencies truncated to bfloat16", f32, Rounding::truncated, f32, f32},
    {position_cause, "positions in bfloat16", f32, f32, bf16, f32},
    {phase_cause, "phases in bfloat16", f32, f32, f32, bf16},
    {phase_cause, "positions and frequencies in bfloat16", f32, bf16, bf16, f32},
    {phase_cause, "positions, frequencies and phases in bfloat16", f32, bf16, bf16, bf16},
    {frequency_cause, "frequencies computed in bfloat16", bf16, bf16, f32, f32},
    {phase_cause, "frequencies computed in bfloat16, and phases", bf16, bf16, bf16, bf16},
    {frequency_cause, "frequencies in float16", f32, f16, f32, f32},
    {position_cause, "positions in float16", f32, f32, f16, f32},
    {phase_cause, "phases in float16", f32, f32, f32, f16},
    {phase_cause, "positions and frequencies in float16", f32, f16, f16, f32},
    {phase_cause, "positions, frequencies and phases in float16", f32, f16, f16, f16},
    {frequency_cause, "frequencies computed in float16", f16, f16, f32, f32},
    {phase_cause, "frequencies computed in float16, and phases", f16, f16, f16, f16},
    {frequency_cause, "frequencies in float32", f32, f32, none, none},
    {position_cause, "timesteps in thousandths in bfloat16", f32, f32, Rounding::thousandths, f32},
    {position_cause, "positions that wrap at 8 bits", f32, f32, Rounding::int8, f32},
    {position_cause, "positions that wrap at 16 bits", f32, f32, Rounding::int16, f32},
    {position_cause, "positions that wrap at 32 bits", f32, f32, Rounding::int32, f32},
    {position_cause, "positions that wrap at 8 bits, with phases in double", none, none,
     Rounding::int8, none},
    {position_cause, "positions that wrap at 16 bits, with phases in double", none, none,
     Rounding::int16, none},
    {position_cause, "positions that wrap at 32 bits, with phases in double", none, none,
     Rounding::int32, none},
    {position_cause, "positions in bfloat16, with phases in double", none, none, bf16, none},
    {position_cause, "positions in float16, with phases in double", none, none, f16, none}};

// The bits that a way leaves open.

/// The bits that one entry leaves open. An error of a few 2^-53 in the phase counts as near.
double open_bits(const SampledTable& sample, std::size_t index, std::int64_t position,
                 double value) noexcept {
  const double entry = sample.got[index];
  const double near =
      with_type(sample.type, [&]<class T>(T) { return to_double(nearest<T>(value)); });
  if (entry == near || (!std::isfinite(entry) && !std::isfinite(near))) return 0;
  const double of_phase = 0x1p-52 * (std::fabs(static_cast<double>(position)) + 1);
  const double ulp = 2 * half_ulp_of_one(sample.type) * std::fabs(value),
               noise = sample.noise.empty() ? 0 : sample.noise[index];
  const double off = std::fabs(entry - value) / std::max({ulp, of_phase, noise});
  return off < 0x1p24 ? std::log2(1 + off) : most_open_bits;
}

/// The bits that the sample leaves open if its entries should be value_of(entry). Stops as soon as
/// they exceed the limit.
template <class ValueOf>
double open_bits(const SampledTable& sample, const TableIdentity& identity, std::size_t rows,
                 double limit, const ValueOf& value_of) {
  double bits = 0;
  for_each_entry(sample, identity, rows, [&](const SampledEntry& entry) {
    bits += open_bits(sample, entry.index, entry.position, value_of(entry));
    return bits <= limit;
  });
  return bits;
}

// Rows computed in float32 from the rows before.

/// A cosine and a sine.
using Pair = std::complex<float>;

/// A recurrence from row to row.
struct RowRecurrence {
  const char* text;
  Pair (*next)(Pair now, Pair before, Pair step);
};

constexpr RowRecurrence row_recurrences[] = {
    {"rows rotated from row to row in float32, never re-anchored",
     [](Pair now, Pair, Pair step) { return now * step; }},
    {"rows rotated from row to row in float32 with fused operations, never re-anchored",
     [](Pair now, Pair, Pair step) {
       return Pair(std::fma(now.real(), step.real(), -(now.imag() * step.imag())),
                   std::fma(now.imag(), step.real(), now.real() * step.imag()));
     }},
    {"rows from the two before by a recurrence in float32, never re-anchored",
     [](Pair now, Pair before, Pair step) { return 2 * step.real() * now - before; }}};

/// The values that the recurrence gives for the sample, in its order. Empty if they leave more bits
/// open than the limit, which the first columns show for most recurrences.
std::vector<double> values_of(const RowRecurrence& recurrence, const Way& way,
                              const SampledTable& sample, const TableIdentity& identity,
                              double limit) {
  std::vector<std::pair<std::int64_t, std::size_t>> rows;  // in ascending order, with their places
  for (const std::int64_t row : sample.rows) rows.emplace_back(row, rows.size());
  std::ranges::sort(rows);
  std::vector<double> values(sample.got.size());
  double bits = 0;
  for (std::size_t column = 0; column < sample.columns.size(); ++column) {
    const auto [k, is_cosine] =
        content_of(identity.arrangement, sample.table.columns, sample.columns[column]);
    const auto pair_at = [&, k = k](std::int64_t position) {
      const double phase = way.phase(k, position);
      return Pair(static_cast<float>(std::cos(phase)), static_cast<float>(std::sin(phase)));
    };
    const Pair step = pair_at(identity.step);
    Pair now = pair_at(identity.position(0)), before = pair_at(identity.position(-1));
    const double sign = !is_cosine && identity.has_negated_sines ? -1 : 1;
    std::int64_t reached = 0;
    for (const auto& [row, place] : rows) {
      for (; reached < row; ++reached)
        before = std::exchange(now, recurrence.next(now, before, step));
      const std::size_t index = place * sample.columns.size() + column;
      values[index] =
          sign * identity.factor * static_cast<double>(is_cosine ? now.real() : now.imag());
      bits += open_bits(sample, index, identity.position(row), values[index]);
    }
    if (bits > limit) return {};
  }
  return values;
}

/// All ways to compute these frequencies of the spec, which are in ascending order. `exact` holds
/// the values of all frequencies. The first way is exact. Each way is listed once more for each
/// rounding in `entries`.
std::vector<Way> ways_of(const EncodingSpec& spec, const std::vector<double>& exact,
                         const std::vector<std::int64_t>& frequencies,
                         const std::vector<Rounding>& entries) {
  const auto denominator = static_cast<double>(exponent_denominator(spec));
  const auto* const linear = std::get_if<LinearScaling>(&spec.frequencies);
  const double scale = linear != nullptr ? linear->factor : 1;
  const auto operands_from = [&](const auto& operand_of) {
    std::vector<FrequencyOperand> operands;
    for (const std::int64_t k : frequencies)
      operands.push_back({k, operand_of(static_cast<std::size_t>(k))});
    return operands;
  };
  const auto exact_operands = operands_from([&](std::size_t k) { return exact[k]; });
  std::vector<Way> all(1);
  all[0].is_exact = true;
  all[0].operands = exact_operands;
  for (const Precision& precision : precisions) {
    double bits = 3;
    for (const Rounding part :
         {precision.arithmetic, precision.frequency, precision.position, precision.product})
      bits += part != none && part != f32 ? 3 : 0;
    const auto first = std::ssize(all);
    const auto add = [&](const FrequencyForm& form, std::vector<FrequencyOperand> operands) {
      bits += 0.25;
      // Skip forms whose operands equal those of another form at this precision.
      for (FrequencyOperand& each : operands)
        each.operand = rounded(each.operand, precision.frequency);
      if (std::any_of(all.begin() + first, all.end(), [&](const Way& way) {
            return way.divides == form.divides && way.operands == operands;
          }))
        return;
      const bool says_form = precision.kind == CauseKind::float32_phases;
      const std::string text = precision.text + std::string(says_form ? form.text : "");
      all.push_back({precision.kind, text, bits, std::move(operands), form.divides,
                     precision.position, precision.product});
    };
    if (linear == nullptr && !is_base(spec.frequencies)) {
      const std::vector<float> theirs = transformers_frequencies(spec);
      if (spec.spacing == Spacing::paper && !theirs.empty() && precision.arithmetic == f32)
        add(transformers_form, operands_from([&](std::size_t k) { return theirs[k]; }));
      add(forms[0], exact_operands);
      continue;
    }
    for (const FrequencyForm& form : forms) {
      add(form,
          operands_of(form, {spec.base, 0, denominator, precision.arithmetic}, scale, frequencies));
      if (precision.arithmetic == none) break;
    }
  }
  // Only ggml uses this way, for heads of at most 512 channels. Each entry takes one product for
  // each frequency before its own.
  constexpr std::size_t most_pairs = 1024;
  if (exact.size() <= most_pairs) {
    // The products are divided by the factors of the rule.
    auto factors = operands_from([&](std::size_t k) {
      return rounded(std::pow(spec.base, -static_cast<double>(k) / denominator) / exact[k], f32);
    });
    const double step = rounded(std::pow(spec.base, -1 / denominator), f32);
    all.push_back({CauseKind::channel_recurrence,
                   "phases multiplied from channel to channel in float32, as in ggml's rope cache",
                   8, std::move(factors), true, f32, f32, none, step});
  }
  const std::size_t count = all.size();
  for (const Rounding entry : entries) {
    for (std::size_t i = 0; i < count; ++i) {
      Way& other = all.emplace_back(Way(all[i]));
      other.entry = entry;
      other.bits += 2;
      if (entry == Rounding::truncated) continue;  // another cause names it
      const std::string type = entry == bf16 ? "bfloat16" : "float16";
      if (other.is_exact) other.kind = CauseKind::narrow_entries;
      other.text += (other.is_exact ? "" : ", and ") + ("cosines and sines in " + type);
      other.is_exact = false;
    }
  }
  return all;
}

}  // namespace

double Way::phase(std::int64_t k, std::int64_t at) const noexcept {
  double phase = rounded(static_cast<double>(at), position);
  for (std::int64_t i = 0; step != 0 && i < k; ++i) phase = rounded(phase * step, product);
  const double operand =
      std::ranges::lower_bound(operands, k, {}, &FrequencyOperand::frequency)->operand;
  return rounded(divides ? phase / operand : phase * operand, product);
}

double Way::value(const SampledEntry& of) const noexcept {
  return rounded(of.value_at(phase(of.k, of.position)), entry);
}

double open_bits_of(const SampledTable& sample, const TableIdentity& identity,
                    const std::vector<double>& frequencies, double limit) {
  return open_bits(sample, identity, sample.rows.size(), limit, [&](const SampledEntry& entry) {
    return entry.value_at(entry.phase(frequencies));
  });
}

std::vector<Way> explain(const SampledTable& sample, const TableIdentity& identity,
                         std::size_t rows, bool may_be_recurrence) {
  constexpr double tie = 1;
  const std::vector<double> frequencies = frequencies_of(identity.spec);
  std::vector<Way> found;
  double least = infinity;
  const auto consider = [&](const Way& way, const auto& value_of) {
    const double bits =
        way.bits + open_bits(sample, identity, rows, least + tie - way.bits, value_of);
    if (bits > least + tie) return;
    least = std::min(least, bits);
    Way& each = found.emplace_back(way);
    each.bits = bits;
    double off = 0;
    for_each_entry(sample, identity, rows, [&](const SampledEntry& entry) {
      const double value = value_of(entry);
      each.share += open_bits(sample, entry.index, entry.position, value) == 0;
      const double phase = entry.phase(frequencies), exact = entry.value_at(phase);
      // Measured entries come from float32 cosines and sines.
      const DataType type = sample.noise.empty() ? sample.type : DataType::float32;
      const double limit =
          allowed_error(type, identity.factor, phase) + sample.noise_limit(entry.index);
      if (std::fabs(entry.got - exact) <= limit) return true;
      ++off;
      // Sines of different libraries differ by an ulp or two.
      each.explained += std::fabs(entry.got - value) <= 4 * limit;
      return true;
    });
    each.explained = off > 0 ? each.explained / off : 1;
    each.share /= static_cast<double>(std::min(rows, sample.rows.size()) * sample.columns.size());
  };
  std::vector<Rounding> entries;
  if (!sample.noise.empty()) entries = {bf16, f16};
  if (sample.type == DataType::bfloat16 && sample.table.type != DataType::bfloat16)
    entries = {Rounding::truncated};
  std::set<std::int64_t> sampled;
  for (const std::int64_t column : sample.columns)
    sampled.insert(content_of(identity.arrangement, sample.table.columns, column).k);
  const std::vector<Way> ways =
      ways_of(identity.spec, frequencies, {sampled.begin(), sampled.end()}, entries);
  for (const Way& way : ways) {
    consider(way, [&](const SampledEntry& of) { return way.value(of); });
  }
  // Try recurrences with the most usual frequencies only.
  constexpr std::size_t most_usual = 4;
  may_be_recurrence = may_be_recurrence && identity.positions.empty();
  for (std::size_t i = 0; may_be_recurrence && i < std::min(ways.size(), most_usual); ++i) {
    if (ways[i].divides) break;
    for (const RowRecurrence& each : row_recurrences) {
      const Way way = {.kind = CauseKind::row_recurrence, .text = each.text, .bits = 8};
      const std::vector<double> values =
          values_of(each, ways[i], sample, identity, least + tie - way.bits);
      if (values.empty()) continue;
      consider(way, [&](const SampledEntry& entry) { return values[entry.index]; });
    }
  }
  std::erase_if(found, [&](const Way& each) { return each.bits > least + tie; });
  std::ranges::sort(found, {}, &Way::bits);
  return found;
}

}  // namespace internals
}  // namespace posenc::check
