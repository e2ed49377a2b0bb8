#include "posenc/model/internal/rotary_checks.h"

#include "posenc/model/internal/cache_rows.h"
#include "posenc/model/internal/checks.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <string>

namespace posenc {
namespace {

InputView first_rows(const OutputView& view, std::int64_t rows) noexcept {
  InputView result(static_cast<const float*>(view.data), rows, view.columns, view.stride);
  result.type = view.type;
  return result;
}

void check_table_columns(const char* name, std::int64_t columns, std::int64_t allowed) {
  if (columns == allowed) return;
  throw InvalidArgument(format_text("{} has {} columns; allowed: {}", name, columns, allowed));
}

void check_same_type(DataType cosines, DataType sines) {
  if (sines == cosines) return;
  throw InvalidArgument(format_text("sines.type is {}; allowed: that of the cosines, {}",
                                    to_string(sines), to_string(cosines)));
}

void check_input(const char* name, const InputView& table, std::int64_t columns) {
  if (table.type == DataType::float64) {
    throw InvalidArgument(
        format_text("{}.type is float64; allowed: float32, float16, bfloat16", name));
  }
  check_table_columns(name, table.columns, columns);
  check_matrix(name, table);
}

}  // namespace

void check_output(const char* name, const OutputView& out, std::int64_t rows,
                  std::int64_t columns) {
  if (out.rows < rows) {
    throw InvalidArgument(
        format_text("{} has {} rows; allowed: at least {}", name, out.rows, rows));
  }
  check_table_columns(name, out.columns, columns);
  check_matrix(name, first_rows(out, rows));
}

void check_pair(const OutputView& cosines, const OutputView& sines, std::int64_t rows) {
  check_same_type(cosines.type, sines.type);
  check_apart("sines", first_rows(sines, rows), "the cosines", first_rows(cosines, rows));
}

void check_cache(const RotaryCacheView& cache, std::int64_t pairs) {
  if (!cache.is_apart) return check_input("cache", cache.cosines, 2 * pairs);
  const std::int64_t columns = columns_of(cache.repeat, pairs);
  check_input("cosines", cache.cosines, columns);
  check_input("sines", cache.sines, columns);
  check_same_type(cache.cosines.type, cache.sines.type);
}

void check_cache_rows(const RowPositions& rows, const RotaryCacheView& cache) {
  const std::int64_t all = std::min(cache.cosines.rows, cache.sines.rows);
  if (rows.axes() > 1) {
    throw InvalidArgument(format_text("rows of the cache are on {} axes; allowed: 1", rows.axes()));
  }
  const auto check = [all](std::int64_t row) {
    if (row >= 0 && row < all) return;
    throw InvalidArgument(format_text("row of the cache is {}; allowed: 0 to {}", row, all - 1));
  };
  if (!rows.is_range()) {
    validate(rows.part(0, std::min<std::int64_t>(rows.count(), 1)), 1);  // it has memory
    for (std::int64_t i = 0; i < rows.count(); ++i) check(rows(0, i));
  } else if (rows.count() > 0) {
    check(rows.first());
    if (rows.count() > all - rows.first()) {
      throw InvalidArgument(
          format_text("cache has {} rows; allowed: at least {}", all, rows.count() + rows.first()));
    }
  }
}

bool check_tensors(std::span<const HeadsView> x, std::int64_t dimension, std::int64_t positions) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const HeadsView& each = x[i];
    std::string name = "x";
    if (x.size() > 1) (name += '[') += std::to_string(i) + ']';  // short: nothing is allocated
    check_heads(name, each, dimension);
    if (each.batch != x[0].batch || each.rows != x[0].rows) {
      throw InvalidArgument(
          format_text("{} has {} sequences of {} rows; allowed: as many as x[0], {} of {}", name,
                      each.batch, each.rows, x[0].batch, x[0].rows));
    }
    const bool is_empty = each.batch == 0 || each.rows == 0 || each.heads == 0;
    for (std::size_t j = 0; j < i && !is_empty; ++j) {
      if (each.data != x[j].data || each.data == nullptr) continue;
      throw InvalidArgument(
          format_text("{} has the memory of x[{}]; allowed: memory apart from it", name, j));
    }
  }
  if (x.empty() || positions == x[0].rows) return false;
  std::int64_t of_all = 0;
  if (__builtin_mul_overflow(x[0].batch, x[0].rows, &of_all) || positions != of_all) {
    throw InvalidArgument(
        format_text("positions has {} rows; allowed: {}, or {} for each of {} sequences", positions,
                    x[0].rows, x[0].rows, x[0].batch));
  }
  return true;
}

bool have_no_heads(std::span<const HeadsView> x) noexcept {
  return std::ranges::all_of(
      x, [](const HeadsView& each) { return each.batch == 0 || each.heads == 0; });
}

}  // namespace posenc
