#include "posenc/suite/checking/ways.h"

#include "posenc/exact/float32_phases.h"
#include "posenc/suite/checking/conventions.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

namespace posenc::suite {
namespace {

constexpr Rounding none = Rounding::none, f32 = Rounding::float32, bf16 = Rounding::bfloat16,
                   f16 = Rounding::float16;

/// A way to compute the phases of a spec.
struct Way {
  Explanation what;
  std::vector<double> operands;
  bool divides = false;  ///< the position by the operand
  Rounding position = none, product = none;
  std::optional<double> step = {};  ///< of products from channel to channel

  double phase(std::int64_t k, std::int64_t at) const noexcept {
    double phase = rounded(static_cast<double>(at), position);
    if (step)
      for (std::int64_t i = 0; i < k; ++i) phase = rounded(phase * *step, product);
    const double operand = operands[static_cast<std::size_t>(k)];
    return rounded(divides ? phase / operand : phase * operand, product);
  }
  double operator()(const SampledEntry& entry) const noexcept {
    return entry.value_at(phase(entry.k, entry.position));
  }
};

// The list: how a frequency is computed, and how its parts are rounded.

/// What a frequency is computed from: w_k = base^(-k / h), each operation rounded.
struct Operands {
  double base, k, h;
  Rounding rounding;

  double r(double value) const noexcept { return rounded(value, rounding); }
  double step() const noexcept { return r(-std::log(base) / h); }
  double power() const noexcept { return r(std::pow(r(base), r(k / h))); }
};

struct FrequencyForm {
  const char* text;
  bool divides;
  double (*of)(const Operands& o);
};

constexpr FrequencyForm forms[] = {
    {", of frequencies that are rounded once", false,
     [](const Operands& o) { return o.r(std::pow(o.base, -o.k / o.h)); }},
    {", as PyTorch's tutorial computes them", false,
     [](const Operands& o) { return o.r(std::exp(o.r(o.k * o.step()))); }},
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
    {", of frequencies multiplied from channel to channel", false,
     [](const Operands& o) {
       const double step = o.r(std::pow(o.r(o.base), o.r(-1 / o.h)));
       double w = 1;
       for (double i = 0; i < o.k; ++i) w = o.r(w * step);
       return w;
     }},
};

/// Which parts of a phase are rounded, after the arithmetic of the frequency.
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
    {position_cause, "positions that wrap at 8 bits, with phases in double", none, none,
     Rounding::int8, none}};

/// All ways. One whose operands another one of its precision has is left out.
class Ways {
 public:
  explicit Ways(const EncodingSpec& spec) : spec_(spec), exact_(frequencies_of(spec)) {
    const auto* const linear = std::get_if<LinearScaling>(&spec.frequencies);
    scale_ = linear != nullptr ? linear->factor : 1;
    has_forms_ = linear != nullptr || is_base(spec.frequencies);
  }

  std::vector<Way> all() && {
    Way exact = {.what = Explanation(), .operands = exact_};
    exact.what.is_exact = true;
    all_.push_back(std::move(exact));
    for (const Precision& each : precisions) add(each);
    add_ggml();
    return std::move(all_);
  }

