#include "posenc/check/head_changes.h"

#include "posenc/check/sample.h"
#include "posenc/check/text.h"
#include "posenc/error.h"
#include "posenc/exact/frequency.h"
#include "posenc/suite/statistics.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <numbers>
#include <string>
#include <utility>
#include <variant>

namespace posenc::check {
inline namespace internals {

using namespace model;
using namespace suite;
namespace {

constexpr double full_turn = 2 * std::numbers::pi;

// ---- Positions ----------------------------------------------------------------------------------

/// The number that is added to all positions. The slowest pair shows it roughly, up to full turns,
/// and faster pairs refine it. The number that suits most pairs is returned.
double shown_shift(const Angles& claimed, const std::vector<ShownAngle>& shown) {
  std::map<double, Complex> off;  // by frequency
  for (const ShownAngle& each : shown)
    if (const double of = claimed.pairs[static_cast<std::size_t>(each.place)].frequency; of > 0)
      off[of] += std::polar(1.0, each.angle - claimed(each.row, each.place));
  double best = 0, most = 0;
  constexpr int most_turns = 24;
  for (int turns = -most_turns; turns <= most_turns; ++turns) {
    double shift = 0, fit = 0;
    for (const auto& [frequency, angle] : off) {
      const Complex rest = angle * std::polar(1.0, -shift * frequency);
      const double full = frequency == off.begin()->first ? turns * full_turn : 0;
      shift += (std::arg(rest) + full) / frequency;
      fit += rest.real();
    }
    if (fit <= most) continue;
    most = fit;
    best = shift;
  }
  // Tiny frequencies show numbers that no position has.
  return std::fabs(best) <= static_cast<double>(max_position) ? std::round(best) : 0;
}

/// A mistake with positions, or none if the text is empty. The position of a row becomes a sum of
/// these numbers times their factors.
struct PositionChange {
  std::string text;
  double own, first = 0, last = 0;  ///< positions of the row, of row 0, and counted from the end
  double number = 0, one = 0;       ///< the number of the row, and 1
};

std::vector<PositionChange> position_changes(const RowPositions& rows, double shift) {
  const auto by = static_cast<std::int64_t>(shift);
  return {
      {"", 1},
      {"positions are counted from 0: the first one is subtracted from all", 1, -1},
      {rows.is_range()
           ? format_text("the first row is position {}, not {}", rows.first() + by, rows.first())
           : format_text("each position is {} too {}", std::abs(by), by > 0 ? "large" : "small"),
       1, 0, 0, 0, shift},
      {"each angle is doubled: the positions are doubled, or the heads are turned twice", 2},
      {"each angle is halved, as if positions were halved", 0.5},
      {"positions advance from the first one in steps that are doubled", 2, -1},
      {"the positions are the numbers of the rows: the claimed positions are not used", 0, 0, 0, 1},
      {"the positions of the rows are in reversed order", 0, 0, 1},
      {"all rows have the position of the first row", 0, 1},
  };
}

/// The positions after a change.
std::vector<double> changed(const std::vector<double>& positions, std::int64_t rows,
                            const PositionChange& by) {
  const auto count = static_cast<std::size_t>(rows);
  std::vector<double> all;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::size_t row = i % count, first = i - row;
    all.push_back(by.own * positions[i] + by.first * positions[first] +
                  by.last * positions[first + count - 1 - row] +
                  by.number * static_cast<double>(row) + by.one);
  }
  return all;
}

// ---- Frequencies and axes -----------------------------------------------------------------------

/// Other frequencies or axes. The text of the cause is empty if they are the claimed ones.
using SpecChange = std::pair<Cause, AxesSpec>;

/// The frequencies of YaRN if beta_fast and beta_slow are exchanged, which its ramp does not allow.
OwnFrequencies with_exchanged_betas(const EncodingSpec& spec, YarnScaling yarn) {
  EncodingSpec base = spec;
  base.frequencies = BaseFrequencies{};
  OwnFrequencies own = {frequencies_of(base)};
  std::swap(yarn.beta_fast, yarn.beta_slow);
  const auto [low, high] = yarn_range(spec, yarn);
  for (std::size_t k = 0; k < own.values.size(); ++k) {
    const double share = std::clamp((high - static_cast<double>(k)) / (high - low), 0.0, 1.0);
    own.values[k] *= share + (1 - share) / yarn.factor;
  }
  return own;
}

/// The changes to frequencies and axes that make sense for an embedding.
class SpecChanges {
 public:
  SpecChanges(const RotarySpec& claimed, const Shown& shown, const NamedRotaries& others)
      : claimed_(claimed.angles), spec_(claimed.angles.parts.front().spec) {
    for (const auto& [name, rotary] : others)
      if (rotary.dimension() == claimed.dimension() &&
          rotary.angles.axes() <= claimed.angles.axes())
        add(CauseKind::other_rule, "the rotary embedding is that of " + name, rotary.angles);
    add_rules();
    add_base(1e4, false);
    add_parts(CauseKind::other_spacing, "the spacing is inclusive, not paper",
              [](EncodingSpec& spec) { spec.spacing = Spacing::inclusive; });
    add_parts(CauseKind::other_rule, "the frequencies are in reversed order",
              [](EncodingSpec& spec) {
                const std::vector<double> values = frequencies_of(spec);
                spec.frequencies = OwnFrequencies{{values.rbegin(), values.rend()}};
              });
    add_parts(CauseKind::other_rule, "the minus of the exponent is missing",
              [](EncodingSpec& spec) {
                OwnFrequencies own = {frequencies_of(spec)};
                for (double& each : own.values) each = 1 / each;
                spec.frequencies = own;
              });
    if (claimed.angles.axes() > 1)
      add_axes();
    else
      add_exponents(shown.channels);
    add_bases(shown.frequencies);
  }

  std::vector<SpecChange> all;

 private:
  void add(CauseKind kind, const std::string& text, const AxesSpec& angles) {
    if (angles == claimed_) return;
    try {
      validate(angles);
      all.push_back({{kind, text}, angles});
    } catch (const InvalidArgument&) {
      // The change makes no sense for this embedding.
    }
  }

  template <class Change>
  void add_parts(CauseKind kind, const std::string& text, const Change& change) {
    AxesSpec angles = claimed_;
    for (AxisPairs& part : angles.parts) change(part.spec);
    add(kind, text, angles);
  }

  void add_rule(const std::string& text, const FrequencyRule& rule) {
    add_parts(CauseKind::other_rule, text, [&](EncodingSpec& spec) { spec.frequencies = rule; });
  }

  void add_rules() {
    const FrequencyRule& rule = spec_.frequencies;
    add_rule(
        format_text("the rule {} is missing: frequencies are those of the base", rule_text(rule)),
        BaseFrequencies{});
    if (const auto* const yarn = std::get_if<YarnScaling>(&rule)) {
      YarnScaling other = *yarn;
      other.truncate = !yarn->truncate;
      add_rule(format_text("the bounds of YaRN's ramp are {}rounded", other.truncate ? "" : "not "),
               other);
      add_parts(CauseKind::other_rule, "beta_fast and beta_slow of YaRN are exchanged",
                [&](EncodingSpec& spec) { spec.frequencies = with_exchanged_betas(spec, *yarn); });
    }
    if (const auto* const linear = std::get_if<LinearScaling>(&rule)) {
      const double factor = linear->factor;
      add_rule(
          format_text("the factor {} multiplies the positions instead of dividing them", factor),
          LinearScaling{1 / factor});
      add_rule(format_text("the factor {} of the rule is applied twice", factor),
               LinearScaling{factor * factor});
    }
  }

  void add_base(double base, bool misses_rule) {
    if (digits_text(base, 6) == digits_text(spec_.base, 6)) return;
    add_parts(
        CauseKind::other_base,
        format_text(
            "the base is {}, not {}{}", digits_text(base, 6), digits_text(spec_.base, 6),
            misses_rule ? ", and the rule " + rule_text(spec_.frequencies) + " is missing" : ""),
        [=](EncodingSpec& spec) {
          spec.base = base;
          if (misses_rule) spec.frequencies = BaseFrequencies{};
        });
  }

  /// Bases of few digits near the base that the frequencies show.
  void add_bases(const std::vector<double>& frequencies) {
    std::vector<double> bases;
    const std::vector<TablePair> pairs = pairs_by_place(claimed_);
    for (std::size_t place = 0; place < frequencies.size(); ++place) {
      const TablePair& pair = pairs[place];
      if (pair.k == 0 || pair.k > 16) continue;
      const EncodingSpec& spec = claimed_.parts[pair.part].spec;
      const auto* const linear = std::get_if<LinearScaling>(&spec.frequencies);
      const double base =
          std::pow(frequencies[place] * (linear != nullptr ? linear->factor : 1),
                   -static_cast<double>(spec.d_model) / static_cast<double>(2 * pair.k));
      if (base > 1 && base < 1e12) bases.push_back(base);
    }
    if (bases.empty()) return;
    const double shown = median(bases);
    const bool misses_rule =
        !is_base(spec_.frequencies) && !std::holds_alternative<LinearScaling>(spec_.frequencies);
    for (const int digits : {1, 2, 3, 4, 5, 6, 17})
      add_base(parse_real(digits_text(shown, digits)).value_or(shown), misses_rule);
  }

  /// Exponents -2 k / d of another d: the whole head, or the channels that turn.
  void add_exponents(std::int64_t channels) {
    const auto* const part = std::get_if<ProportionalScaling>(&spec_.frequencies);
    for (const std::int64_t d : {channels, part != nullptr ? 2 * part->turned : channels}) {
      if (d == spec_.d_model || d == 0) continue;
      add_parts(CauseKind::other_base,
                format_text("the exponents are -2k / {}, not -2k / {}", d, spec_.d_model),
                [&](EncodingSpec& spec) {
                  spec.base = std::pow(spec.base,
                                       static_cast<double>(spec.d_model) / static_cast<double>(d));
                });
    }
  }

  void add_axes() {
    AxesSpec one = claimed_;
    for (AxisPairs& part : one.parts) part.axis = 0;
    add(CauseKind::other_axis, "all pairs turn by axis 0, not by their own axes", one);
    std::vector<std::int64_t> sections(static_cast<std::size_t>(claimed_.axes())), blocks;
    for (const AxisPairs& part : claimed_.parts)
      sections[static_cast<std::size_t>(part.axis)] += part.count();
    for (const std::int64_t each : sections) blocks.push_back(2 * each);
    EncodingSpec spec = spec_;
    spec.d_model = claimed_.d_model();
    for (const auto make : {axes_in_sections, axes_interleaved, axes_alternating, axes_in_blocks}) {
      try {
        const AxesSpec axes = make(make == axes_in_blocks ? blocks : sections, spec);
        add(CauseKind::other_axis,
            format_text("the axes are {}, not {}", to_string(axes), to_string(claimed_)), axes);
      } catch (const InvalidArgument&) {
        // Not every arrangement allows these sections.
      }
    }
  }

  const AxesSpec& claimed_;
  const EncodingSpec& spec_;
};

// ---- Lengths ------------------------------------------------------------------------------------

/// Sets the factor that the shown lengths have, and adds it to the changes.
void find_factor(Angles& found, const std::vector<ShownAngle>& shown) {
  std::vector<double> lengths, limits;
  for (const ShownAngle& each : shown) {
    lengths.push_back(each.length);
    limits.push_back(each.limit);
  }
  const double length = median(lengths), claimed = found.rotary.attention_factor,
               off = std::fabs(std::log(length / claimed)),
               limit = length_noise * median(limits) / std::sqrt(static_cast<double>(shown.size()));
  if (!(off > limit + 0x1p-20) || !std::isfinite(off)) return;
  const auto* const yarn =
      std::get_if<YarnScaling>(&found.rotary.angles.parts.front().spec.frequencies);
  const double of_yarn = yarn != nullptr ? 0.1 * std::log(yarn->factor) : 0;
  const std::string claimed_text = digits_text(claimed, 6), length_text = digits_text(length, 6),
                    numbers = format_text("the attention factor is {}, not {}", length_text,
                                          claimed_text);
  const std::pair<double, std::string> known[] = {
      {1, format_text("the attention factor {} is missing", claimed_text)},
      {claimed * claimed, "the attention factor is squared: " + numbers},
      {2 * of_yarn + 1, "the logarithm in YaRN's attention factor is applied twice: " + numbers},
      {of_yarn + 1, "the attention factor is the one that YaRN computes: " + numbers},
      {std::sqrt(claimed), "the square root of the attention factor is applied: " + numbers}};
  std::string text =
      claimed != 1 ? numbers
                   : format_text("every entry is multiplied by {}, perhaps an attention factor",
                                 length_text);
  found.rotary.attention_factor = length;
  double nearest = off / 16;  // a known factor must explain nearly all of the difference
  for (const auto& [factor, fault] : known) {
    const double distance = std::fabs(std::log(length / factor));
    if (distance >= nearest || factor == claimed) continue;
    nearest = distance;
    text = fault;
  }
  found.changes.push_back({CauseKind::attention_factor, std::move(text)});
}

/// The bits that these angles leave open in the sample.
double open_bits(const Angles& of, const std::vector<ShownAngle>& shown) {
  double bits = 0, product = 1;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const ShownAngle& each = shown[i];
    const double off = of(each.row, each.place) - each.angle;
    product *= 1 + std::fabs(off - full_turn * std::nearbyint(off / full_turn)) / each.limit;
    if (i % 8 != 7 && i + 1 < shown.size()) continue;  // few products cannot overflow
    bits += std::log2(product);
    product = 1;
  }
  return bits;
}

}  // namespace

