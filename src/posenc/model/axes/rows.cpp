#include "posenc/model/axes/rows.h"

#include "posenc/simd/dispatch.h"
#include "posenc/simd/store_plan.h"
#include "posenc/support/check.h"
#include "posenc/support/parallel_for.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>

namespace posenc::detail {
namespace {

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
  const std::vector<std::int64_t>& positions() const noexcept { return positions_; }

 private:
  static constexpr std::int32_t none = -1;
  std::vector<std::int32_t> slots_;
  std::vector<std::int64_t> positions_;
};

}  // namespace

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
  const IntegerView positions = positions_.list(plan.axis);
  const std::int64_t element = size_of(type_), columns = plan.encoder->spec().d_model;
  simd::JoinPart part = {.table = nullptr,
                         .table_stride = columns * element,
                         .index = positions.data(),
                         .has_wide_index = positions.is_wide(),
                         .first = 0,
                         .to = 0,
                         .bytes = columns * element,
                         .mask = nullptr};
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
    Distinct distinct(count());
    const auto index = std::make_shared<std::vector<std::int32_t>>();
    index->reserve(static_cast<std::size_t>(count()));
    positions.as_span([&](auto all) {
      for (const auto position : all) index->push_back(distinct.number_of(position));
    });
    part.index = index->data();
    part.has_wide_index = false;
    memory_.push_back(index);
    encode(distinct.positions(), std::ssize(distinct.positions()));
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

namespace posenc {

void AxesEncoder::encode(const RowPositions& positions, OutputView out,
                         EncodeOptions options) const {
  validate(positions, plan_->axes);
  check_threads(options.threads);
  check_view(out, positions.count(), d_model());
  detail::PreparedRows(*this, positions, out.type, options.threads)
      .write(0, positions.count(), out, options);
}

}  // namespace posenc