 private:
  void add(const Precision& precision) {
    const std::size_t first = all_.size();
    double form_bits = 3;
    for (const Rounding part :
         {precision.arithmetic, precision.frequency, precision.position, precision.product})
      form_bits += part != none && part != f32 ? 3 : 0;
    const auto push = [&](const char* whose, bool divides, std::vector<double> operands) {
      form_bits += 0.25;
      for (double& each : operands) each = rounded(each, precision.frequency);
      const auto is_same = [&](const Way& way) {
        return way.divides == divides && way.operands == operands;
      };
      if (std::any_of(all_.begin() + static_cast<std::ptrdiff_t>(first), all_.end(), is_same))
        return;
      const bool says_whose = precision.kind == CauseKind::float32_phases;
      all_.push_back({.what = {.kind = precision.kind,
                               .text = precision.text + std::string(says_whose ? whose : ""),
                               .way_bits = form_bits},
                      .operands = std::move(operands),
                      .divides = divides,
                      .position = precision.position,
                      .product = precision.product});
    };
    if (!has_forms_) {
      if (has_transformers_rule() && precision.arithmetic == f32) {
        const std::vector<float> theirs = Float32Phases::transformers(spec_).frequencies();
        push(forms[2].text, false, {theirs.begin(), theirs.end()});
      }
      return push(forms[0].text, false, exact_);
    }
    for (const FrequencyForm& form : forms) {
      std::vector<double> operands;
      for (std::size_t k = 0; k < exact_.size(); ++k) {
        const Operands o = {spec_.base, static_cast<double>(k),
                            static_cast<double>(exponent_denominator(spec_)), precision.arithmetic};
        operands.push_back(form.divides ? o.r(form.of(o) * o.r(scale_))
                                        : o.r(form.of(o) / o.r(scale_)));
      }
      const bool is_tensor2tensor = &form == &forms[1] && spec_.spacing == Spacing::inclusive;
      push(is_tensor2tensor ? ", as tensor2tensor and fairseq compute them" : form.text,
           form.divides, std::move(operands));
      if (precision.arithmetic == none) break;
    }
  }

  /// Multiplied from channel to channel, then divided by the factors of the rule.
  void add_ggml() {
    if (spec_.spacing != Spacing::paper ||
        std::holds_alternative<OwnFrequencies>(spec_.frequencies))
      return;
    const double step = std::pow(spec_.base, -2.0 / static_cast<double>(spec_.d_model));
    std::vector<double> factors;
    for (std::size_t k = 0; k < exact_.size(); ++k) {
      const double unscaled =
          std::pow(spec_.base, -2.0 * static_cast<double>(k) / static_cast<double>(spec_.d_model));
      factors.push_back(rounded(scale_ == 1 ? unscaled / exact_[k] : 1 / scale_, f32));
    }
    all_.push_back(
        {.what = {.kind = CauseKind::channel_recurrence,
                  .text = "phases multiplied from channel to channel in float32, as in ggml's "
                          "rope cache",
                  .way_bits = 8},
         .operands = std::move(factors),
         .divides = scale_ == 1,
         .position = f32,
         .product = f32,
         .step = rounded(step, f32)});
  }

  bool has_transformers_rule() const {
    return spec_.spacing == Spacing::paper &&
           (std::holds_alternative<NtkScaling>(spec_.frequencies) ||
            std::holds_alternative<YarnScaling>(spec_.frequencies) ||
            std::holds_alternative<Llama3Scaling>(spec_.frequencies));
  }

  const EncodingSpec& spec_;
  std::vector<double> exact_;
  double scale_;
  bool has_forms_;
  std::vector<Way> all_;
};

// What a way leaves open.

/// How entries are rounded, and the bits that it takes to say it.
struct EntryRounding {
  Rounding to;
  double bits;
};
constexpr EntryRounding entry_roundings[] = {
    {none, 0}, {f32, 1}, {bf16, 4}, {Rounding::truncated, 6}, {f16, 4}};

using Bits = std::array<double, std::size(entry_roundings)>;

double least_of(const Bits& bits) noexcept { return *std::min_element(bits.begin(), bits.end()); }

/// The bits that are open if the entries are value_of(entry). Stops where the least exceeds the
/// limit.
template <class ValueOf>
Bits open_bits_of(const Sample& sample, const TableIdentity& identity, std::size_t rows,
                  double limit, const ValueOf& value_of) {
  Bits bits;
  std::ranges::transform(entry_roundings, bits.begin(), &EntryRounding::bits);
  for_each_entry(sample, identity, rows, [&](const SampledEntry& entry) {
    const double value = value_of(entry);
    for (std::size_t e = 0; e < bits.size(); ++e)
      bits[e] +=
          open_bits(entry.got, rounded(value, entry_roundings[e].to), sample.type, entry.position);
    return least_of(bits) <= limit;
  });
  return bits;
}

// Rows that come of those before, in float32.

struct Pair {
  float sine, cosine;

