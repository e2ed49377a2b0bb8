// How rows of encodings over several axes are written.
//
// Rows whose positions are equal on all axes, such as text, are those of one encoder of all pairs.
// For others, each axis has an encoder of its own pairs: its distinct positions are encoded into a
// table, from which rows are joined.
#include "posenc/axes.h"
#include "posenc/support/check.h"
#include "posenc/support/check_view.h"
#include "posenc/support/format.h"
#include "posenc/support/parallel_for.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <optional>
#include <unordered_map>
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
  std::unique_ptr<const Encoder> encoder;
  std::vector<CopiedChannels> channels;

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
    const auto encoding = static_cast<std::uint32_t>(rule.encodings.size());
    rule.encodings.push_back({std::make_shared<EncodingSpec>(part.spec), part.denominator});
    for (std::size_t i = 0; i < places_of_part.size(); ++i) {
      const std::int64_t k =
          part.frequencies.empty() ? static_cast<std::int64_t>(i) : part.frequencies[i];
      rule.picks.push_back({encoding, static_cast<std::uint32_t>(k)});
      places.push_back(places_of_part[i]);
    }
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

SelectedEncoder planned(const EncodingSpec& spec, const Accuracy& accuracy, DataType type) {
  const ShapeClass shape = shape_class(table_bytes(spec, rows_in_cache, size_of(type)));
  return plan_selected(spec, {0, max_position + 1},
                       {.accuracy = accuracy, .type = type, .shape = shape});
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

/// The rows of an axis: a table of its distinct positions, and the row of each position.
template <class T>
struct AxisRows {
  BasicMatrix<T> table = {};
  std::int64_t first = 0;  ///< position of row 0 of the table, if index is empty
  std::vector<std::int32_t> index = {};

  const T* row(const RowPositions& positions, std::int64_t axis, std::int64_t r) const noexcept {
    const std::int64_t at =
        index.empty() ? positions(axis, r) - first : index[static_cast<std::size_t>(r)];
    return table.data() + at * table.columns();
  }
};

/// The row of each position in a list of distinct ones, which is filled.
std::vector<std::int32_t> indexed(const RowPositions& positions, std::int64_t axis,
                                  std::vector<std::int64_t>& distinct) {
  std::unordered_map<std::int64_t, std::int32_t> rows;
  std::vector<std::int32_t> index(static_cast<std::size_t>(positions.count()));
  for (std::int64_t r = 0; r < positions.count(); ++r) {
    const std::int64_t position = positions(axis, r);
    const auto [found, is_new] =
        rows.try_emplace(position, static_cast<std::int32_t>(distinct.size()));
    if (is_new) distinct.push_back(position);
    index[static_cast<std::size_t>(r)] = found->second;
  }
  return index;
}

template <class T>
AxisRows<T> rows_of_axis(const AxisPlan& plan, const RowPositions& positions, int threads) {
  std::int64_t least = max_position, most = -max_position;
  for (std::int64_t r = 0; r < positions.count(); ++r) {
    least = std::min(least, positions(plan.axis, r));
    most = std::max(most, positions(plan.axis, r));
  }
  AxisRows<T> rows;
  if (most - least < positions.count()) {
    rows.first = least;
    rows.table = BasicMatrix<T>(most - least + 1, plan.columns());
    plan.encoder->encode(RowRange{least, most - least + 1}, rows.table.view(), threads);
    return rows;
  }
  std::vector<std::int64_t> distinct;
  rows.index = indexed(positions, plan.axis, distinct);
  rows.table = BasicMatrix<T>(static_cast<std::int64_t>(distinct.size()), plan.columns());
  plan.encoder->encode(distinct, rows.table.view(), threads);
  return rows;
}

/// Writes rows whose positions are not equal.
template <class T>
void join_rows(std::span<const AxisPlan> axes, const RowPositions& positions,
               const MatrixView<T>& out, const EncodeOptions& options) {
  std::vector<AxisRows<T>> rows;
  for (const AxisPlan& plan : axes)
    rows.push_back(rows_of_axis<T>(plan, positions, options.threads));
  parallel_for(positions.count(), options.threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      for (std::size_t i = 0; i < axes.size(); ++i) {
        const T* const from = rows[i].row(positions, axes[i].axis, r);
        for (const CopiedChannels& channels : axes[i].channels) {
          std::memcpy(out.data + r * out.stride + channels.to, from + channels.from,
                      static_cast<std::size_t>(channels.count) * sizeof(T));
        }
      }
    }
  });
}

bool are_equal(const RowPositions& positions, std::int64_t axes, std::int64_t row) noexcept {
  for (std::int64_t axis = 1; axis < axes; ++axis) {
    if (positions(axis, row) != positions(0, row)) return false;
  }
  return true;
}

}  // namespace

struct AxesEncoder::Plan {
  AxesSpec spec;
  std::int64_t d_model;
  std::int64_t axes;
  Selection selection = {};
  /// All pairs, for rows whose positions are equal on all axes. Null if the parts have layouts.
  std::unique_ptr<const Encoder> of_equal = {};
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
    selection = select_backend({.d_model = d_model}, {0, max_position + 1},
                               {.accuracy = accuracy, .type = type});
  }

  void plan_axes(const Accuracy& accuracy, DataType type) {
    const auto places = places_of(spec);
    PickedPairs all;
    for (std::size_t i = 0; i < spec.parts.size(); ++i) all.add(spec.parts[i], places[i]);
    all.sort();
    SelectedEncoder selected = planned(all.spec(spec.layout), accuracy, type);
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
  }

  void encode_equal(const RowPositions& positions, const OutputView& out,
                    const EncodeOptions& options) const {
    positions.of_axis(0, [&](auto of_axis) { of_equal->encode(of_axis, out, options); });
  }

  /// Writes runs of rows, whose positions are equal on all axes, or not.
  template <class T>
  void encode_runs(const RowPositions& positions, const MatrixView<T>& out,
                   const EncodeOptions& options) const {
    for (std::int64_t row = 0; row < positions.count();) {
      const bool is_equal = of_equal != nullptr && are_equal(positions, axes, row);
      std::int64_t end = row + 1;
      while (end < positions.count() &&
             (of_equal != nullptr && are_equal(positions, axes, end)) == is_equal)
        ++end;
      const RowPositions run = positions.part(row, end - row);
      const MatrixView<T> to = {out.data + row * out.stride, end - row, out.columns, out.stride};
      is_equal ? encode_equal(run, to, options) : join_rows(std::span(of_axes), run, to, options);
      row = end;
    }
  }
};

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
  validate(positions, plan_->axes);
  check_threads(options.threads);
  check_view(out, positions.count(), plan_->d_model);
  if (positions.count() == 0) return;
  if (plan_->of_equal != nullptr && (positions.axes() == 0 || plan_->axes == 1))
    return plan_->encode_equal(positions, out, options);
  with_type(out.type, [&]<class T>(T) {
    const MatrixView<T> view = {static_cast<T*>(out.data), out.rows, out.columns, out.stride};
    plan_->encode_runs(positions, view, options);
  });
}

}  // namespace posenc
