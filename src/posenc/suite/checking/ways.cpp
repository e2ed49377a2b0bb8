#include "posenc/suite/checking/ways.h"

#include "posenc/exact/float32_phases.h"
#include "posenc/suite/checking/conventions.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <variant>

namespace posenc::suite {
namespace {

/// A way to compute the phases of a spec.
struct Way {
  CauseKind kind = CauseKind::float32_phases;
  bool is_exact = false;        ///< exact phases
  std::string text = {};        ///< "phases in float32, as PyTorch's tutorial computes them"
  std::string last_digit = {};  ///< whose last digit may be off in another C library: "exp"
  double bits = 0;              ///< that it takes to say it
  std::vector<double> operands = {};
  bool divides = false;  ///< the position by the operand
  Rounding position = Rounding::none, product = Rounding::none;
  std::optional<double> step = {};  ///< of products from channel to channel

  /// `adjusted`: the operand so many float32 higher.
  double phase(std::int64_t k, std::int64_t at, int adjusted = 0) const noexcept {
    double phase = rounded(static_cast<double>(at), position);
    if (step)
      for (std::int64_t i = 0; i < k; ++i) phase = rounded(phase * *step, product);
    double operand = operands[static_cast<std::size_t>(k)];
    if (adjusted != 0) operand *= 1 + adjusted * 0x1p-24 * 1.5;
    if (adjusted != 0) operand = rounded(operand, Rounding::float32);
    return rounded(divides ? phase / operand : phase * operand, product);
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
  const char* whose;
  const char* last_digit;
  bool divides;
  double (*of)(const Operands& o);
};

constexpr FrequencyForm forms[] = {
    {"of frequencies that are rounded once", "", false,
     [](const Operands& o) { return o.r(std::pow(o.base, -o.k / o.h)); }},
    {"as PyTorch's tutorial computes them", "exp", false,
     [](const Operands& o) { return o.r(std::exp(o.r(o.k * o.step()))); }},
    {"as Transformers and vLLM compute them", "pow", false,
     [](const Operands& o) { return o.r(1 / o.power()); }},
    {"the position divided by a power of the base", "pow", true,
     [](const Operands& o) { return o.power(); }},
    {"of exp(-ln(base) * k / h), multiplied, then divided, as diffusers computes them", "exp",
     false,
     [](const Operands& o) { return o.r(std::exp(o.r(o.r(o.r(-std::log(o.base)) * o.k) / o.h))); }},
    {"of base ** (-k / h)", "pow", false,
     [](const Operands& o) { return o.r(std::pow(o.r(o.base), o.r(-o.k / o.h))); }},
    {"of exp(-k / h * ln(base))", "exp", false,
     [](const Operands& o) { return o.r(std::exp(o.r(o.r(-o.k / o.h) * o.r(std::log(o.base))))); }},
    {"of exp2(-k / h * log2(base))", "exp2", false,
     [](const Operands& o) {
       return o.r(std::exp2(o.r(o.r(-o.k / o.h) * o.r(std::log2(o.base)))));
     }},
    {"of (1 / base) ** (k / h), as KerasHub computes them", "pow", false,
     [](const Operands& o) { return o.r(std::pow(o.r(1 / o.base), o.r(o.k / o.h))); }},
    {"of 1 / exp(k * ln(base) / h)", "exp", false,
     [](const Operands& o) { return o.r(1 / o.r(std::exp(o.r(o.k * -o.step())))); }},
    {"the position divided by exp(k * ln(base) / h)", "exp", true,
     [](const Operands& o) { return o.r(std::exp(o.r(o.k * -o.step()))); }},
    {"of 10 ** (-k / h * log10(base))", "pow", false,
     [](const Operands& o) {
       return o.r(std::pow(10.0, o.r(o.k * o.r(-std::log10(o.base) / o.h))));
     }},
    {"of frequencies multiplied from channel to channel", "", false,
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

constexpr Rounding none = Rounding::none, f32 = Rounding::float32;

constexpr Precision float32_phases = {
    CauseKind::float32_phases, "phases in float32", f32, f32, f32, f32};

/// Those of a 16-bit type.
constexpr std::array<Precision, 7> narrow_precisions(Rounding to) {
  return {{{CauseKind::narrow_frequencies, "frequencies in {}", f32, to, f32, f32},
           {CauseKind::narrow_positions, "positions in {}", f32, f32, to, f32},
           {CauseKind::narrow_phases, "phases in {}", f32, f32, f32, to},
           {CauseKind::narrow_phases, "positions and frequencies in {}", f32, to, to, f32},
           {CauseKind::narrow_phases, "positions, frequencies and phases in {}", f32, to, to, to},
           {CauseKind::narrow_frequencies, "frequencies computed in {}", to, to, f32, f32},
           {CauseKind::narrow_phases, "frequencies computed in {}, and phases", to, to, to, to}}};
}

constexpr Precision other_precisions[] = {
    {CauseKind::narrow_frequencies, "frequencies in float32", f32, f32, none, none},
    {CauseKind::narrow_positions, "timesteps in thousandths in bfloat16", f32, f32,
     Rounding::thousandths, f32},
    {CauseKind::narrow_positions, "positions that wrap at 8 bits", f32, f32, Rounding::int8, f32},
    {CauseKind::narrow_positions, "positions that wrap at 16 bits", f32, f32, Rounding::int16, f32},
    {CauseKind::narrow_positions, "positions that wrap at 8 bits, with phases in double", none,
     none, Rounding::int8, none}};

/// Appends ways; one whose operands another one of its precision has is left out.
class Ways {
 public:
  explicit Ways(const EncodingSpec& spec) : spec_(spec), exact_(frequencies_of(spec)) {
    const auto* const linear = std::get_if<LinearScaling>(&spec.frequencies);
    scale_ = linear != nullptr ? linear->factor : 1;
    all_.push_back({.is_exact = true, .operands = exact_});
  }

  std::vector<Way> all() && {
    add(float32_phases, "");
    add_ggml();
    for (const Rounding narrow : {Rounding::bfloat16, Rounding::float16}) {
      const char* const name = narrow == Rounding::bfloat16 ? "bfloat16" : "float16";
      for (const Precision& each : narrow_precisions(narrow)) add(each, name);
    }
    for (const Precision& each : other_precisions) add(each, "");
    return std::move(all_);
  }

 private:
  void add(const Precision& precision, const char* type) {
    const std::size_t first = all_.size();
    const std::string text = format_text(precision.text, type);
    const bool says_whose = precision.kind == CauseKind::float32_phases;
    double narrow = 0;
    for (const Rounding part :
         {precision.arithmetic, precision.frequency, precision.position, precision.product})
      narrow += part != none && part != f32;
    double form_bits = 3 + 3 * narrow;
    const auto push = [&](const char* whose, const char* digit, bool divides,
                          std::vector<double> operands) {
      form_bits += 0.25;
      for (double& each : operands) each = rounded(each, precision.frequency);
      const auto is_same = [&](const Way& way) {
        return way.divides == divides && way.operands == operands;
      };
      if (std::any_of(all_.begin() + static_cast<std::ptrdiff_t>(first), all_.end(), is_same))
        return;
      all_.push_back({.kind = precision.kind,
                      .text = says_whose ? text + separator(whose) + whose : text,
                      .last_digit = digit,
                      .bits = form_bits,
                      .operands = std::move(operands),
                      .divides = divides,
                      .position = precision.position,
                      .product = precision.product});
    };
    if (has_transformers_rule() && precision.arithmetic == f32 && !has_forms()) {
      const std::vector<float> theirs = Float32Phases::transformers(spec_).frequencies();
      push(forms[2].whose, "pow", false, {theirs.begin(), theirs.end()});
    }
    if (!has_forms()) return push(forms[0].whose, "", false, exact_);
    for (const FrequencyForm& form : forms) {
      std::vector<double> operands;
      for (std::size_t k = 0; k < exact_.size(); ++k) {
        const Operands o = {spec_.base, static_cast<double>(k),
                            static_cast<double>(exponent_denominator(spec_)), precision.arithmetic};
        operands.push_back(form.divides ? o.r(form.of(o) * o.r(scale_))
                                        : o.r(form.of(o) / o.r(scale_)));
      }
      const bool is_tensor2tensor = &form == &forms[1] && spec_.spacing == Spacing::inclusive;
      push(is_tensor2tensor ? "as tensor2tensor and fairseq compute them" : form.whose,
           form.last_digit, form.divides, std::move(operands));
      if (precision.arithmetic == none) break;
    }
  }

  /// Multiplied from channel to channel, then divided by the factors of the rule.
  void add_ggml() {
    if (spec_.spacing != Spacing::paper ||
        std::holds_alternative<OwnFrequencies>(spec_.frequencies))
      return;
    std::vector<double> factors;
    for (std::size_t k = 0; k < exact_.size(); ++k) {
      const double unscaled =
          std::pow(spec_.base, -2.0 * static_cast<double>(k) / static_cast<double>(spec_.d_model));
      factors.push_back(scale_ == 1 ? rounded(unscaled / exact_[k], f32)
                                    : rounded(1 / scale_, f32));
    }
    all_.push_back(
        {.kind = CauseKind::channel_recurrence,
         .text = "phases multiplied from channel to channel in float32, as in ggml's rope cache",
         .bits = 8,
         .operands = std::move(factors),
         .divides = scale_ == 1,
         .position = f32,
         .product = f32,
         .step = rounded(std::pow(spec_.base, -2.0 / static_cast<double>(spec_.d_model)), f32)});
  }

  static const char* separator(std::string_view whose) {
    return whose.starts_with("the position") ? ": " : ", ";
  }
  bool has_forms() const {
    return is_base(spec_.frequencies) || std::holds_alternative<LinearScaling>(spec_.frequencies);
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
  std::vector<Way> all_;
};

// What a way leaves open.

constexpr Rounding entry_roundings[] = {none, f32, Rounding::bfloat16, Rounding::truncated,
                                        Rounding::float16};

/// Bits of an entry's way to be rounded, in the order of entry_roundings.
constexpr double entry_bits[] = {0, 1, 4, 6, 4};

using Bits = std::array<double, std::size(entry_roundings)>;

double least_of(const Bits& bits) noexcept { return *std::min_element(bits.begin(), bits.end()); }

/// The bits that are open if the entries are value_of(entry). Stops where the least exceeds the
/// limit.
template <class ValueOf>
Bits open_bits_of(const Sample& sample, const TableIdentity& identity, std::size_t rows,
                  double limit, const ValueOf& value_of) {
  Bits bits;
  std::copy(std::begin(entry_bits), std::end(entry_bits), bits.begin());
  for_each_entry(sample, identity, rows, [&](const SampledEntry& entry) {
    const double value = value_of(entry);
    for (std::size_t e = 0; e < bits.size(); ++e)
      bits[e] +=
          open_bits(entry.got, rounded(value, entry_roundings[e]), sample.type, entry.position);
    return least_of(bits) <= limit;
  });
  return bits;
}

auto values_of(const Way& way) {
  return
      [&](const SampledEntry& entry) { return entry.value_at(way.phase(entry.k, entry.position)); };
}

/// Sines and cosines of rows that come of those before, in float32.
struct RowValues {
  struct Pair {
    float sine, cosine;
  };
  std::map<std::int64_t, std::vector<Pair>> of_k;

  double operator()(const SampledEntry& entry) const {
    const Pair& pair = of_k.at(entry.k)[entry.row];
    return entry.scale * (entry.is_cosine ? pair.cosine : pair.sine);
  }
};

using Advance = RowValues::Pair (*)(RowValues::Pair now, RowValues::Pair before,
                                    RowValues::Pair step);

struct RowRecurrence {
  const char* text;
  Advance advance;
};

constexpr RowRecurrence row_recurrences[] = {
    {"rows rotated from row to row in float32, never re-anchored",
     [](RowValues::Pair a, RowValues::Pair, RowValues::Pair b) -> RowValues::Pair {
       return {a.sine * b.cosine + a.cosine * b.sine, a.cosine * b.cosine - a.sine * b.sine};
     }},
    {"rows rotated from row to row in float32 with fused operations, never re-anchored",
     [](RowValues::Pair a, RowValues::Pair, RowValues::Pair b) -> RowValues::Pair {
       return {std::fma(a.sine, b.cosine, a.cosine * b.sine),
               std::fma(a.cosine, b.cosine, -(a.sine * b.sine))};
     }},
    {"rows from the two before by a recurrence in float32, never re-anchored",
     [](RowValues::Pair a, RowValues::Pair before, RowValues::Pair b) -> RowValues::Pair {
       const float twice = 2 * b.cosine;
       return {twice * a.sine - before.sine, twice * a.cosine - before.cosine};
     }}};

RowValues row_values(const Sample& sample, const TableIdentity& identity, Advance advance,
                     const Way& frequencies) {
  const auto pair_of = [](double phase) {
    return RowValues::Pair{static_cast<float>(std::sin(phase)),
                           static_cast<float>(std::cos(phase))};
  };
  std::map<std::int64_t, std::size_t> place;  // of a row in the sample
  for (std::size_t i = 0; i < sample.rows.size(); ++i) place[sample.rows[i]] = i;
  RowValues values;
  for (const std::int64_t column : sample.columns) {
    const auto k = content_of(identity.arrangement, sample.table_columns, column).k;
    auto& of_rows = values.of_k[k];
    if (!of_rows.empty()) continue;
    of_rows.resize(sample.rows.size());
    const auto at = [&](std::int64_t row) {
      return pair_of(frequencies.phase(k, identity.position(row)));
    };
    RowValues::Pair now = at(0), before = at(-1);
    const RowValues::Pair step = pair_of(frequencies.phase(k, identity.step));
    std::int64_t row = 0;
    for (const auto& [wanted, i] : place) {
      for (; row < wanted; ++row) before = std::exchange(now, advance(now, before, step));
      of_rows[i] = now;
    }
  }
  return values;
}

Explanation explanation(CauseKind kind, std::string text, bool is_exact, double way_bits,
                        const Bits& bits) {
  const auto least = std::min_element(bits.begin(), bits.end()) - bits.begin();
  return {.kind = kind,
          .is_exact = is_exact,
          .text = std::move(text),
          .entries = entry_roundings[least],
          .bits = bits[static_cast<std::size_t>(least)] + way_bits};
}

/// How many entries have the bits of the functions, and how far the others are.
template <class ValueOf>
void add_share(Explanation& explained, const Sample& sample, const TableIdentity& identity,
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
  explained.most_ulps = ulps.empty() ? 0 : *at;
}

/// The share of entries that have the bits, if a C library's last digits are off.
std::string share_text(const Sample& sample, const TableIdentity& identity, const Way& way,
                       const Explanation& explained) {
  std::map<std::int64_t, std::array<std::size_t, 3>> equal_of_k;
  for_each_entry(sample, identity, sample.rows.size(), [&](const SampledEntry& entry) {
    for (const int adjusted : {0, 1, -1}) {
      const double value =
          rounded(entry.value_at(way.phase(entry.k, entry.position, adjusted)), explained.entries);
      equal_of_k[entry.k][static_cast<std::size_t>((adjusted + 3) % 3)] +=
          open_bits(entry.got, value, sample.type, entry.position) == 0;
    }
    return true;
  });
  std::size_t equal = 0, off = 0;
  for (const auto& [k, counts] : equal_of_k) {
    const std::size_t most = *std::ranges::max_element(counts);
    equal += most;
    off += most > counts[0];
  }
  if (way.last_digit.empty() || off == 0) return "";
  return format_text(
      "; {} % if the last digit of {} is off at {} of {} frequencies",
      digits_text(100.0 * static_cast<double>(equal) / static_cast<double>(sample.got.size()), 3),
      way.last_digit, off, equal_of_k.size());
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

Sample Sample::first_columns(std::size_t count) const {
  Sample result = *this;
  result.columns.resize(std::min(columns.size(), count));
  result.got.clear();
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t i = 0; i < result.columns.size(); ++i)
      result.got.push_back(got[row * columns.size() + i]);
  return result;
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
    const Bits bits = open_bits_of(sample, identity, rows, least - way.bits, values_of(way));
    least = std::min(least, way.bits + least_of(bits));
  }
  return least;
}

std::vector<Explanation> explain(const Sample& sample, const TableIdentity& identity) {
  constexpr double tie = 1;
  std::vector<Explanation> found;
  double least = std::numeric_limits<double>::infinity();
  const auto add = [&](Explanation each, const auto& value_of, const std::string& more) {
    least = std::min(least, each.bits);
    add_share(each, sample, identity, value_of);
    if (!each.is_exact)
      each.text += format_text(": {} % of the entries have these bits{}",
                               digits_text(100 * each.share, 3), more);
    found.push_back(std::move(each));
  };
  const std::vector<Way> ways = Ways(identity.spec).all();
  for (const Way& way : ways) {
    const auto value_of = values_of(way);
    const Bits bits =
        open_bits_of(sample, identity, sample.rows.size(), least + tie - way.bits, value_of);
    Explanation each = explanation(way.kind, way.text, way.is_exact, way.bits, bits);
    if (each.bits > least + tie) continue;
    const std::string more = way.is_exact ? "" : share_text(sample, identity, way, each);
    add(std::move(each), value_of, more);
  }
  if (identity.positions.empty()) {
    constexpr double way_bits = 8;
    const Sample few = sample.first_columns(4);
    const double least_of_few = open_bits_of_best_way(few, identity, few.rows.size());
    for (const RowRecurrence& each : row_recurrences) {
      for (const Way& frequencies : ways) {
        // Of the most usual ones alone, since they take a step for each row of the table.
        if (&frequencies - ways.data() > 3 || frequencies.step || frequencies.divides) break;
        const RowValues of_few = row_values(few, identity, each.advance, frequencies);
        if (way_bits +
                least_of(open_bits_of(few, identity, few.rows.size(), least_of_few, of_few)) >
            least_of_few)
          continue;
        const RowValues values = row_values(sample, identity, each.advance, frequencies);
        const Bits bits =
            open_bits_of(sample, identity, sample.rows.size(), least + tie - way_bits, values);
        Explanation explained =
            explanation(CauseKind::row_recurrence, each.text, false, way_bits, bits);
        if (explained.bits <= least + tie) add(std::move(explained), values, "");
      }
    }
  }
  std::erase_if(found, [&](const Explanation& each) { return each.bits > least + tie; });
  std::ranges::sort(found, {}, &Explanation::bits);
  return found;
}

}  // namespace posenc::suite
