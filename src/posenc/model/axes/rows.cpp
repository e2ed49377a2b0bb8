#include "posenc/model/axes/rows.h"

#include "posenc/simd/dispatch.h"
#include "posenc/simd/store_plan.h"
#include "posenc/support/check.h"
#include "posenc/support/parallel_for.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <type_traits>

namespace posenc::detail {
namespace {

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

}  // namespace

void check_positions(const RowPositions& positions, std::int64_t axes) {
  if (positions.is_range()) return validate(positions, axes);
  validate(positions.part(0, std::min<std::int64_t>(positions.count(), 1)), axes);
  Extent all;
  for (std::int64_t axis = 0; axis < std::max<std::int64_t>(positions.axes(), 1); ++axis)
    all.add(AxisPositions(positions, axis), {0, positions.count()});
  const bool are_allowed = all.least >= -max_position && all.most <= max_position;
  if (!are_allowed) validate(positions, axes);
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
  axes_.reserve(plan_.of_axes.size());
  for (const AxisPlan& each : plan_.of_axes)
    add_parts(each, axes_.emplace_back(axis_of(each, threads)));
}

PreparedRows::Axis PreparedRows::axis_of(const AxisPlan& plan, int threads) const {
  const AxisPositions positions(positions_, plan.axis);
  const std::int64_t element = size_of(type_), columns = plan.columns();
  Axis axis;
  if (plan.has_whole_rows) {
    axis.mask.resize(static_cast<std::size_t>(columns * element));
    for (const CopiedChannels& each : plan.channels) {
      std::fill_n(axis.mask.begin() + each.to * element, each.count * element,
                  static_cast<unsigned char>(0xff));
    }
  }
  const auto encode = [&](const auto& distinct, std::int64_t rows) {
    axis.table.reset(detail::allocate_table(rows, columns, type_), detail::free_table);
    with_type(type_, [&]<class T>(T) {
      plan.encoder->encode(distinct,
                           MatrixView<T>{static_cast<T*>(axis.table.get()), rows, columns, columns},
                           threads);
    });
  };
  Extent extent;
  extent.add(positions, {0, count()});
  const std::int64_t span = extent.most - extent.least;
  if (span < count()) {
    axis.first = extent.least;
    encode(RowRange{extent.least, span + 1}, span + 1);
    return axis;
  }
  Distinct distinct(count());
  axis.index.reserve(static_cast<std::size_t>(count()));
  positions.with([&](const auto* position) {
    for (std::int64_t row = 0; row < count(); ++row)
      axis.index.push_back(distinct.number_of(position[row]));
  });
  encode(distinct.positions(), static_cast<std::int64_t>(distinct.positions().size()));
  return axis;
}

void PreparedRows::add_parts(const AxisPlan& plan, const Axis& axis) {
  const AxisPositions positions(positions_, plan.axis);
  const std::int64_t element = size_of(type_);
  simd::JoinPart part = {.table = static_cast<const char*>(axis.table.get()),
                         .table_stride = plan.columns() * element,
                         .index = axis.index.data(),
                         .has_wide_index = false,
                         .first = axis.first,
                         .to = 0,
                         .bytes = columns() * element,
                         .mask = nullptr};
  if (axis.index.empty()) {
    part.has_wide_index = positions.is_wide();
    positions.with([&](const auto* position) { part.index = position; });
  }
  if (!axis.mask.empty()) {
    part.mask = reinterpret_cast<const char*>(axis.mask.data());
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

void PreparedRows::write_equal(std::int64_t begin, std::int64_t count, const OutputView& out,
                               const EncodeOptions& options) const {
  positions_.part(begin, count).of_axis(0, [&](auto of_axis) {
    plan_.of_equal->encode(of_axis, out, options);
  });
}

void PreparedRows::write(std::int64_t begin, std::int64_t count, const OutputView& out,
                         StorePolicy stores) const noexcept {
  if (all_equal_) return write_equal(begin, count, out, {1, stores});
  const std::int64_t element = size_of(type_);
  simd::best_kernels().join(
      {.parts = parts_.data(),
       .parts_count = static_cast<std::int64_t>(parts_.size()),
       .rows = count,
       .row_bytes = columns() * element,
       .out = static_cast<char*>(out.data),
       .out_stride = out.stride * element,
       .stores = simd::plan_joined_rows(stores == StorePolicy::non_temporal, columns() * element),
       .first_row = begin});
}

}  // namespace posenc::detail

namespace posenc {

void AxesEncoder::encode(const RowPositions& positions, OutputView out,
                         EncodeOptions options) const {
  detail::check_positions(positions, plan_->axes);
  check_threads(options.threads);
  check_view(out, positions.count(), d_model());
  const detail::PreparedRows rows(*this, positions, out.type, options.threads);
  if (rows.count() == 0) return;
  if (rows.are_equal_on_all_axes()) return rows.write_equal(0, rows.count(), out, options);
  const StorePolicy stores =
      is_non_temporal(options.stores, rows.count() * d_model() * size_of(out.type))
          ? StorePolicy::non_temporal
          : StorePolicy::cached;
  parallel_for(rows.count(), rows_per_piece(d_model()), options.threads,
               [&](std::int64_t begin, std::int64_t end, int) {
                 OutputView part = out;
                 part.data = static_cast<char*>(out.data) + begin * out.stride * size_of(out.type);
                 part.rows = end - begin;
                 rows.write(begin, end - begin, part, stores);
               });
}

}  // namespace posenc
