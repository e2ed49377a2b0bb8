#include "posenc/model/internal/axes_rows.h"

#include "posenc/model/internal/extent.h"
#include "posenc/simd/store_plan.h"
#include "posenc/support/parallel_for.h"
#include "posenc/support/with_type.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <unordered_map>

namespace posenc::detail {

PreparedRows::PreparedRows(const AxesPlan& plan, const model::RowPositions& positions,
                           DataType type, const Threads& threads)
    : plan_(plan),
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

void PreparedRows::prepare(const AxisPlan& plan, const Threads& threads) {
  // The positions are copied, because they index a table: the caller's memory may overlap `out` or
  // change.
  const auto copy =
      std::make_shared<std::vector<std::int64_t>>(static_cast<std::size_t>(positions_.count()));
  for (std::int64_t row = 0; row < positions_.count(); ++row)
    (*copy)[static_cast<std::size_t>(row)] = positions_(plan.axis, row);
  memory_.push_back(copy);
  const model::IntegerView positions = *copy;
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
  const simd::JoinTask all = {
      .parts = parts_.data(),
      .parts_count = std::ssize(parts_),
      .rows = count,
      .row_bytes = row_bytes,
      .out = static_cast<char*>(out.data),
      .out_stride = out.stride * size_of(type_),
      .stores = simd::plan_joined_rows(simd::is_non_temporal(options.stores, count * row_bytes),
                                       row_bytes),
      .first_row = begin};
  parallel_for(count, rows_per_piece(plan_.d_model), options.threads,
               [&](std::int64_t from, std::int64_t to, int) {
                 simd::JoinTask task = all;
                 task.rows = to - from;
                 task.out += from * all.out_stride;
                 task.first_row += from;
                 simd::best_model_kernels().join(task);
               });
}

}  // namespace posenc::detail
