// Specs and positions of encodings over several axes.
#include "posenc/model/axes.h"

#include "posenc/model/internal/checks.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace posenc::model {

std::vector<AxisPair> pairs_of(const AxesSpec& spec) {
  std::vector<AxisPair> pairs;
  pairs.reserve(static_cast<std::size_t>(spec.d_model() / 2));
  EncodingSpec row = {.d_model = spec.d_model(), .layout = spec.layout};
  std::int64_t first = 0, next = 0;  // the first pair of `row`; the next place
  for (std::size_t i = 0; i < spec.parts.size(); ++i) {
    const AxisPairs& part = spec.parts[i];
    if (spec.parts_have_layouts) {
      row = {.d_model = 2 * part.count(), .layout = part.spec.layout};
      first = next;
    }
    for (std::size_t j = 0; j < static_cast<std::size_t>(part.count()); ++j) {
      const auto k = part.frequencies.empty() ? static_cast<std::int64_t>(j) : part.frequencies[j];
      const std::int64_t place = part.pairs.empty() ? next : part.pairs[j];
      const ChannelPair channels = channels_of(row, place - first);
      pairs.push_back({i, k, place, {2 * first + channels.sine, 2 * first + channels.cosine}});
      next = place + 1;
    }
  }
  return pairs;
}

namespace {

void check_part(const AxesSpec& spec, std::size_t index) {
  const AxisPairs& part = spec.parts[index];
  const auto name = [&](std::string_view member) {
    return format_text("parts[{}].{}", index, member);
  };
  check_range(name("axis"), part.axis, 0, max_axes - 1);
  validate(part.spec);
  if (attention_factor(part.spec.frequencies) != 1) {
    throw_invalid("{} has an attention factor of {}; allowed: 1, without it", name("spec"),
                  attention_factor(part.spec.frequencies));
  }
  for (const std::int64_t k : part.frequencies) {
    if (k >= 0 && k < part.spec.d_model / 2) continue;
    throw_invalid("{} has {}; allowed: 0 to {}", name("frequencies"), k, part.spec.d_model / 2 - 1);
  }
  if (part.pairs.empty()) return;
  if (spec.parts_have_layouts)
    throw_invalid("{} is given; allowed if parts have layouts: none", name("pairs"));
  check_equal(name("pairs"), "values", std::ssize(part.pairs), "one for each frequency",
              part.count());
}

/// Distributes the pairs of one encoding to axes: pair k is on axis axis_of(k). Throws unless the
/// spec is allowed and the sections sum to the number of its pairs.
template <class AxisOf>
AxesSpec axes_by_pair(const IntegerView& sections, const EncodingSpec& spec,
                      const AxisOf& axis_of) {
  validate(spec);
  check_range("the number of sections", sections.count(), 1, max_axes);
  std::int64_t pairs = 0;
  for (const std::int64_t each : sections.list()) {
    check_range("a section", each, 0, max_d_model);
    pairs += each;
  }
  check_equal("sections", "pairs", pairs, "d_model / 2", spec.d_model / 2);
  AxesSpec result = {.layout = spec.layout};
  for (std::int64_t axis = 0; axis < sections.count(); ++axis) {
    std::vector<std::int64_t> own;
    for (std::int64_t k = 0; k < pairs; ++k) {
      if (axis_of(k) == axis) own.push_back(k);
    }
    if (!own.empty())
      result.parts.push_back({.axis = axis, .spec = spec, .frequencies = own, .pairs = own});
  }
  return result;
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
  for (std::size_t i = 0; i < spec.parts.size(); ++i) check_part(spec, i);
  validate(spec.layout);
  const std::int64_t pairs = spec.d_model() / 2;
  if (pairs < 1 || 2 * pairs > max_d_model)
    throw_invalid("the parts have {} channels; allowed: 2 to {}", 2 * pairs, max_d_model);
  std::vector<bool> is_taken(static_cast<std::size_t>(pairs));
  std::int64_t next = 0;
  for (std::size_t i = 0; i < spec.parts.size(); ++i) {
    const AxisPairs& part = spec.parts[i];
    for (std::size_t j = 0; j < static_cast<std::size_t>(part.count()); ++j) {
      const std::int64_t place = part.pairs.empty() ? next : part.pairs[j];
      if (place < 0 || place >= pairs || is_taken[static_cast<std::size_t>(place)]) {
        throw_invalid("parts[{}].pairs has {}; allowed: 0 to {}, each in one part", i, place,
                      pairs - 1);
      }
      is_taken[static_cast<std::size_t>(place)] = true;
      next = place + 1;
    }
  }
}

std::optional<EncodingSpec> spec_of_equal_positions(const AxesSpec& spec) {
  validate(spec);
  if (spec.parts_have_layouts) return {};
  EncodingSpec result = spec.parts.front().spec;
  result.layout = spec.layout;
  if (result.d_model != spec.d_model()) return {};
  for (const AxisPair& pair : pairs_of(spec)) {
    EncodingSpec of_part = spec.parts[pair.part].spec;
    of_part.layout = spec.layout;
    if (pair.k != pair.place || of_part != result) return {};
  }
  return result;
}

AxesSpec one_axis(const EncodingSpec& spec) {
  return {.parts = {{.axis = 0, .spec = spec}}, .layout = spec.layout};
}

AxesSpec axes_in_blocks(const IntegerView& channels, const EncodingSpec& spec) {
  AxesSpec result = {.layout = spec.layout};
  for (const std::int64_t each : channels.list()) {
    AxisPairs part = {.axis = static_cast<std::int64_t>(result.parts.size()), .spec = spec};
    part.spec.d_model = each;
    result.parts.push_back(std::move(part));
  }
  validate(result);
  return result;
}

AxesSpec axes_in_sections(const IntegerView& sections, const EncodingSpec& spec) {
  return axes_by_pair(sections, spec, [&](std::int64_t k) {
    std::int64_t axis = 0;
    while (k >= sections[axis]) k -= sections[axis++];
    return axis;
  });
}

AxesSpec axes_interleaved(const IntegerView& sections, const EncodingSpec& spec) {
  return axes_by_pair(sections, spec, [&](std::int64_t k) {
    const std::int64_t axis = k % sections.count();
    return k < sections.count() * sections[axis] ? axis : 0;
  });
}

AxesSpec axes_alternating(const IntegerView& sections, const EncodingSpec& spec) {
  if (sections.count() != 3 || sections[1] != sections[2]) {
    throw_invalid(
        "there are {} sections; allowed for alternating pairs: time, height and width, "
        "with equal sections of the last two",
        sections.count());
  }
  return axes_by_pair(sections, spec, [&](std::int64_t k) {
    return k < sections[1] + sections[2] ? 1 + k % 2 : std::int64_t{0};
  });
}

std::string to_string(const AxesSpec& angles) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(angles.axes()));
  bool are_in_order = true, have_all = true;
  std::int64_t next = 0;
  for (const AxisPair& pair : pairs_of(angles)) {
    ++counts[static_cast<std::size_t>(angles.parts[pair.part].axis)];
    are_in_order &= pair.place == next++;
  }
  // Each block has all frequencies of an encoding; sections share the frequencies of one encoding.
  for (const AxisPairs& part : angles.parts) have_all &= part.frequencies.empty();
  std::vector<std::string> texts;
  for (const std::int64_t each : counts) texts.push_back(number_text(each));
  const char* const how = !are_in_order ? "interleaved, of "
                          : have_all    ? "in blocks of "
                                        : "in sections of ";
  return how + join(texts, ", ") + " pairs";
}

}  // namespace posenc::model
