// Plans encodings over several axes, and computes their rows.
#include "posenc/model/internal/axes_rows.h"

#include "posenc/simd/dispatch.h"
#include "posenc/simd/store_plan.h"
#include "posenc/support/check.h"
#include "posenc/support/parallel_for.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <span>
#include <unordered_map>

namespace posenc {
namespace detail {

/// Consecutive channels that are copied from the row of an axis to the row of the table.
struct CopiedChannels {
  std::int64_t from, to, count;
};

/// The pairs that are rotated by the positions of one axis.
struct AxisPlan {
  std::int64_t axis;
  std::vector<CopiedChannels> channels;
  std::shared_ptr<const Encoder> encoder = nullptr;
  /// True if the channels are scattered. The encoder then encodes all pairs, and a mask selects the
  /// channels.
  bool has_whole_rows = false;
};

}  // namespace detail

struct AxesEncoder::Plan {
  AxesSpec spec;
  std::int64_t d_model;
  std::int64_t axes;
  Selection selection = {};
  /// Encodes all pairs, for rows whose positions are equal on all axes. Null if parts have layouts.
  std::shared_ptr<const Encoder> of_equal = {};
  std::vector<AxisPlan> of_axes = {};

  Plan(const AxesSpec& from, const Accuracy& accuracy, DataType type);
};

namespace {

constexpr RowRange any_rows = {0, max_position + 1};

/// The encoding of these pairs alone. If they are a whole part in its order, it is the encoding of
/// that part.
EncodingSpec spec_of(const AxesSpec& spec, std::span<const AxisPair> pairs, Layout layout) {
  const auto spec_of_part = [&](const AxisPair& pair) -> const EncodingSpec& {
    return spec.parts[pair.part].spec;
  };
  EncodingSpec result = spec_of_part(pairs.front());
  std::int64_t next = 0;
  const bool is_whole = std::ssize(pairs) == result.d_model / 2 &&
                        std::ranges::all_of(pairs, [&](const AxisPair& pair) {
                          return pair.k == next++ &&
                                 (pair.part == pairs.front().part || spec_of_part(pair) == result);
                        });
  if (!is_whole) {
    PickedFrequencies rule;
    std::map<std::size_t, std::uint32_t> numbers;  // numbers of the parts' encodings in the rule
    for (const AxisPair& pair : pairs) {
      const auto number = static_cast<std::uint32_t>(numbers.size());
      const auto [found, is_new] = numbers.emplace(pair.part, number);
      if (is_new) rule.encodings.push_back(std::make_shared<EncodingSpec>(spec_of_part(pair)));
      rule.picks.push_back({found->second, static_cast<std::uint32_t>(pair.k)});
    }
    result = {.frequencies = std::move(rule)};
  }
  result.d_model = 2 * std::ssize(pairs);
  result.layout = layout;
  return result;
}

/// All pairs of a row, in ascending order of their sines.
std::vector<AxisPair> sorted_pairs(const AxesSpec& spec) {
  std::vector<AxisPair> pairs = pairs_of(spec);
  std::ranges::sort(pairs, {}, [](const AxisPair& pair) { return pair.channels.sine; });
  return pairs;
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

}  // namespace

AxesEncoder::Plan::Plan(const AxesSpec& from, const Accuracy& accuracy, DataType type)
    : spec((validate(from), from)), d_model(spec.d_model()), axes(spec.axes()) {
  const SelectionOptions options = {.accuracy = accuracy, .type = type};
  std::vector<AxisPair> pairs = sorted_pairs(spec);
  if (spec.parts_have_layouts) {
    selection = select_backend({.d_model = d_model}, any_rows, options);
  } else {
    SelectedEncoder all = plan_selected(spec_of(spec, pairs, spec.layout), any_rows, options);
    of_equal = std::move(all.encoder);
    selection = std::move(all.selection);
    if (axes == 1) return;
  }
  // Pairs that share an encoder: the pairs of an axis, or of a part with its own layout.
  const auto group_of = [this](const AxisPair& pair) {
    return spec.parts_have_layouts ? static_cast<std::int64_t>(pair.part)
                                   : spec.parts[pair.part].axis;
  };
  std::ranges::stable_sort(pairs, {}, group_of);
  std::vector<EncodingSpec> specs;
  std::int64_t copies = 0;
  for (auto begin = pairs.begin(), end = begin; begin != pairs.end(); begin = end) {
    end = std::ranges::upper_bound(begin, pairs.end(), group_of(*begin), {}, group_of);
    const AxisPairs& part = spec.parts[begin->part];
    const Layout layout = spec.parts_have_layouts ? part.spec.layout : spec.layout;
    specs.push_back(spec_of(spec, std::span(begin, end), layout));
    of_axes.push_back({part.axis, copied_channels(std::span(begin, end), layout)});
    copies += std::ssize(of_axes.back().channels);
  }
  // On average, a copy would have fewer channels than a small vector.
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
  return spec_of(spec, sorted_pairs(spec), spec.layout);
}

AxesEncoder::AxesEncoder(const AxesSpec& spec, const Accuracy& accuracy, DataType type)
    : plan_(std::make_shared<Plan>(spec, accuracy, type)) {}

const AxesSpec& AxesEncoder::spec() const noexcept { return plan_->spec; }
std::int64_t AxesEncoder::d_model() const noexcept { return plan_->d_model; }
const Selection& AxesEncoder::selection() const noexcept { return plan_->selection; }

void AxesEncoder::encode(const RowPositions& positions, OutputView out,
                         EncodeOptions options) const {
  validate(positions, plan_->axes);
  check_threads(options.threads);
  check_view(out, positions.count(), d_model());
  detail::PreparedRows(*this, positions, out.type, options.threads)
      .write(0, positions.count(), out, options);
}

}  // namespace posenc

namespace posenc::detail {

Extent extent_of(const IntegerView& integers) {
  Extent all;
  simd::best_kernels().extent(integers.data(), integers.is_wide(), integers.count(), all.least,
                              all.most);
  return all;
}

PreparedRows::PreparedRows(const AxesEncoder& encoder, const RowPositions& positions, DataType type,
                           int threads)
    : plan_(*encoder.plan_),
      type_(type),
      positions_(positions),
      all_equal_(plan_.of_equal != nullptr && (positions.axes() == 0 || plan_.axes == 1)) {
  if (all_equal_ || count() == 0) return;
  if (positions.is_range()) {
    list_.resize(static_cast<std::size_t>(count()));
    std::iota(list_.begin(), list_.end(), positions.first());
    positions_ = list_;
  }
  for (const AxisPlan& each : plan_.of_axes) prepare(each, threads);
}

void PreparedRows::prepare(const AxisPlan& plan, int threads) {
  // The positions are copied, because they index a table: the caller's memory may overlap `out` or
  // change.
  const auto copy =
      std::make_shared<std::vector<std::int64_t>>(static_cast<std::size_t>(positions_.count()));
  for (std::int64_t row = 0; row < positions_.count(); ++row)
    (*copy)[static_cast<std::size_t>(row)] = positions_(plan.axis, row);
  memory_.push_back(copy);
  const IntegerView positions = *copy;
  const std::int64_t element = size_of(type_), columns = plan.encoder->spec().d_model;
  simd::JoinPart part = {};
  part.table_stride = part.bytes = columns * element;
  part.index = positions.data();
  part.has_wide_index = positions.is_wide();
  const auto encode = [&](const auto& distinct, std::int64_t rows) {
    const std::shared_ptr<void> table(allocate_table(rows, columns, type_), free_table);
    with_type(type_, [&]<class T>(T) {
      plan.encoder->encode(
          distinct, MatrixView<T>{static_cast<T*>(table.get()), rows, columns, columns}, threads);
    });
    part.table = static_cast<const char*>(table.get());
    memory_.push_back(table);
  };
  const auto [least, most] = extent_of(positions);
  if (most - least < count()) {
    part.first = least;
    encode(RowRange{least, most - least + 1}, most - least + 1);
  } else {
    std::vector<std::int64_t> distinct;
    std::unordered_map<std::int64_t, std::int32_t> numbers;
    const auto index = std::make_shared<std::vector<std::int32_t>>();
    for (std::int64_t row = 0; row < positions.count(); ++row) {
      const auto next = static_cast<std::int32_t>(distinct.size());
      const auto [found, is_new] = numbers.try_emplace(positions[row], next);
      if (is_new) distinct.push_back(positions[row]);
      index->push_back(found->second);
    }
    part.index = index->data();
    part.has_wide_index = false;
    memory_.push_back(index);
    encode(distinct, std::ssize(distinct));
  }
  if (plan.has_whole_rows) {
    const auto mask = std::make_shared<std::vector<char>>(part.bytes);
    for (const CopiedChannels& each : plan.channels)
      std::fill_n(mask->begin() + each.to * element, each.count * element, static_cast<char>(0xff));
    part.mask = mask->data();
    memory_.push_back(mask);
    parts_.push_back(part);
    return;
  }
  for (const CopiedChannels& each : plan.channels) {
    simd::JoinPart& copied = parts_.emplace_back(part);
    copied.table += each.from * element;
    copied.to = each.to * element;
    copied.bytes = each.count * element;
  }
}

void PreparedRows::write(std::int64_t begin, std::int64_t count, const OutputView& out,
                         const EncodeOptions& options) const {
  if (count == 0) return;
  if (all_equal_) {
    return positions_.part(begin, count).of_axis(0, [&](auto positions) {
      plan_.of_equal->encode(positions, out, options);
    });
  }
  const std::int64_t row_bytes = plan_.d_model * size_of(type_);
  const simd::JoinTask all = {.parts = parts_.data(),
                              .parts_count = std::ssize(parts_),
                              .rows = count,
                              .row_bytes = row_bytes,
                              .out = static_cast<char*>(out.data),
                              .out_stride = out.stride * size_of(type_),
                              .stores = simd::plan_joined_rows(
                                  is_non_temporal(options.stores, count * row_bytes), row_bytes),
                              .first_row = begin};
  parallel_for(count, rows_per_piece(plan_.d_model), options.threads,
               [&](std::int64_t from, std::int64_t to, int) {
                 simd::JoinTask task = all;
                 task.rows = to - from;
                 task.out += from * all.out_stride;
                 task.first_row += from;
                 simd::best_kernels().join(task);
               });
}

}  // namespace posenc::detail
