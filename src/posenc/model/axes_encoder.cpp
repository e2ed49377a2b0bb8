#include "posenc/model/axes_encoder.h"

#include "posenc/backends/shared_values.h"
#include "posenc/model/internal/axes_rows.h"
#include "posenc/planning.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace posenc {

const detail::AxesPlan& detail::plan_of(const model::AxesEncoder& encoder) noexcept {
  return *encoder.plan_;
}

namespace model {
namespace {

constexpr RowRange any_rows = {0, max_position + 1};

/// True if the pairs are all of a part, in its order, or of parts with equal specs.
bool are_whole_part(const AxesSpec& spec, std::span<const AxisPair> pairs) {
  const EncodingSpec& first = spec.parts[pairs.front().part].spec;
  std::int64_t next = 0;
  return std::ssize(pairs) == first.d_model / 2 &&
         std::ranges::all_of(pairs, [&](const AxisPair& pair) {
           return pair.k == next++ &&
                  (pair.part == pairs.front().part || spec.parts[pair.part].spec == first);
         });
}

/// The encoder of these pairs alone, in that order.
SelectedEncoder plan_pairs(const AxesSpec& spec, std::span<const AxisPair> pairs, Layout layout,
                           const SelectionOptions& options) {
  if (are_whole_part(spec, pairs)) {
    EncodingSpec of_part = spec.parts[pairs.front().part].spec;
    of_part.layout = layout;
    return plan_selected(of_part, any_rows, options);
  }
  std::vector<PickedFrequency> picked;
  for (const AxisPair& pair : pairs)
    picked.push_back({shared_frequencies(spec.parts[pair.part].spec), pair.k});
  Selection selection = select_backend({.d_model = 2 * std::ssize(pairs)}, any_rows, options);
  auto encoder = Planning::plan(*selection.backend, layout, shared_frequencies(picked));
  if (!options.accuracy.is_kept_by(promise_of(*encoder, any_rows, options.type)))
    throw_invalid("accuracy is {}; allowed with these frequencies on backend {}: a larger error",
                  to_string(options.accuracy), selection.backend->full_name());
  return {std::move(encoder), std::move(selection)};
}

/// Maps the channels of an encoding of these pairs to a row. Channels that are consecutive in both
/// are merged.
std::vector<CopiedChannels> copied_channels(std::span<const AxisPair> pairs, Layout layout) {
  const EncodingSpec own = {.d_model = 2 * std::ssize(pairs), .layout = layout};
  std::vector<std::int64_t> to(2 * pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const ChannelPair from = channels_of(own, static_cast<std::int64_t>(i));
    to[static_cast<std::size_t>(from.sine)] = pairs[i].channels.sine;
    to[static_cast<std::size_t>(from.cosine)] = pairs[i].channels.cosine;
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

AxesPlan plan_axes(const AxesSpec& spec, const Accuracy& accuracy, DataType type) {
  validate(spec);
  AxesPlan plan = {.spec = spec, .d_model = spec.d_model(), .axes = spec.axes()};
  const SelectionOptions options = {.accuracy = accuracy, .type = type};
  std::vector<AxisPair> pairs = pairs_of(spec);
  std::ranges::sort(pairs, {}, [](const AxisPair& pair) { return pair.channels.sine; });
  if (spec.parts_have_layouts) {
    plan.selection = select_backend({.d_model = plan.d_model}, any_rows, options);
  } else {
    SelectedEncoder all = plan_pairs(spec, pairs, spec.layout, options);
    plan.of_equal = std::move(all.encoder);
    plan.selection = std::move(all.selection);
    if (plan.axes == 1) return plan;
  }
  // Pairs that share an encoder: the pairs of an axis, or of a part with its own layout.
  const auto group_of = [&spec](const AxisPair& pair) {
    return spec.parts_have_layouts ? static_cast<std::int64_t>(pair.part)
                                   : spec.parts[pair.part].axis;
  };
  std::ranges::stable_sort(pairs, {}, group_of);
  const auto layout_of = [&spec](const AxisPair& pair) {
    return spec.parts_have_layouts ? spec.parts[pair.part].spec.layout : spec.layout;
  };
  std::vector<std::span<const AxisPair>> groups;
  std::int64_t copies = 0;
  for (auto begin = pairs.begin(), end = begin; begin != pairs.end(); begin = end) {
    end = std::ranges::upper_bound(begin, pairs.end(), group_of(*begin), {}, group_of);
    const auto& group = groups.emplace_back(begin, end);
    plan.of_axes.push_back(
        {spec.parts[begin->part].axis, copied_channels(group, layout_of(*begin))});
    copies += std::ssize(plan.of_axes.back().channels);
  }
  // On average, a copy would have fewer channels than a small vector.
  constexpr std::int64_t fewest_channels = 4;
  const bool are_scattered = plan.of_equal != nullptr && plan.d_model < copies * fewest_channels;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    plan.of_axes[i].has_whole_rows = are_scattered;
    plan.of_axes[i].encoder =
        are_scattered ? plan.of_equal
                      : plan_pairs(spec, groups[i], layout_of(groups[i].front()), options).encoder;
  }
  return plan;
}

}  // namespace

AxesEncoder::AxesEncoder(const AxesSpec& spec, const Accuracy& accuracy, DataType type)
    : plan_(std::make_shared<AxesPlan>(plan_axes(spec, accuracy, type))) {}

const AxesSpec& AxesEncoder::spec() const noexcept { return plan_->spec; }
std::int64_t AxesEncoder::d_model() const noexcept { return plan_->d_model; }
const Selection& AxesEncoder::selection() const noexcept { return plan_->selection; }

void AxesEncoder::encode(const RowPositions& positions, OutputView out,
                         EncodeOptions options) const {
  validate(positions, plan_->axes);
  check_threads(options.threads);
  check_view(out, positions.count(), d_model());
  PreparedRows(*plan_, positions, out.type, options.threads)
      .write(0, positions.count(), out, options);
}

}  // namespace model
}  // namespace posenc
