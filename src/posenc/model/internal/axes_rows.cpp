#include "posenc/model/internal/axes_rows.h"

#include "posenc/simd/store_plan.h"
#include "posenc/support/parallel_for.h"
#include "posenc/support/with_type.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace posenc::detail {

PreparedRows::PreparedRows(const AxesPlan& plan, const model::RowPositions& positions,
                           DataType type, const Threads& threads)
    : plan_(plan),
      type_(type),
      positions_(positions),
      all_equal_(plan_.of_equal != nullptr && (positions.axes() == 0 || plan_.axes == 1)) {
  if (all_equal_ || count() == 0) return;
  for (const AxisPlan& each : plan_.of_axes) prepare(each, threads);
}

void PreparedRows::prepare(const AxisPlan& plan, const Threads& threads) {
  // The positions are copied, because they index a table: the caller's memory may overlap `out` or
  // change.
  const auto index = std::make_shared<std::vector<std::int64_t>>();
  for (std::int64_t row = 0; row < count(); ++row) index->push_back(positions_(plan.axis, row));
  memory_.push_back(index);
  const std::int64_t element = size_of(type_), columns = plan.encoder->spec().d_model;
  simd::JoinPart part = {};
  part.table_stride = part.bytes = columns * element;
  part.index = index->data();
  const auto encode = [&](const auto& distinct, std::int64_t rows) {
    const std::shared_ptr<void> table(allocate_table(rows, columns, type_), free_table);
    with_type(type_, [&]<class T>(T) {
      plan.encoder->encode(
          distinct, MatrixView<T>{static_cast<T*>(table.get()), rows, columns, columns}, threads);
    });
    part.table = static_cast<const char*>(table.get());
    memory_.push_back(table);
  };
  const auto [least, most] = std::ranges::minmax(*index);
  const std::int64_t rows_between = most - least + 1;
  if (rows_between <= count()) {
    for (std::int64_t& each : *index) each -= least;
    encode(RowRange{least, rows_between}, rows_between);
  } else {
    std::vector<std::int64_t> distinct;
    std::unordered_map<std::int64_t, std::int64_t> numbers;
    for (std::int64_t& each : *index) {
      const auto [found, is_new] = numbers.try_emplace(each, std::ssize(distinct));
      if (is_new) distinct.push_back(each);
      each = found->second;
    }
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
