// How rows of encodings over several axes are written.
//
// Rows whose positions are equal on all axes, such as text, are those of one encoder of all pairs.
// For others, each axis has an encoder of its own pairs: its distinct positions are encoded into a
// table, from which rows are joined.
#include "posenc/axes.h"

#include "posenc/simd/dispatch.h"
#include "posenc/simd/kernels.h"
#include "posenc/support/check.h"
#include "posenc/support/check_view.h"
#include "posenc/support/format.h"
#include "posenc/support/parallel_for.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <type_traits>
#include <utility>

namespace posenc {
namespace internal {

/// Consecutive channels that are copied from the row of an axis to a row.
struct CopiedChannels {
  std::int64_t from, to, count;
};

/// The pairs that turn by the positions of one axis.
struct AxisPlan {
  std::int64_t axis;
  std::shared_ptr<const Encoder> encoder;
  std::vector<CopiedChannels> channels;
  /// If its channels are scattered: the encoder then is that of all pairs, and the channels are
  /// selected by a mask.
  bool has_whole_rows = false;

  std::int64_t columns() const noexcept { return encoder->spec().d_model; }
};

}  // namespace internal

namespace {

using internal::AxisPlan;
using internal::CopiedChannels;

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

SelectionOptions options_of(const EncodingSpec& spec, const Accuracy& accuracy, DataType type) {
  return {.accuracy = accuracy,
          .type = type,
          .shape = shape_class(table_bytes(spec, rows_in_cache, size_of(type)))};
}

SelectedEncoder planned(const EncodingSpec& spec, const Accuracy& accuracy, DataType type) {
  return plan_selected(spec, any_rows, options_of(spec, accuracy, type));
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

/// Positions on one axis, of either width.
class AxisPositions {
 public:
  AxisPositions(const RowPositions& positions, std::int64_t axis) {
    positions.of_axis(axis, [this]<class Positions>(Positions of_axis) {
      if constexpr (!std::is_same_v<Positions, RowRange>) {
        first_ = of_axis.data();
        is_wide_ = sizeof of_axis[0] == sizeof(std::int64_t);
      }
    });
  }

  /// Calls use(pointer to the first position).
  template <class Use>
  decltype(auto) with(const Use& use) const {
    return is_wide_ ? use(static_cast<const std::int64_t*>(first_))
                    : use(static_cast<const std::int32_t*>(first_));
  }
  bool is_wide() const noexcept { return is_wide_; }

 private:
  const void* first_ = nullptr;
  bool is_wide_ = true;
};

/// The least and the greatest position of some rows on an axis.
struct Extent {
  std::int64_t least = max_position;
  std::int64_t most = -max_position;

  void add(const AxisPositions& positions, const RowRange& rows) {
    positions.with([&](const auto* position) {
      simd::best_kernels().extent(position + rows.first, positions.is_wide(), rows.count, least,
                                  most);
    });
  }
};

/// Throws as validate() does. Takes a vector operation a vector of positions.
void check_positions(const RowPositions& positions, std::int64_t axes) {
  validate(positions.part(0, 0), axes);
  Extent all;
  for (std::int64_t axis = 0; axis < std::max<std::int64_t>(positions.axes(), 1); ++axis)
    all.add(AxisPositions(positions, axis), {0, positions.count()});
  const bool are_allowed = all.least >= -max_position && all.most <= max_position;
  if (!are_allowed || positions.count() < 0) validate(positions, axes);
}

/// Which rows are those of one encoder of all pairs, and which are joined.
struct Runs {
  std::vector<RowRange> equal = {}, joined = {};  ///< numbers of rows, not positions

  std::int64_t joined_rows() const noexcept {
    std::int64_t rows = 0;
    for (const RowRange& run : joined) rows += run.count;
    return rows;
  }
};

/// The number of rows from `row` on whose positions are equal on all axes.
template <class Position>
std::int64_t equal_rows(const Position* positions, std::int64_t axes, std::ptrdiff_t axis_stride,
                        std::int64_t row, std::int64_t end) {
  std::int64_t equal = end - row;
  for (std::int64_t axis = 1; axis < axes; ++axis) {
    const Position* const first = positions + row;
    const Position* const other = first + axis * axis_stride;
    equal = std::mismatch(first, first + equal, other).first - first;
  }
  return equal;
}

/// A few rows whose positions happen to be equal are joined, as those around them.
Runs runs_of(const RowPositions& positions, std::int64_t axes) {
  constexpr std::int64_t fewest_equal = 32;
  Runs runs;
  std::int64_t joined_from = 0;
  AxisPositions(positions, 0).with([&](const auto* first) {
    const auto* const second = first + positions.axis_stride();
    for (std::int64_t row = 0; row < positions.count();) {
      if (first[row] != second[row]) {
        ++row;
        continue;
      }
      const std::int64_t equal =
          equal_rows(first, axes, positions.axis_stride(), row, positions.count());
      if (equal >= fewest_equal) {
        if (row > joined_from) runs.joined.push_back({joined_from, row - joined_from});
        runs.equal.push_back({row, equal});
        joined_from = row + equal;
      }
      row += std::max<std::int64_t>(equal, 1);
    }
  });
  if (positions.count() > joined_from)
    runs.joined.push_back({joined_from, positions.count() - joined_from});
  return runs;
}

/// Numbers distinct positions in the order in which they first occur.
class Distinct {
 public:
  explicit Distinct(std::int64_t most)
      : slots_(std::bit_ceil(static_cast<std::size_t>(2 * most)), none) {}

  std::int32_t number_of(std::int64_t position) {
    // Fibonacci hashing: consecutive positions fall far apart.
    const auto hash = static_cast<std::uint64_t>(position) * 0x9e3779b97f4a7c15;
    for (std::size_t slot = hash >> (64 - std::countr_zero(slots_.size()));;
         slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot] == none) {
        slots_[slot] = static_cast<std::int32_t>(positions_.size());
        positions_.push_back(position);
      }
      const std::int32_t number = slots_[slot];
      if (positions_[static_cast<std::size_t>(number)] == position) return number;
    }
  }
  std::span<const std::int64_t> positions() const noexcept { return positions_; }