  explicit Pair(double phase)
      : Pair(static_cast<float>(std::sin(phase)), static_cast<float>(std::cos(phase))) {}
  Pair(float s, float c) : sine(s), cosine(c) {}
};

struct RowRecurrence {
  const char* text;
  Pair (*next)(Pair a, Pair before, Pair step);
};

constexpr RowRecurrence row_recurrences[] = {
    {"rows rotated from row to row in float32, never re-anchored",
     [](Pair a, Pair, Pair b) {
       return Pair(a.sine * b.cosine + a.cosine * b.sine, a.cosine * b.cosine - a.sine * b.sine);
     }},
    {"rows rotated from row to row in float32 with fused operations, never re-anchored",
     [](Pair a, Pair, Pair b) {
       return Pair(std::fma(a.sine, b.cosine, a.cosine * b.sine),
                   std::fma(a.cosine, b.cosine, -(a.sine * b.sine)));
     }},
    {"rows from the two before by a recurrence in float32, never re-anchored",
     [](Pair a, Pair before, Pair b) {
       return Pair(2 * b.cosine * a.sine - before.sine, 2 * b.cosine * a.cosine - before.cosine);
     }}};

/// The entries of the sample, in its order.
std::vector<double> values_of(const RowRecurrence& recurrence, const Way& way, const Sample& sample,
                              const TableIdentity& identity) {
  // By frequency and row, so that each frequency is followed from row 0 to the last one once.
  std::map<std::int64_t, std::multimap<std::int64_t, SampledEntry>> entries;
  for_each_entry(sample, identity, sample.rows.size(), [&](const SampledEntry& entry) {
    entries[entry.k].emplace(sample.rows[entry.index / sample.columns.size()], entry);
    return true;
  });
  std::vector<double> values(sample.got.size());
  for (const auto& [k, of_rows] : entries) {
    const auto at = [&, k = k](std::int64_t row) {
      return Pair(way.phase(k, identity.position(row)));
    };
    Pair now = at(0), before = at(-1);
    const Pair step(way.phase(k, identity.step));
    std::int64_t row = 0;
    for (const auto& [wanted, entry] : of_rows) {
      for (; row < wanted; ++row) before = std::exchange(now, recurrence.next(now, before, step));
      values[entry.index] = entry.scale * (entry.is_cosine ? now.cosine : now.sine);
    }
  }
  return values;
}

/// How many entries have the bits of the functions, and how far the others are.
template <class ValueOf>
void set_share(Explanation& explained, const Sample& sample, const TableIdentity& identity,
               const ValueOf& value_of) {
  std::size_t equal = 0;
  std::vector<double> ulps;
  for_each_entry(sample, identity, sample.rows.size(), [&](const SampledEntry& entry) {
    const double value = rounded(value_of(entry), explained.entries);
    equal += open_bits(entry.got, value, sample.type, entry.position) == 0;
    ulps.push_back(std::fabs(entry.got - value) / (2 * half_ulp_of_one(sample.type)));
    return true;
  });
  explained.share = static_cast<double>(equal) / static_cast<double>(sample.got.size());
  const auto at = ulps.begin() + static_cast<std::ptrdiff_t>(ulps.size() * 99 / 100);
  std::nth_element(ulps.begin(), at, ulps.end());
  explained.most_ulps = *at;
}

}  // namespace

std::vector<std::int64_t> scattered(std::int64_t count, std::int64_t most) {
  constexpr double golden = 0.6180339887498949;
  std::vector<std::int64_t> all;
  std::vector<bool> has(static_cast<std::size_t>(count));
  const auto add = [&](std::int64_t i) {
    if (i < 0 || i >= count || has[static_cast<std::size_t>(i)]) return;
    has[static_cast<std::size_t>(i)] = true;
    all.push_back(i);
  };
  const std::int64_t wanted = std::min(count, most);
  for (std::int64_t i = 0; i < 4 && std::ssize(all) < wanted; ++i) add(i);
  if (std::ssize(all) < wanted) add(count - 1);
  for (std::int64_t i = 1; std::ssize(all) < wanted && i < 4 * wanted; ++i) {
    const double share = golden * static_cast<double>(i);
    add(static_cast<std::int64_t>((share - std::floor(share)) * static_cast<double>(count)));
  }
  for (std::int64_t i = 0; std::ssize(all) < wanted; ++i) add(i);
  return all;
}

