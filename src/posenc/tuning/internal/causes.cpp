#include "posenc/tuning/internal/causes.h"

#include "posenc/exact/float32_functions.h"
#include "posenc/exact/float32_phases.h"
#include "posenc/exact/reference.h"
#include "posenc/support/format.h"
#include "posenc/tuning/internal/arrangement.h"
#include "posenc/tuning/internal/float32_ways.h"
#include "posenc/tuning/internal/identify.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace posenc {
namespace {

/// Sine and cosine of one frequency at one row.
struct Pair {
  double sine = 0;
  double cosine = 0;
};

/// Some entries of a table, with their exact values. Rows are in ascending order.
struct Sample {
  explicit Sample(const EncodingSpec& of) : spec(of), reference(of) {}

  EncodingSpec spec;
  Reference reference;
  std::int64_t first = 0;  ///< the position of row 0
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> ks;
  std::vector<Pair> got, exact;  ///< one run of `ks` for each row; NaN where the table has none
  bool has_sines = true, has_cosines = true;
  DataType type = DataType::float32;  ///< the narrowest that holds the entries
  double factor = 1;
  double tolerance = 0;  ///< an ulp of `type` at 1
  /// What the sines and cosines of a program may be off by, in ulps at 1.
  double function_ulps = 1;

  std::size_t index(std::size_t row, std::size_t k) const noexcept { return row * ks.size() + k; }
  std::int64_t position(std::size_t row) const noexcept { return first + rows[row]; }
};

double rounded_to(double value, DataType type) noexcept {
  return with_type(type, [&]<class T>(T) { return to_double(nearest<T>(value)); });
}

/// Early rows, the last ones, and others between, by powers of two and evenly; and some of those
/// that are off.
std::vector<std::int64_t> sampled_rows(std::int64_t rows, const std::vector<bool>& is_unset,
                                       const std::vector<std::int64_t>& rows_off) {
  std::vector<std::int64_t> all = spread(rows, 40);
  for (const std::int64_t i : spread(static_cast<std::int64_t>(rows_off.size()), 24))
    all.push_back(rows_off[static_cast<std::size_t>(i)]);
  for (std::int64_t row = 0; row < std::min<std::int64_t>(rows, 12); ++row) {
    all.push_back(row);
    all.push_back(rows - 1 - row);
  }
  for (std::int64_t row = 16; row < rows; row = row * 3 / 2) all.push_back(row - 1);
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::erase_if(all, [&](std::int64_t row) { return is_unset[static_cast<std::size_t>(row)]; });
  return all;
}

/// The narrowest type that holds every sampled entry: that of the table, unless it is wider.
DataType narrowest_type(const TableView& table, const std::vector<std::int64_t>& rows) {
  std::vector<DataType> narrower;
  if (size_of(table.type) > 2) narrower = {DataType::bfloat16, DataType::float16};
  if (table.type == DataType::float64) narrower.push_back(DataType::float32);
  for (const DataType type : narrower) {
    const bool holds_all = std::ranges::all_of(rows, [&](std::int64_t row) {
      const std::vector<std::int64_t> columns = spread(table.columns, 256);
      return std::ranges::all_of(columns, [&](std::int64_t column) {
        const double value = table(row, column);
        return value == rounded_to(value, type) || std::isnan(value);
      });
    });
    if (holds_all && !rows.empty()) return type;
  }
  return table.type;
}

Sample sample_of(const TableView& table, const TableIdentity& identity,
                 const std::vector<bool>& is_unset, const std::vector<std::int64_t>& rows_off) {
  Sample sample(identity.spec);
  sample.first = identity.first;
  sample.rows = sampled_rows(table.rows, is_unset, rows_off);
  sample.ks = spread(identity.spec.d_model / 2, 128);
  sample.has_sines = column_of(identity.arrangement, table.columns, 0, false) >= 0;
  sample.has_cosines = column_of(identity.arrangement, table.columns, 0, true) >= 0;
  sample.type = narrowest_type(table, sample.rows);
  sample.factor = identity.factor;
  sample.tolerance = allowed_error(sample.type, sample.factor, 0);
  const double sign = identity.has_negated_sines ? -1 : 1;
  const auto entry = [&](std::int64_t row, std::int64_t k, bool is_cosine) {
    const std::int64_t column = column_of(identity.arrangement, table.columns, k, is_cosine);
    return column < 0 ? std::numeric_limits<double>::quiet_NaN() : table(row, column);
  };
  for (const std::int64_t row : sample.rows) {
    for (const std::int64_t k : sample.ks) {
      const ReferencePair exact = sample.reference(k, identity.first + row);
      sample.got.push_back({sign * entry(row, k, false), entry(row, k, true)});
      sample.exact.push_back({sample.factor * static_cast<double>(exact.sine),
                              sample.factor * static_cast<double>(exact.cosine)});
    }
  }
  return sample;
}

/// The bound of SLEEF's fast functions (u35), as PyTorch 2.6 uses them: there, errors of one ulp
/// are many, and only larger ones show the phases.
constexpr double fast_function_ulps = 3.5;

/// A known mistake. One of the two functions is set.
struct Simulation {
  CauseKind kind;
  std::string text;
  /// The phase of a frequency at a position. `adjusted` is -1, 0 or 1: the frequency one float32
  /// lower or higher, for a C library whose last digit is off; ignored unless `adjusted_text`.
  std::function<double(std::int64_t k, int adjusted, std::int64_t position)> phase = {};
  std::string adjusted_text = {};  ///< what the last digit is of: "exp"
  /// The pairs of ks[k] at the rows of the sample, before the factor and the rounding to the type.
  std::function<std::vector<Pair>(const Sample&, std::size_t k, int variant)> pairs = {};
  int variants = 1;  ///< of pairs: ways to round what it starts from
};

/// How well a simulation explains a sample.
struct Score {
  std::int64_t off = 0;        ///< entries that are off, or that the simulation has off
  std::int64_t explained = 0;  ///< of these
  std::int64_t equal = 0;      ///< of these, within what a function may be off by
  std::int64_t adjusted = 0;   ///< frequencies that are off by a last digit

