#include "posenc/model/axes/plan.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace posenc {

using detail::AxisPlan;
using detail::CopiedChannels;

namespace {

/// Rows of tables that stay in cache: what backends are selected for.
constexpr std::int64_t rows_in_cache = 64;

/// Some pairs of a row, in the order in which an encoder has them.
struct PickedPairs {
  PickedFrequencies rule = {};
  std::vector<std::int64_t> places = {};  ///< in the row

  void add(const AxisPairs& part, std::span<const std::int64_t> places_of_part) {
    const std::uint32_t encoding = number_of(part);
    for (std::size_t i = 0; i < places_of_part.size(); ++i) {
      const std::int64_t k =
          part.frequencies.empty() ? static_cast<std::int64_t>(i) : part.frequencies[i];
      rule.picks.push_back({encoding, static_cast<std::uint32_t>(k)});
      places.push_back(places_of_part[i]);
    }
  }

  /// The number of the part's encoding, which several parts may share.
  std::uint32_t number_of(const AxisPairs& part) {
    const auto found = std::ranges::find_if(rule.encodings, [&](const auto& each) {
      return each.denominator == part.denominator && *each.spec == part.spec;
    });
    const auto number = static_cast<std::uint32_t>(found - rule.encodings.begin());
    if (found == rule.encodings.end())
      rule.encodings.push_back({std::make_shared<EncodingSpec>(part.spec), part.denominator});
    return number;
  }

  /// In ascending order of their places.
  void sort() {
    std::vector<std::size_t> order(places.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return places[i]; });
    PickedPairs sorted = {{rule.encodings, {}}, {}};
    for (const std::size_t i : order) {
      sorted.rule.picks.push_back(rule.picks[i]);
      sorted.places.push_back(places[i]);
    }
    *this = std::move(sorted);
  }

  /// The spec of these pairs alone: the encoding itself, if they are all of it.
  EncodingSpec spec(Layout layout) const {
    const PickedFrequencies::Encoding& first = rule.encodings.front();
    bool is_whole = rule.encodings.size() == 1 && first.denominator == 1 &&
                    static_cast<std::int64_t>(places.size()) == first.spec->d_model / 2;
    for (std::size_t i = 0; i < rule.picks.size(); ++i) is_whole &= rule.picks[i].k == i;
    EncodingSpec result = is_whole ? *first.spec : EncodingSpec{.frequencies = rule};
    result.d_model = 2 * static_cast<std::int64_t>(places.size());
    result.layout = layout;
    return result;
  }
};

/// All pairs of a row, whose parts have no layouts.
PickedPairs all_pairs(const AxesSpec& spec) {
  const auto places = places_of(spec);
  PickedPairs all;
  for (std::size_t i = 0; i < spec.parts.size(); ++i) all.add(spec.parts[i], places[i]);
  all.sort();
  return all;
}

/// Merges channels that are consecutive in both rows. to[i] is the place of channel i.
std::vector<CopiedChannels> copied_channels(std::span<const std::int64_t> to) {
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

constexpr RowRange any_rows = {0, max_position + 1};

SelectedEncoder planned(const EncodingSpec& spec, const Accuracy& accuracy, DataType type) {
  return plan_selected(spec, any_rows, {.accuracy = accuracy, .type = type});
}

/// The plan of some pairs. `place` says where in a row the channels of the pair of a place are.
template <class ChannelsOf>
AxisPlan axis_plan(std::int64_t axis, const PickedPairs& pairs, Layout layout,
                   const Accuracy& accuracy, DataType type, const ChannelsOf& channels_of_place) {
  AxisPlan plan = {axis, planned(pairs.spec(layout), accuracy, type).encoder, {}};
  std::vector<std::int64_t> to(static_cast<std::size_t>(plan.columns()));
  for (std::size_t i = 0; i < pairs.places.size(); ++i) {
    const ChannelPair from = channels_of(plan.encoder->spec(), static_cast<std::int64_t>(i));
    const ChannelPair in_row = channels_of_place(pairs.places[i]);
    to[static_cast<std::size_t>(from.sine)] = in_row.sine;
    to[static_cast<std::size_t>(from.cosine)] = in_row.cosine;
  }
  plan.channels = copied_channels(to);
  return plan;
}

/// True if a copy would have fewer channels than a small vector, on average.
bool are_scattered(const std::vector<AxisPlan>& axes, std::int64_t d_model) noexcept {
  constexpr std::size_t fewest = 4;
  std::size_t copies = 0;
  for (const AxisPlan& each : axes) copies += each.channels.size();
  return static_cast<std::size_t>(d_model) < copies * fewest;
}

}  // namespace

AxesEncoder::Plan::Plan(const AxesSpec& from, const Accuracy& accuracy, DataType type)
    : spec((validate(from), from)), d_model(spec.d_model()), axes(spec.axes()) {
  spec.parts_have_layouts ? plan_parts(accuracy, type) : plan_axes(accuracy, type);
}

void AxesEncoder::Plan::plan_parts(const Accuracy& accuracy, DataType type) {
  const auto places = places_of(spec);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < spec.parts.size(); ++i) {
    const AxisPairs& part = spec.parts[i];
    PickedPairs pairs;
    pairs.add(part, places[i]);
    const EncodingSpec of_part = {.d_model = 2 * part.count(), .layout = part.spec.layout};
    of_axes.push_back(
        axis_plan(part.axis, pairs, part.spec.layout, accuracy, type, [&](std::int64_t place) {
          const ChannelPair channels = channels_of(of_part, place - first / 2);
          return ChannelPair{first + channels.sine, first + channels.cosine};
        }));
    first += of_part.d_model;
  }
  const EncodingSpec row = {.d_model = d_model};
  selection = select_backend(row, any_rows, {.accuracy = accuracy, .type = type});
}

void AxesEncoder::Plan::plan_axes(const Accuracy& accuracy, DataType type) {
  const auto places = places_of(spec);
  SelectedEncoder selected = planned(all_pairs(spec).spec(spec.layout), accuracy, type);
  of_equal = std::move(selected.encoder);
  selection = std::move(selected.selection);
  if (axes == 1) return;
  const EncodingSpec row = {.d_model = d_model, .layout = spec.layout};
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    PickedPairs pairs;
    for (std::size_t i = 0; i < spec.parts.size(); ++i) {
      if (spec.parts[i].axis == axis) pairs.add(spec.parts[i], places[i]);
    }
    if (pairs.places.empty()) continue;
    pairs.sort();
    of_axes.push_back(axis_plan(axis, pairs, spec.layout, accuracy, type,
                                [&](std::int64_t place) { return channels_of(row, place); }));
  }
  if (!are_scattered(of_axes, d_model)) return;
  for (AxisPlan& each : of_axes) {
    each.encoder = of_equal;
    each.has_whole_rows = true;
  }
}

EncodingSpec spec_of_equal_positions(const AxesSpec& spec) {
  validate(spec);
  if (spec.parts_have_layouts)
    throw InvalidArgument("parts_have_layouts is true; allowed: false, for one layout");
  return all_pairs(spec).spec(spec.layout);
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