Sample::Sample(const TableView& table, const std::vector<bool>& is_unset)
    : type(table.type), table_columns(table.columns) {
  std::vector<std::int64_t> set;
  for (std::int64_t row = 0; row < table.rows; ++row)
    if (!is_unset[static_cast<std::size_t>(row)]) set.push_back(row);
  for (const std::int64_t i : scattered(std::ssize(set), 48))
    rows.push_back(set[static_cast<std::size_t>(i)]);
  columns = scattered(table.columns, 128);
  for (const std::int64_t row : rows)
    for (const std::int64_t column : columns) got.push_back(table(row, column));
}

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
    case Rounding::thousandths:
      return rounded(rounded(value / 1000, Rounding::bfloat16) * 1000, Rounding::bfloat16);
    case Rounding::int8: return static_cast<std::int8_t>(static_cast<std::int64_t>(value));
    case Rounding::int16: return static_cast<std::int16_t>(static_cast<std::int64_t>(value));
  }
  return value;
}

double open_bits(double entry, double value, DataType type, std::int64_t position) noexcept {
  const double near = with_type(type, [&]<class T>(T) { return to_double(nearest<T>(value)); });
  if (entry == near || (!std::isfinite(entry) && !std::isfinite(near))) return 0;
  constexpr double most = 24;
  const double of_phase = 0x1p-52 * (std::fabs(static_cast<double>(position)) + 1);
  const double ulp = 2 * half_ulp_of_one(type) * std::fabs(value);
  const double off = std::fabs(entry - value) / std::max({ulp, of_phase});
  return off < 0x1p24 ? std::log2(1 + off) : most;
}

double open_bits_of(const Sample& sample, const TableIdentity& identity,
                    const std::vector<double>& frequencies, double limit) {
  double bits = 0;
  for_each_entry(sample, identity, sample.rows.size(), [&](const SampledEntry& entry) {
    bits +=
        open_bits(entry.got, entry.value_at(entry.phase(frequencies)), sample.type, entry.position);
    return bits <= limit;
  });
  return bits;
}

double open_bits_of_best_way(const Sample& sample, const TableIdentity& identity,
                             std::size_t rows) {
  double least = std::numeric_limits<double>::infinity();
  for (const Way& way : Ways(identity.spec).all()) {
    const double bits = way.what.way_bits;
    least =
        std::min(least, bits + least_of(open_bits_of(sample, identity, rows, least - bits, way)));
  }
  return least;
}

std::vector<Explanation> explain(const Sample& sample, const TableIdentity& identity) {
  constexpr double tie = 1;
  std::vector<Explanation> found;
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](Explanation each, const auto& value_of) {
    const Bits bits =
        open_bits_of(sample, identity, sample.rows.size(), least + tie - each.way_bits, value_of);
    const auto* const best = std::ranges::min_element(bits);
    each.bits = each.way_bits + *best;
    if (each.bits > least + tie) return;
    least = std::min(least, each.bits);
    each.entries = entry_roundings[best - bits.begin()].to;
    set_share(each, sample, identity, value_of);
    if (!each.is_exact)
      each.text +=
          format_text(": {} % of the entries have these bits", digits_text(100 * each.share, 3));
    found.push_back(std::move(each));
  };
  const std::vector<Way> ways = Ways(identity.spec).all();
  for (const Way& way : ways) consider(way.what, way);
  if (identity.positions.empty()) {
    for (const RowRecurrence& each : row_recurrences) {
      // Of the most usual frequencies alone, since they take a step for each row of the table.
      for (const Way& way : std::span(ways).first(std::min<std::size_t>(ways.size(), 4))) {
        if (way.step || way.divides) break;
        const std::vector<double> values = values_of(each, way, sample, identity);
        consider({.kind = CauseKind::row_recurrence, .text = each.text, .way_bits = 8},
                 [&](const SampledEntry& entry) { return values[entry.index]; });
      }
    }
  }
  std::erase_if(found, [&](const Explanation& each) { return each.bits > least + tie; });
  std::ranges::sort(found, {}, &Explanation::bits);
  return found;
}

}  // namespace posenc::suite