 private:
  static constexpr std::int32_t none = -1;
  std::vector<std::int32_t> slots_;
  std::vector<std::int64_t> positions_;
};

/// All bits of the elements that an axis has in a row.
template <class T>
std::vector<unsigned char> mask_of(const AxisPlan& plan) {
  std::vector<unsigned char> mask(static_cast<std::size_t>(plan.columns()) * sizeof(T));
  for (const CopiedChannels& each : plan.channels) {
    std::fill_n(mask.begin() + each.to * std::ptrdiff_t{sizeof(T)},
                each.count * std::int64_t{sizeof(T)}, static_cast<unsigned char>(0xff));
  }
  return mask;
}

/// The table of an axis, of its distinct positions.
template <class T>
struct AxisRows {
  BasicMatrix<T> table = {};
  AxisPositions positions;
  std::int64_t first = 0;  ///< position of row 0 of the table, unless there is an index
  std::vector<std::int32_t> index = {};  ///< of each joined row, the row of the table
  std::vector<unsigned char> mask = {};  ///< of the elements of a whole row, if they are scattered

  /// What is copied from it to the rows from `row` on, which are joined rows from `joined_row` on.
  simd::JoinPart part(std::int64_t row, std::int64_t joined_row) const {
    simd::JoinPart part = {.table = reinterpret_cast<const char*>(table.data()),
                           .table_stride = table.columns() * std::int64_t{sizeof(T)},
                           .index = nullptr,
                           .has_wide_index = false,
                           .first = 0,
                           .to = 0,
                           .bytes = 0,
                           .mask = nullptr};
    if (!index.empty()) {
      part.index = index.data() + joined_row;
      return part;
    }
    part.first = first;
    part.has_wide_index = positions.is_wide();
    positions.with([&](const auto* position) { part.index = position + row; });
    return part;
  }
};

template <class T>
AxisRows<T> rows_of_axis(const AxisPlan& plan, const RowPositions& positions, const Runs& runs,
                         int threads) {
  AxisRows<T> rows = {.positions = AxisPositions(positions, plan.axis)};
  if (plan.has_whole_rows) rows.mask = mask_of<T>(plan);
  Extent extent;
  for (const RowRange& run : runs.joined) extent.add(rows.positions, run);
  const std::int64_t count = runs.joined_rows(), span = extent.most - extent.least;
  if (span < count) {
    rows.first = extent.least;
    rows.table = BasicMatrix<T>(span + 1, plan.columns());
    plan.encoder->encode(RowRange{extent.least, span + 1}, rows.table.view(), threads);
    return rows;
  }
  Distinct distinct(count);
  rows.index.reserve(static_cast<std::size_t>(count));
  rows.positions.with([&](const auto* position) {
    for (const RowRange& run : runs.joined) {
      for (std::int64_t r = run.first; r < run.first + run.count; ++r)
        rows.index.push_back(distinct.number_of(position[r]));
    }
  });
  const std::span<const std::int64_t> each = distinct.positions();
  rows.table = BasicMatrix<T>(static_cast<std::int64_t>(each.size()), plan.columns());
  plan.encoder->encode(each, rows.table.view(), threads);
  return rows;
}

/// Joins the rows of a view, which are rows from `row` on, and joined rows from `joined_row` on.
template <class T>
void join_run(std::span<const AxisPlan> axes, std::span<const AxisRows<T>> rows, std::int64_t row,
              std::int64_t joined_row, const MatrixView<T>& out, bool non_temporal) {
  constexpr auto bytes = std::int64_t{sizeof(T)};
  std::vector<simd::JoinPart> parts;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const simd::JoinPart of_axis = rows[i].part(row, joined_row);
    if (!rows[i].mask.empty()) {
      simd::JoinPart& part = parts.emplace_back(of_axis);
      part.bytes = out.columns * bytes;
      part.mask = reinterpret_cast<const char*>(rows[i].mask.data());
      continue;
    }
    for (const CopiedChannels& each : axes[i].channels) {
      simd::JoinPart& part = parts.emplace_back(of_axis);
      part.table += each.from * bytes;
      part.to = each.to * bytes;
      part.bytes = each.count * bytes;
    }
  }
  const auto parts_count = static_cast<std::int64_t>(parts.size());
  simd::best_kernels().join({.parts = parts.data(),
                             .parts_count = parts_count,
                             .rows = out.rows,
                             .row_bytes = out.columns * bytes,
                             .out = reinterpret_cast<char*>(out.data),
                             .out_stride = out.stride * bytes,
                             .non_temporal = non_temporal});
}

}  // namespace

