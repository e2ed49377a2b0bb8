// What encodings over several axes are made of.
#include "posenc/model/axes.h"

#include "posenc/model/axes/rows.h"
#include "posenc/model/internal/checks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

namespace posenc {

std::vector<std::vector<std::int64_t>> places_of(const AxesSpec& spec) {
  std::vector<std::vector<std::int64_t>> places;
  std::int64_t next = 0;
  for (const AxisPairs& part : spec.parts) {
    std::vector<std::int64_t>& of_part = places.emplace_back(part.pairs);
    if (of_part.empty()) {
      of_part.resize(static_cast<std::size_t>(part.count()));
      std::iota(of_part.begin(), of_part.end(), next);
    }
    if (!of_part.empty()) next = of_part.back() + 1;
  }
  return places;
}

namespace {

void check_part(const AxisPairs& part, std::size_t index) {
  const auto name = [&](std::string_view member) {
    return format_text("parts[{}].{}", index, member);
  };
  check_range(name("axis"), part.axis, 0, max_axes - 1);
  validate(part.spec);
  if (attention_factor(part.spec.frequencies) != 1) {
    throw InvalidArgument(format_text("{} has an attention factor of {}; allowed: 1, without it",
                                      name("spec"), attention_factor(part.spec.frequencies)));
  }
  for (const std::int64_t k : part.frequencies) {
    if (k >= 0 && k < part.spec.d_model / 2) continue;
    throw InvalidArgument(format_text("{} has {}; allowed: 0 to {}", name("frequencies"), k,
                                      part.spec.d_model / 2 - 1));
  }
  if (!part.pairs.empty()) {
    check_equal(name("pairs"), "values", std::ssize(part.pairs), "one for each frequency",
                part.count());
  }
  check_range(name("denominator"), part.denominator, 0x1p-10, 0x1p64);
}

/// Throws unless the sections are those of the pairs of an allowed spec.
void check_sections(std::span<const std::int64_t> sections, const EncodingSpec& spec) {
  validate(spec);
  check_range("the number of sections", std::ssize(sections), 1, max_axes);
  std::int64_t sum = 0;
  for (const std::int64_t each : sections) {
    check_range("a section", each, 0, max_d_model);
    sum += each;
  }
  check_equal("sections", "pairs", sum, "d_model / 2", spec.d_model / 2);
}

/// Pairs of one encoding, each on the axis that axis_of(k) says.
template <class AxisOf>
AxesSpec axes_by_pair(std::int64_t axes, const EncodingSpec& spec, const AxisOf& axis_of) {
  AxesSpec result = {.layout = spec.layout};
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    AxisPairs part = {.axis = axis, .spec = spec};
    for (std::int64_t k = 0; k < spec.d_model / 2; ++k) {
      if (axis_of(k) != axis) continue;
      part.frequencies.push_back(k);
      part.pairs.push_back(k);
    }
    if (!part.pairs.empty()) result.parts.push_back(std::move(part));
  }
  return result;
}

/// The denominator of every part of an axis; 1 if it has none.
double denominator_of(const AxesSpec& spec, std::int64_t axis) {
  std::optional<double> found;
  for (const AxisPairs& part : spec.parts) {
    if (part.axis != axis) continue;
    if (found.value_or(part.denominator) != part.denominator) {
      throw InvalidArgument(
          format_text("denominator of a part on axis {} is {}; allowed: {}, that of another part",
                      axis, part.denominator, *found));
    }
    found = part.denominator;
  }
  return found.value_or(1);
}

}  // namespace

std::int64_t AxesSpec::d_model() const noexcept {
  std::int64_t pairs = 0;
  for (const AxisPairs& part : parts) pairs += part.count();
  return 2 * pairs;
}

std::int64_t AxesSpec::axes() const noexcept {
  std::int64_t count = 0;
  for (const AxisPairs& part : parts) count = std::max(count, part.axis + 1);
  return count;
}

void validate(const AxesSpec& spec) {
  for (std::size_t i = 0; i < spec.parts.size(); ++i) check_part(spec.parts[i], i);
  const std::int64_t pairs = spec.d_model() / 2;
  if (pairs < 1 || 2 * pairs > max_d_model) {
    throw InvalidArgument(
        format_text("the parts have {} channels; allowed: 2 to {}", 2 * pairs, max_d_model));
  }
  std::vector<bool> is_taken(static_cast<std::size_t>(pairs));
  const auto places = places_of(spec);
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (const std::int64_t place : places[i]) {
      if (place >= 0 && place < pairs && !is_taken[static_cast<std::size_t>(place)]) {
        is_taken[static_cast<std::size_t>(place)] = true;
        continue;
      }
      throw InvalidArgument(format_text(
          "parts[{}].pairs has {}; allowed: 0 to {}, each in one part", i, place, pairs - 1));
    }
    if (!spec.parts_have_layouts || spec.parts[i].pairs.empty()) continue;
    throw InvalidArgument(
        format_text("parts[{}].pairs is given; allowed if parts have layouts: none", i));
  }
  validate(spec.layout);
}

AxesSpec one_axis(const EncodingSpec& spec) {
  return {.parts = {{.axis = 0, .spec = spec}}, .layout = spec.layout};
}

AxesSpec axes_in_blocks(std::span<const std::int64_t> channels, const EncodingSpec& spec) {
  AxesSpec result = {.layout = spec.layout};
  for (const std::int64_t each : channels) {
    AxisPairs part = {.axis = static_cast<std::int64_t>(result.parts.size()), .spec = spec};
    part.spec.d_model = each;
    result.parts.push_back(std::move(part));
  }
  validate(result);
  return result;
}

