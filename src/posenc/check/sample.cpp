#include "posenc/check/sample.h"

#include "posenc/suite/statistics.h"
#include "posenc/support/float_format.h"
#include "posenc/support/with_type.h"

#include <cmath>

namespace posenc::check {
inline namespace internals {

using namespace suite;

std::vector<std::int64_t> scattered(std::int64_t count, std::int64_t most) {
  constexpr double golden = 0.6180339887498949;
  std::vector<std::int64_t> all;
  const auto add = [&](std::int64_t i) {
    if (i < count && std::ranges::count(all, i) == 0) all.push_back(i);
  };
  const std::int64_t wanted = std::min(count, most);
  for (std::int64_t i = 0; i < std::min<std::int64_t>(wanted, 4); ++i) add(i);
  if (std::ssize(all) < wanted) add(count - 1);
  for (std::int64_t i = 1; std::ssize(all) < wanted && i < 4 * wanted; ++i) {
    const double share = golden * static_cast<double>(i);
    add(static_cast<std::int64_t>((share - std::floor(share)) * static_cast<double>(count)));
  }
  for (std::int64_t i = 0; std::ssize(all) < wanted; ++i) add(i);
  return all;
}

SampledTable::SampledTable(const TableView& whole, bool phases, const TableView& of_noise)
    : table(whole), holds_phases(phases), type(whole.type) {
  std::vector<std::int64_t> set;
  for (std::int64_t row = 0; row < table.rows; ++row) {
    bool has_values = false;
    std::int64_t not_finite = 0;
    for (std::int64_t column = 0; column < table.columns; ++column) {
      const double entry = table(row, column);
      not_finite += !std::isfinite(entry);
      has_values = has_values || entry != 0;
    }
    entries_not_finite += not_finite;
    states.push_back(not_finite > 0 && !phases ? RowState::not_finite
                     : has_values              ? RowState::set
                                               : RowState::zero);
    if (is_set(row)) set.push_back(row);
  }
  for (const std::int64_t i : scattered(std::ssize(set), 48))
    rows.push_back(set[static_cast<std::size_t>(i)]);
  columns = scattered(table.columns, 128);
  for (const std::int64_t row : rows)
    for (const std::int64_t column : columns) got.push_back(table(row, column));
  for (const DataType narrow : {DataType::float32, DataType::float16, DataType::bfloat16}) {
    const bool holds_all = with_type(narrow, [&]<class T>(T) {
      return std::ranges::all_of(
          got, [](double x) { return !std::isfinite(x) || to_double(nearest<T>(x)) == x; });
    });
    // Turns computed from heads may have few digits by chance, so their type stays.
    if (of_noise.rows == 0 && holds_all && size_of(narrow) < size_of(table.type)) type = narrow;
  }
  entry_error = half_ulp_of_one(type);
  if (of_noise.rows == 0 || rows.empty()) return;
  for (const std::int64_t row : rows)
    for (const std::int64_t column : columns)
      noise.push_back(of_noise(row, column % of_noise.columns));
  entry_error = std::max(entry_error, median(noise));
}

}  // namespace internals
}  // namespace posenc::check
