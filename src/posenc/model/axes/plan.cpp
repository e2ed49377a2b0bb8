// What an encoding over several axes is planned as.
#include "posenc/model/axes/rows.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <utility>

namespace posenc {

using detail::AxisPlan;
using detail::CopiedChannels;

namespace {

constexpr RowRange any_rows = {0, max_position + 1};

/// Frequency k of the encoding of a part, and its channels in a row.
struct Pair {
  const AxisPairs* part;
  std::int64_t k;
  ChannelPair in_row;
};

/// All pairs of a row, in ascending order of their sines.
std::vector<Pair> pairs_of(const AxesSpec& spec) {
  const auto places = places_of(spec);
  std::vector<Pair> pairs;
  pairs.reserve(static_cast<std::size_t>(spec.d_model() / 2));
  EncodingSpec row = {.d_model = spec.d_model(), .layout = spec.layout};
  std::int64_t first = 0;  // channel of the row
  for (std::size_t i = 0; i < spec.parts.size(); ++i) {
    const AxisPairs& part = spec.parts[i];
    if (spec.parts_have_layouts) {
      first += i == 0 ? 0 : row.d_model;
      row = {.d_model = 2 * part.count(), .layout = part.spec.layout};
    }
    for (std::size_t j = 0; j < places[i].size(); ++j) {
      const ChannelPair channels = channels_of(row, places[i][j] - first / 2);
      pairs.push_back(
          {&part,
           part.frequencies.empty() ? static_cast<std::int64_t>(j) : part.frequencies[j],
           {first + channels.sine, first + channels.cosine}});
    }
  }
  const auto sine = [](const Pair& pair) { return pair.in_row.sine; };
  if (!std::ranges::is_sorted(pairs, {}, sine)) std::ranges::sort(pairs, {}, sine);
  return pairs;
}

/// The encoding of these pairs alone: that of a part, if they are all of it in its order.
EncodingSpec spec_of(std::span<const Pair> pairs, Layout layout) {
  PickedFrequencies rule;
  std::map<const AxisPairs*, std::uint32_t> numbers;  // of the encodings, which parts may share
  bool is_in_order = true;
  for (const Pair& pair : pairs) {
    const AxisPairs& part = *pair.part;
    const auto [number, is_new] = numbers.try_emplace(&part);
    if (is_new) {
      const auto found = std::ranges::find_if(rule.encodings, [&](const auto& each) {
        return each.denominator == part.denominator && *each.spec == part.spec;
      });
      number->second = static_cast<std::uint32_t>(found - rule.encodings.begin());
      if (found == rule.encodings.end())
        rule.encodings.push_back({std::make_shared<EncodingSpec>(part.spec), part.denominator});
    }
    is_in_order &= pair.k == std::ssize(rule.picks);
    rule.picks.push_back({number->second, static_cast<std::uint32_t>(pair.k)});
  }
  const PickedFrequencies::Encoding& first = rule.encodings.front();
  const bool is_whole = is_in_order && rule.encodings.size() == 1 && first.denominator == 1 &&
                        std::ssize(pairs) == first.spec->d_model / 2;
  EncodingSpec result = is_whole ? *first.spec : EncodingSpec{.frequencies = rule};
  result.d_model = 2 * std::ssize(pairs);
  result.layout = layout;
  return result;
}

/// Where the channels of an encoding of these pairs are in a row. Channels that are consecutive in
/// both are merged.
std::vector<CopiedChannels> copied_channels(std::span<const Pair> pairs, Layout layout) {
  const EncodingSpec own = {.d_model = 2 * std::ssize(pairs), .layout = layout};
  std::vector<std::int64_t> to(2 * pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const ChannelPair from = channels_of(own, static_cast<std::int64_t>(i));
    to[static_cast<std::size_t>(from.sine)] = pairs[i].in_row.sine;
    to[static_cast<std::size_t>(from.cosine)] = pairs[i].in_row.cosine;
  }
  std::vector<CopiedChannels> copied;
  for (std::size_t from = 0; from < to.size(); ++from) {
    if (!copied.empty() && copied.back().to + copied.back().count == to[from]) {
      ++copied.back().count;
    } else {
      copied.push_back({static_cast<std::int64_t>(from), to[from], 1});
    }
  }
  return copied;
}

}  // namespace

AxesEncoder::Plan::Plan(const AxesSpec& from, const Accuracy& accuracy, DataType type)
    : spec((validate(from), from)), d_model(spec.d_model()), axes(spec.axes()) {
  const SelectionOptions options = {.accuracy = accuracy, .type = type};
  const std::vector<Pair> pairs = pairs_of(spec);
  if (spec.parts_have_layouts) {
    selection = select_backend({.d_model = d_model}, any_rows, options);
  } else {
    SelectedEncoder all = plan_selected(spec_of(pairs, spec.layout), any_rows, options);
    of_equal = std::move(all.encoder);
    selection = std::move(all.selection);
    if (axes == 1) return;
  }
  // Pairs of one encoder: those of an axis, or of a part with its layout.
  std::map<std::int64_t, std::vector<Pair>> groups;
  for (const Pair& pair : pairs)
    groups[spec.parts_have_layouts ? pair.part - spec.parts.data() : pair.part->axis].push_back(
        pair);
  std::vector<EncodingSpec> specs;
  std::int64_t copies = 0;
  for (const auto& [number, group] : groups) {
    const AxisPairs& part = *group.front().part;
    const Layout layout = spec.parts_have_layouts ? part.spec.layout : spec.layout;
    specs.push_back(spec_of(group, layout));
    of_axes.push_back({part.axis, copied_channels(group, layout)});
    copies += std::ssize(of_axes.back().channels);
  }
  // A copy would have fewer channels than a small vector, on average.
  constexpr std::int64_t fewest_channels = 4;
  const bool are_scattered = of_equal != nullptr && d_model < copies * fewest_channels;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    of_axes[i].has_whole_rows = are_scattered;
    of_axes[i].encoder =
        are_scattered ? of_equal : plan_selected(specs[i], any_rows, options).encoder;
  }
}

EncodingSpec spec_of_equal_positions(const AxesSpec& spec) {
  validate(spec);
  if (spec.parts_have_layouts)
    throw InvalidArgument("parts_have_layouts is true; allowed: false, for one layout");
  return spec_of(pairs_of(spec), spec.layout);
}

AxesEncoder::AxesEncoder(const AxesSpec& spec, const Accuracy& accuracy, DataType type)
    : plan_(std::make_unique<Plan>(spec, accuracy, type)) {}
AxesEncoder::~AxesEncoder() = default;
AxesEncoder::AxesEncoder(AxesEncoder&&) noexcept = default;
AxesEncoder& AxesEncoder::operator=(AxesEncoder&&) noexcept = default;

const AxesSpec& AxesEncoder::spec() const noexcept { return plan_->spec; }
std::int64_t AxesEncoder::d_model() const noexcept { return plan_->d_model; }
const Selection& AxesEncoder::selection() const noexcept { return plan_->selection; }

}  // namespace posenc