  void add(const Score& other) noexcept {
    off += other.off;
    explained += other.explained;
    equal += other.equal;
    adjusted += other.adjusted;
  }

  bool explains() const noexcept {
    constexpr std::int64_t least = 8;
    return off >= least && 10 * explained >= 9 * off;
  }
  /// 1 if every entry is equal.
  double quality(std::size_t frequencies) const noexcept {
    return static_cast<double>(equal) / static_cast<double>(off) -
           0.1 * static_cast<double>(adjusted) / static_cast<double>(frequencies);
  }
};

/// A float32 sine may be off by an ulp, or by several. Rounded to 16 bits, it hardly ever is:
/// there, any entry counts that is not the nearest one, or would not be.
void add_entry(Score& score, const Sample& sample, double got, double exact, double simulated) {
  const double scaled = sample.factor * simulated;
  const bool is_narrow = size_of(sample.type) == 2;
  const double value = sample.type == DataType::float64
                           ? scaled
                           : rounded_to(to_double(static_cast<float>(scaled)), sample.type);
  const double truth = is_narrow ? rounded_to(exact, sample.type) : exact;
  const double off = std::fabs(got - truth), simulated_off = std::fabs(value - truth),
               rest = std::fabs(got - value);
  const double equal_limit = is_narrow ? 0 : 1.01 * sample.function_ulps * sample.tolerance,
               least_off = is_narrow ? 0 : 2 * sample.function_ulps * sample.tolerance;
  if (off <= least_off && simulated_off <= 2 * least_off) return;
  const bool both_not_finite = !std::isfinite(got) && !std::isfinite(value);
  ++score.off;
  score.equal += both_not_finite || rest <= equal_limit;
  score.explained += both_not_finite || rest <= std::max(equal_limit, off / 8);
}

void add_pair(Score& score, const Sample& sample, std::size_t index, const Pair& simulated) {
  if (sample.has_sines)
    add_entry(score, sample, sample.got[index].sine, sample.exact[index].sine, simulated.sine);
  if (sample.has_cosines) {
    add_entry(score, sample, sample.got[index].cosine, sample.exact[index].cosine,
              simulated.cosine);
  }
}

/// The score of one frequency, by the variant that has most entries equal.
Score score_of_frequency(const Simulation& simulation, const Sample& sample, std::size_t k) {
  const auto score_at = [&](int variant) {
    Score score;
    std::vector<Pair> pairs;
    if (simulation.pairs) {
      pairs = simulation.pairs(sample, k, variant);
    } else {
      score.adjusted = variant != 0 ? 1 : 0;
      const int adjusted = variant == 2 ? -1 : variant;
      for (std::size_t row = 0; row < sample.rows.size(); ++row) {
        const double phase = simulation.phase(sample.ks[k], adjusted, sample.position(row));
        pairs.push_back({std::sin(phase), std::cos(phase)});
      }
    }
    for (std::size_t row = 0; row < sample.rows.size(); ++row)
      add_pair(score, sample, sample.index(row, k), pairs[row]);
    return score;
  };
  const int variants = simulation.adjusted_text.empty() ? simulation.variants : 3;
  Score best = score_at(0);
  for (int variant = 1; variant < variants; ++variant) {
    if (best.equal == best.off) break;
    const Score other = score_at(variant);
    // By shares: another variant may have other entries off.
    const auto share = [](const Score& score) {
      return static_cast<double>(score.equal + score.explained) /
             static_cast<double>(std::max<std::int64_t>(score.off, 1));
    };
    if (share(other) > share(best)) best = other;
  }
  return best;
}

Score score_of(const Simulation& simulation, const Sample& sample) {
  Score score;
  for (std::size_t k = 0; k < sample.ks.size(); ++k)
    score.add(score_of_frequency(simulation, sample, k));
  return score;
}

bool has_ggml_rule(const EncodingSpec& spec) {
  return spec.spacing == Spacing::paper &&
         (is_base(spec.frequencies) || std::holds_alternative<LinearScaling>(spec.frequencies));
}

void add_float32_phases(std::vector<Simulation>& all, const EncodingSpec& spec) {
  for (Float32Way& way : float32_ways(spec)) {
    Simulation simulation{.kind = CauseKind::float32_phases, .text = std::move(way.text)};
    simulation.adjusted_text = std::move(way.adjusted_text);
    simulation.phase = [way = std::move(way)](std::int64_t k, int adjusted, std::int64_t position) {
      return way.phase(k, position, adjusted);
    };
    all.push_back(std::move(simulation));
  }
}

Simulation ggml_recurrence(const EncodingSpec& spec) {
  Simulation simulation{
      .kind = CauseKind::channel_recurrence,
      .text = "phases multiplied from channel to channel in float32, as in ggml's rope cache"};
  simulation.phase = [phases = Float32Phases::ggml(spec)](std::int64_t k, int,
                                                          std::int64_t position) {
    return to_double(phases.at(k, position));
  };
  return simulation;
}

/// Phases of which parts are rounded to a 16-bit type, and the product to float32 or that type.
template <class T>
void add_narrow_phases(std::vector<Simulation>& all, const EncodingSpec& spec,
                       const Sample& sample) {
  const std::string name(to_string(data_type_of<T>));
  const auto narrow = [](float value) {
    return static_cast<float>(to_double(nearest<T>(to_double(value))));
  };
  const std::vector<float> frequencies = has_transformers_rule(spec)
                                             ? Float32Phases::transformers(spec).frequencies()
                                             : once_rounded_frequencies(spec);
  struct Variant {
    CauseKind kind;
    const char* text;
    bool position, frequency, product;
  };
  constexpr Variant variants[] = {
      {CauseKind::narrow_frequencies, "frequencies in {}", false, true, false},
      {CauseKind::narrow_positions, "positions in {}", true, false, false},
      {CauseKind::narrow_phases, "phases in {}", false, false, true},
      {CauseKind::narrow_phases, "positions and frequencies in {}", true, true, false},
      {CauseKind::narrow_phases, "positions, frequencies and phases in {}", true, true, true},
  };
  bool are_positions_exact = true;
  for (std::size_t row = 0; row < sample.rows.size(); ++row) {
    const auto position = static_cast<float>(sample.position(row));
    are_positions_exact = are_positions_exact && narrow(position) == position;
  }
  for (const Variant& variant : variants) {
    // The same as the variant without narrow positions.
    if (variant.position && !variant.product && are_positions_exact) continue;
    Simulation simulation{.kind = variant.kind, .text = format_text(variant.text, name)};
    simulation.phase = [=](std::int64_t k, int, std::int64_t row_position) {
      float position = static_cast<float>(row_position),
            frequency = frequencies[static_cast<std::size_t>(k)];
      if (variant.position) position = narrow(position);
      if (variant.frequency) frequency = narrow(frequency);
      const float phase = position * frequency;
      return to_double(variant.product ? narrow(phase) : phase);
    };
    all.push_back(std::move(simulation));
  }
}

/// Sine and cosine of a frequency as float32, by the ways that programs take them: of the exact
/// frequency, and of it in float32, as it is rounded once or by Transformers.
struct FloatPair {
  float sine, cosine;
};

FloatPair exact_pair(const Sample& sample, std::size_t k, std::int64_t position) {
  const ReferencePair exact = sample.reference(sample.ks[k], position);
  return {static_cast<float>(exact.sine), static_cast<float>(exact.cosine)};
}

constexpr int step_variants = 3;

class Steps {
 public:
  explicit Steps(const EncodingSpec& spec)
      : once_(once_rounded_frequencies(spec)),
        transformers_(has_transformers_rule(spec) ? Float32Phases::transformers(spec).frequencies()
                                                  : once_) {}