struct AxesEncoder::Plan {
  AxesSpec spec;
  std::int64_t d_model;
  std::int64_t axes;
  Selection selection = {};
  /// All pairs, for rows whose positions are equal on all axes. Null if the parts have layouts.
  std::shared_ptr<const Encoder> of_equal = {};
  std::vector<AxisPlan> of_axes = {};

  Plan(const AxesSpec& from, const Accuracy& accuracy, DataType type)
      : spec((validate(from), from)), d_model(spec.d_model()), axes(spec.axes()) {
    spec.parts_have_layouts ? plan_parts(accuracy, type) : plan_axes(accuracy, type);
  }

  void plan_parts(const Accuracy& accuracy, DataType type) {
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
    selection = select_backend(row, any_rows, options_of(row, accuracy, type));
  }

  void plan_axes(const Accuracy& accuracy, DataType type) {
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
    if (are_scattered()) take_whole_rows();
  }

  /// True if a copy would have fewer channels than a small vector, on average.
  bool are_scattered() const noexcept {
    constexpr std::size_t fewest = 4;
    std::size_t copies = 0;
    for (const AxisPlan& each : of_axes) copies += each.channels.size();
    return static_cast<std::size_t>(d_model) < copies * fewest;
  }

  void take_whole_rows() noexcept {
    for (AxisPlan& each : of_axes) {
      each.encoder = of_equal;
      each.has_whole_rows = true;
    }
  }

  void encode_equal(const RowPositions& positions, const OutputView& out,
                    const EncodeOptions& options) const {
    positions.of_axis(0, [&](auto of_axis) { of_equal->encode(of_axis, out, options); });
  }

  template <class T>
  void encode_joined(const RowPositions& positions, const Runs& runs, const MatrixView<T>& out,
                     const EncodeOptions& options) const {
    std::vector<AxisRows<T>> rows;
    for (const AxisPlan& plan : of_axes)
      rows.push_back(rows_of_axis<T>(plan, positions, runs, options.threads));
    const bool non_temporal =
        is_non_temporal(options.stores, positions.count() * d_model * size_of(data_type_of<T>));
    std::int64_t before = 0;
    for (const RowRange& run : runs.joined) {
      const std::int64_t grain = rows_per_piece(d_model);
      parallel_for(run.count, grain, options.threads,
                   [&](std::int64_t begin, std::int64_t end, int) {
                     const std::int64_t row = run.first + begin;
                     const MatrixView<T> to = {out.data + row * out.stride, end - begin, d_model,
                                               out.stride};
                     join_run<T>(of_axes, rows, row, before + begin, to, non_temporal);
                   });
      before += run.count;
    }
  }

  /// Positions are a list for each axis, or one for all.
  template <class T>
  void encode(const RowPositions& positions, const MatrixView<T>& out,
              const EncodeOptions& options) const {
    const Runs runs =
        of_equal != nullptr ? runs_of(positions, axes) : Runs{.joined = {{0, positions.count()}}};
    for (const RowRange& run : runs.equal) {
      encode_equal(positions.part(run.first, run.count),
                   MatrixView<T>{out.data + run.first * out.stride, run.count, d_model, out.stride},
                   options);
    }
    if (!runs.joined.empty()) encode_joined(positions, runs, out, options);
  }
};

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

void AxesEncoder::encode(const RowPositions& positions, OutputView out,
                         EncodeOptions options) const {
  if (positions.is_range()) {
    validate(positions, plan_->axes);
  } else {
    check_positions(positions, plan_->axes);
  }
  check_threads(options.threads);
  check_view(out, positions.count(), plan_->d_model);
  if (positions.count() == 0) return;
  if (plan_->of_equal != nullptr && (positions.axes() == 0 || plan_->axes == 1))
    return plan_->encode_equal(positions, out, options);
  std::vector<std::int64_t> list;
  RowPositions listed = positions;
  if (positions.is_range()) {
    list.resize(static_cast<std::size_t>(positions.count()));
    std::iota(list.begin(), list.end(), positions.first());
    listed = list;
  }
  with_type(out.type, [&]<class T>(T) {
    const MatrixView<T> view = {static_cast<T*>(out.data), out.rows, out.columns, out.stride};
    plan_->encode(listed, view, options);
  });
}

}  // namespace posenc