Angles claimed_angles(const RotarySpec& rotary, const RowPositions& positions) {
  Angles claimed = {
      .rotary = rotary, .rows = positions.count(), .pairs = pairs_by_place(rotary.angles)};
  for (std::int64_t axis = 0; axis < rotary.angles.axes(); ++axis)
    for (std::int64_t row = 0; row < claimed.rows; ++row)
      claimed.positions.push_back(static_cast<double>(positions(axis, row)));
  return claimed;
}

std::optional<Angles> find_changes(const Angles& claimed, const RowPositions& positions,
                                   const Shown& shown, const NamedRotaries& others) {
  if (shown.angles.empty()) return {};
  // Wrong angles leave more or fewer bits open by chance. The logarithm of their errors has a
  // standard deviation of 2.2 bits.
  const double of_chance = 5 * 2.2 * std::sqrt(static_cast<double>(shown.angles.size()));
  std::vector<SpecChange> specs = SpecChanges(claimed.rotary, shown, others).all;
  specs.push_back({{}, claimed.rotary.angles});
  const std::vector<PositionChange> moves =
      position_changes(positions, shown_shift(claimed, shown.angles));
  std::vector<std::vector<double>> moved;
  for (const PositionChange& each : moves)
    moved.push_back(changed(claimed.positions, claimed.rows, each));
  struct Candidate {
    double bits = infinity;
    Angles angles;
  };
  std::array<Candidate, 4> best;  // by the number of changes
  for (const auto& [cause, spec] : specs) {
    Angles angles = claimed;
    angles.rotary.angles = spec;
    if (!cause.text.empty()) angles.pairs = pairs_by_place(spec);
    for (std::size_t i = 0; i < moves.size(); ++i) {
      angles.positions = moved[i];
      for (const double sign : {1.0, -1.0}) {
        angles.sign = sign;
        Candidate& of_count =
            best[static_cast<std::size_t>(!cause.text.empty() + (i > 0) + (sign < 0))];
        const double bits = open_bits(angles, shown.angles);
        if (bits + 1 >= of_count.bits) continue;  // the first one of equals
        of_count = {bits, angles};
        std::vector<Cause>& causes = of_count.angles.changes;
        if (!cause.text.empty()) causes.push_back(cause);
        if (i > 0) causes.push_back({CauseKind::shifted_rows, moves[i].text});
        if (sign < 0)
          causes.push_back(
              {CauseKind::negated_sines, "the sines are negated: the heads are turned backwards"});
      }
    }
  }
  const Candidate* found = &best.front();
  for (const Candidate& each : best)
    if (each.bits + of_chance < found->bits) found = &each;
  Angles result = found->angles;
  find_factor(result, shown.angles);
  return result.changes.empty() ? std::nullopt : std::optional(std::move(result));
}