  FloatPair operator()(const Sample& sample, std::size_t k, int variant) const {
    if (variant == 0) return exact_pair(sample, k, 1);
    const float frequency =
        (variant == 1 ? once_ : transformers_)[static_cast<std::size_t>(sample.ks[k])];
    return {nearest_sine(frequency), nearest_cosine(frequency)};
  }

 private:
  std::vector<float> once_, transformers_;
};

/// Advances from row to row in float32, from exact values at row 0.
template <class Advance>
std::vector<Pair> rotated(const Sample& sample, std::size_t k, const FloatPair& step,
                          const Advance& advance) {
  FloatPair now = exact_pair(sample, k, sample.first);
  std::vector<Pair> pairs;
  std::int64_t row = 0;
  for (const std::int64_t wanted : sample.rows) {
    for (; row < wanted; ++row) now = advance(now, step);
    pairs.push_back({to_double(now.sine), to_double(now.cosine)});
  }
  return pairs;
}

FloatPair product(const FloatPair& a, const FloatPair& b) {
  return {a.sine * b.cosine + a.cosine * b.sine, a.cosine * b.cosine - a.sine * b.sine};
}

FloatPair fused_product(const FloatPair& a, const FloatPair& b) {
  return {std::fma(a.sine, b.cosine, a.cosine * b.sine),
          std::fma(a.cosine, b.cosine, -(a.sine * b.sine))};
}

/// x_(r+1) = 2 cos(w) x_r - x_(r-1) in float32, from exact values in the first two rows.
std::vector<Pair> three_term(const Sample& sample, std::size_t k, const FloatPair& step) {
  FloatPair now = exact_pair(sample, k, sample.first),
            next = exact_pair(sample, k, sample.first + 1);
  const float twice = 2 * step.cosine;
  std::vector<Pair> pairs;
  std::int64_t row = 0;
  for (const std::int64_t wanted : sample.rows) {
    for (; row < wanted; ++row) {
      const FloatPair after = {twice * next.sine - now.sine, twice * next.cosine - now.cosine};
      now = std::exchange(next, after);
    }
    pairs.push_back({to_double(now.sine), to_double(now.cosine)});
  }
  return pairs;
}

void add_row_recurrences(std::vector<Simulation>& all, const EncodingSpec& spec) {
  const Steps steps(spec);
  const auto add = [&](const char* text, auto pairs_of) {
    Simulation simulation{.kind = CauseKind::row_recurrence, .text = text};
    simulation.pairs = [steps, pairs_of](const Sample& sample, std::size_t k, int variant) {
      return pairs_of(sample, k, steps(sample, k, variant));
    };
    simulation.variants = step_variants;
    all.push_back(std::move(simulation));
  };
  add("rows rotated from row to row in float32, never re-anchored",
      [](const Sample& sample, std::size_t k, const FloatPair& step) {
        return rotated(sample, k, step, product);
      });
  add("rows rotated from row to row in float32 with fused operations, never re-anchored",
      [](const Sample& sample, std::size_t k, const FloatPair& step) {
        return rotated(sample, k, step, fused_product);
      });
  add("rows from the two before by a recurrence in float32, never re-anchored", three_term);
}

std::vector<Simulation> simulations(const Sample& sample) {
  const EncodingSpec& spec = sample.spec;
  std::vector<Simulation> all;
  add_float32_phases(all, spec);
  if (has_ggml_rule(spec)) all.push_back(ggml_recurrence(spec));
  add_narrow_phases<BFloat16>(all, spec, sample);
  add_narrow_phases<Float16>(all, spec, sample);
  add_row_recurrences(all, spec);
  return all;
}

struct Explanation {
  const Simulation* simulation;
  Score score;
  double quality;
};

std::string text_of(const Explanation& each, const Sample& sample) {
  const Simulation& simulation = *each.simulation;
  const Score& score = each.score;
  const std::string within =
      sample.function_ulps > 1 ? format_text(" within {} ulp", sample.function_ulps) : "";
  if (score.equal < score.off) {
    const double share = static_cast<double>(score.equal) / static_cast<double>(score.off);
    if (share < 0.5) return simulation.text + " (the errors are alike, not equal)";
    return format_text("{} ({:.3g} % of the entries agree{})", simulation.text, 100 * share,
                       within);
  }
  if (score.adjusted == 0) return simulation.text + " (all entries agree" + within + ")";
  return format_text(
      "{} (all entries agree{}, if the last digit of {} is off at {} of {} frequencies)",
      simulation.text, within, simulation.adjusted_text, score.adjusted, sample.ks.size());
}

/// Those that explain the sample about as well as the best one.
std::vector<Explanation> best_explanations(const std::vector<Simulation>& all,
                                           const Sample& sample) {
  std::vector<Explanation> found;
  double best = -1;
  for (const Simulation& each : all) {
    const Score score = score_of(each, sample);
    if (!score.explains()) continue;
    found.push_back({&each, score, score.quality(sample.ks.size())});
    best = std::max(best, found.back().quality);
  }
  constexpr double tie = 0.01;
  std::erase_if(found, [&](const Explanation& each) { return each.quality < best - tie; });
  return found;
}

bool is_off(const Sample& sample) {
  for (std::size_t i = 0; i < sample.got.size(); ++i) {
    const Pair &got = sample.got[i], &exact = sample.exact[i];
    const double limit =
        sample.tolerance +
        allowed_error(sample.type, sample.factor, sample.position(i / sample.ks.size())) -
        allowed_error(sample.type, sample.factor, 0);
    if (sample.has_sines && !(std::fabs(got.sine - exact.sine) <= 1.01 * limit)) return true;
    if (sample.has_cosines && !(std::fabs(got.cosine - exact.cosine) <= 1.01 * limit)) return true;
  }
  return false;
}

/// True if the entries are below their exact values in magnitude, as truncated ones are.
bool is_truncated(const Sample& sample) {
  std::int64_t below = 0, above = 0;
  const auto count = [&](double got, double exact) {
    if (std::fabs(got - exact) < 0.05 * sample.tolerance) return;
    ++(std::fabs(got) < std::fabs(exact) ? below : above);
  };
  for (std::size_t i = 0; i < sample.got.size(); ++i) {
    if (sample.has_sines) count(sample.got[i].sine, sample.exact[i].sine);
    if (sample.has_cosines) count(sample.got[i].cosine, sample.exact[i].cosine);
  }
  return below > 30 * above && below > 50;
}

}  // namespace