AxesSpec axes_in_sections(std::span<const std::int64_t> sections, const EncodingSpec& spec) {
  check_sections(sections, spec);
  std::vector<std::int64_t> ends;
  std::partial_sum(sections.begin(), sections.end(), std::back_inserter(ends));
  return axes_by_pair(static_cast<std::int64_t>(sections.size()), spec, [&](std::int64_t k) {
    return std::ranges::upper_bound(ends, k) - ends.begin();
  });
}

AxesSpec axes_interleaved(std::span<const std::int64_t> sections, const EncodingSpec& spec) {
  check_sections(sections, spec);
  const auto axes = static_cast<std::int64_t>(sections.size());
  return axes_by_pair(axes, spec, [&](std::int64_t k) {
    const std::int64_t axis = k % axes;
    return k < axes * sections[static_cast<std::size_t>(axis)] ? axis : 0;
  });
}

AxesSpec axes_alternating(std::span<const std::int64_t> sections, const EncodingSpec& spec) {
  check_sections(sections, spec);
  if (sections.size() != 3 || sections[1] != sections[2]) {
    throw InvalidArgument(
        format_text("there are {} sections; allowed for alternating pairs: time, height and width, "
                    "with equal sections of the last two",
                    sections.size()));
  }
  return axes_by_pair(3, spec, [&](std::int64_t k) {
    return k < sections[1] + sections[2] ? 1 + k % 2 : std::int64_t{0};
  });
}

template <class Real>
std::vector<std::int64_t> axis_multiples(const AxesSpec& spec, std::span<const Real> positions) {
  validate(spec);
  const auto axes = static_cast<std::size_t>(spec.axes());
  if (positions.size() % axes != 0) {
    throw InvalidArgument(format_text("there are {} positions; allowed: as many on each of {} axes",
                                      positions.size(), axes));
  }
  const std::size_t rows = positions.size() / axes;
  std::vector<std::int64_t> multiples;
  multiples.reserve(positions.size());
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const double denominator = denominator_of(spec, static_cast<std::int64_t>(axis));
    for (std::size_t row = 0; row < rows; ++row) {
      const Real position = positions[axis * rows + row];
      const double multiple = std::nearbyint(static_cast<double>(position) * denominator);
      const bool is_nearest = static_cast<Real>(multiple / denominator) == position;
      if (!is_nearest || !(std::fabs(multiple) <= static_cast<double>(max_position))) {
        throw InvalidArgument(format_text(
            "position of row {} on axis {} is {}; allowed: multiples of 1 / {} with "
            "integers from {} to {}",
            row, axis, static_cast<double>(position), denominator, -max_position, max_position));
      }
      multiples.push_back(static_cast<std::int64_t>(multiple));
    }
  }
  return multiples;
}
template std::vector<std::int64_t> axis_multiples(const AxesSpec&, std::span<const double>);
template std::vector<std::int64_t> axis_multiples(const AxesSpec&, std::span<const float>);

void validate(const RowPositions& positions, std::int64_t axes) {
  if (positions.is_range()) return validate(RowRange{positions.first(), positions.count()});
  if (positions.axes() != 0 && positions.axes() != axes) {
    throw InvalidArgument(format_text(
        "positions are on {} axes; allowed: {}, or a position for each row that is equal on all",
        positions.axes(), axes));
  }
  if (positions.count() < 0)
    throw InvalidArgument(format_text("row count is {}; allowed: at least 0", positions.count()));
  for (std::int64_t axis = 0; axis < std::max<std::int64_t>(positions.axes(), 1); ++axis) {
    const IntegerView each = positions.list(axis);
    if (each.data() == nullptr && each.count() > 0)
      throw InvalidArgument("positions have no memory (null); allowed: a valid pointer");
    const auto [least, most] = detail::extent_of(each);
    if (least >= -max_position && most <= max_position) continue;
    const std::int64_t bad = least < -max_position ? least : most;
    std::int64_t row = 0;
    while (each[row] != bad) ++row;
    throw InvalidArgument(format_text("position of row {} on axis {} is {}; allowed: {} to {}", row,
                                      axis, bad, -max_position, max_position));
  }
}

std::int64_t grid_cells(std::span<const std::int64_t> sizes) {
  check_range("the number of axes", std::ssize(sizes), 0, max_axes);
  std::int64_t cells = 1;
  for (const std::int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(cells, size, &cells) || cells > max_position) {
      throw InvalidArgument(
          format_text("a size of the grid is {}; allowed: at least 0, and at most {} cells in all",
                      size, max_position));
    }
  }
  return cells;
}

std::vector<std::int64_t> grid_positions(std::span<const std::int64_t> sizes,
                                         std::span<const std::int64_t> firsts) {
  const std::int64_t cells = grid_cells(sizes);
  if (!firsts.empty() && firsts.size() != sizes.size()) {
    throw InvalidArgument(format_text("there are {} first positions; allowed: none, or {}",
                                      firsts.size(), sizes.size()));
  }
  std::vector<std::int64_t> positions(sizes.size() * static_cast<std::size_t>(cells));
  std::int64_t repeats = cells;  // cells between two that differ on the axis
  auto next = positions.begin();
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    const RowRange of_axis = {firsts.empty() ? 0 : firsts[axis], sizes[axis]};
    validate(of_axis);
    if (cells == 0) continue;
    repeats /= of_axis.count;
    for (std::int64_t cell = 0; cell < cells; ++cell)
      *next++ = of_axis.first + cell / repeats % of_axis.count;
  }
  return positions;
}

}  // namespace posenc