std::optional<Cause> mixed_conventions(const std::vector<HeadsOfRow>& sample, const Angles& claimed,
                                       std::int64_t offset, double unexplained) {
  const std::int64_t pairs = std::ssize(claimed.pairs);
  const Pairing halves(RotaryLayout::halves, pairs, pairs, offset),
      interleaved(RotaryLayout::interleaved, pairs, pairs, offset);
  for (const auto& [own, other] : {std::pair(&halves, &interleaved), {&interleaved, &halves}}) {
    std::vector<std::int64_t> places(sample.front().channels);  // in the other convention
    for (std::int64_t k = 0; k < pairs; ++k)
      for (const std::size_t channel : other->channels[static_cast<std::size_t>(k)])
        places[channel] = k;
    double unlike = 0, squares = 0;
    for (const auto& [row, channels, type, before, after] : sample) {
      for (const auto& [i, j] : own->channels) {
        const double factor = claimed.rotary.attention_factor;
        const Complex first = std::polar(factor, claimed(row, places[i])),
                      second = std::polar(factor, claimed(row, places[j]));
        for (std::size_t head = 0; head < before.size(); head += channels) {
          const double x = before[head + i], y = before[head + j], a = after[head + i],
                       b = after[head + j],
                       square = std::norm(Complex(a - x * first.real() + y * first.imag(),
                                                  b - y * second.real() - x * second.imag()));
          if (!(square < 1e300)) continue;
          unlike += square;
          squares += a * a + b * b;
        }
      }
    }
    const double rest = squares > 0 ? unlike / squares : 0;
    if (!(4 * rest < unexplained)) continue;
    return Cause{CauseKind::other_arrangement,
                 format_text("two conventions are mixed: the pairs of channels are {}, but each "
                             "channel turns by its angle in {}, which explains {} of what other "
                             "turns do not",
                             own->text, other->text, percent_text(1 - rest / unexplained))};
  }
  return {};
}

}  // namespace internals
}  // namespace posenc::check