double allowed_error(DataType type, double factor, std::int64_t position) noexcept {
  const double ulp = 2 * half_ulp_of_one(type) * std::exp2(std::ceil(std::log2(factor)));
  return ulp + 16 * 0x1p-53 * factor * (std::fabs(static_cast<double>(position)) + 1);
}

std::vector<Cause> numeric_causes(const TableView& table, const TableIdentity& identity,
                                  const std::vector<bool>& is_unset,
                                  const std::vector<std::int64_t>& rows_off) {
  std::vector<Cause> causes;
  Sample sample = sample_of(table, identity, is_unset, rows_off);
  if (sample.rows.empty()) return causes;
  if (sample.type != table.type) {
    causes.push_back(
        {CauseKind::narrow_entries,
         format_text("entries are {} values in a table of {}{}", to_string(sample.type),
                     to_string(table.type), is_truncated(sample) ? ", truncated" : "")});
  }
  if (!is_off(sample)) return causes;
  const std::vector<Simulation> all = simulations(sample);
  std::vector<Explanation> explanations = best_explanations(all, sample);
  if (explanations.empty() && sample.type == DataType::float32) {
    sample.function_ulps = fast_function_ulps;
    explanations = best_explanations(all, sample);
  }
  std::vector<Cause> rivals;
  for (const Explanation& each : explanations) {
    const CauseKind kind = each.simulation->kind;
    const std::string text = text_of(each, sample);
    const auto same = std::ranges::find(rivals, kind, &Cause::kind);
    if (same == rivals.end()) {
      rivals.push_back({kind, text});
    } else {
      same->text += ", or " + text;
    }
  }
  for (Cause& each : rivals) each.is_rival = rivals.size() > 1;
  causes.insert(causes.end(), rivals.begin(), rivals.end());
  return causes;
}

}  // namespace posenc
