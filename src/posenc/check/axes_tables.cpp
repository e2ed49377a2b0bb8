// Tables over several axes are not fitted. Instead, every convention that posenc knows is tried on
// the grid that the repetitions in the table's rows show.
#include "posenc/check/axes_tables.h"

#include "posenc/check/columns.h"
#include "posenc/check/identify.h"
#include "posenc/model/axes_presets.h"
#include "posenc/model/grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>

namespace posenc::check {
inline namespace internals {

using namespace model;
using namespace suite;
namespace {

/// Finds the grid whose cells are the rows from `first` on, in row-major order. Returns its sizes
/// that are larger than 1, the last axis first. The columns of an axis repeat the values of the
/// first cell after one full run along the axis. Empty if the rows do not form a grid.
std::vector<std::int64_t> sizes_of(const TableView& table, std::int64_t first) {
  const std::int64_t cells = table.rows - first;
  std::vector<std::int64_t> sizes, columns(static_cast<std::size_t>(table.columns));
  std::iota(columns.begin(), columns.end(), 0);
  const auto is_as_first = [&](std::int64_t cell, std::int64_t column) {
    return table(first + cell, column) == table(first, column);
  };
  for (std::int64_t stride = 1; stride < cells;) {
    // At cell `stride`, the faster axes are back at their start and only this axis has moved.
    // Columns that differ from the first cell there are the columns of this axis.
    const auto of_axis =
        std::stable_partition(columns.begin(), columns.end(),
                              [&](std::int64_t column) { return is_as_first(stride, column); });
    const std::span moving(of_axis, columns.end());
    if (moving.empty() || sizes.size() == 3) return {};
    std::int64_t size = 2;
    while (size * stride < cells && !std::ranges::all_of(moving, [&](std::int64_t column) {
             return is_as_first(size * stride, column);
           }))
      ++size;
    if (cells % (size * stride) != 0) return {};
    sizes.push_back(size);
    stride *= size;
    columns.erase(of_axis, columns.end());
  }
  return sizes;
}

/// The grids whose sizes above 1 are these, the last axis first. An axis with a single cell leaves
/// no trace, so there is a grid for every choice of the axes that have more cells.
std::vector<GridSizes> grids_of(const std::vector<std::int64_t>& sizes) {
  std::vector<GridSizes> all;
  for (unsigned axes = 1; axes < 8; ++axes) {
    if (std::popcount(axes) != std::ssize(sizes)) continue;
    GridSizes& grid = all.emplace_back(GridSizes{1, 1, 1});
    auto size = sizes.begin();
    for (std::size_t axis = 3; axis-- > 0;)
      if ((axes >> axis & 1U) != 0) grid[axis] = *size++;
  }
  return all;
}

/// The conventions that posenc knows for this grid and that fill so many columns.
std::vector<TableAxes> conventions_on(const GridSizes& grid, std::int64_t columns) {
  std::vector<TableAxes> all;
  const auto add = [&](std::string_view name, const auto& make) {
    try {
      AxesTable table = make();
      const std::int64_t width = table.spec.d_model();
      if (columns == width || (!table.spec.parts_have_layouts && 2 * columns == width))
        all.push_back({std::string(name), grid, std::move(table.spec), std::move(table.positions)});
    } catch (const InvalidArgument&) {
      // The convention does not allow this grid or width.
    }
  };
  for (const AxesPreset& preset : axes_presets())
    add(preset.name, [&] { return axes_table(preset.name, grid); });
  if (grid[0] != 1) return all;
  constexpr std::pair<std::string_view, GridConvention> conventions[] = {
      {"mae", GridConvention::mae},
      {"simple_vit", GridConvention::simple_vit},
      {"detr", GridConvention::detr}};
  for (const auto& [name, convention] : conventions)
    add(name, [&, which = convention] {
      const std::int64_t first = which == GridConvention::detr ? 1 : 0,
                         sizes[] = {grid[1], grid[2]}, firsts[] = {first, first};
      return AxesTable{grid_axes(which, grid[1], grid[2], columns), grid[1] * grid[2],
                       grid_positions(sizes, firsts)};
    });
  return all;
}

/// True if the sampled rows are right.
bool is_right(const SampledTable& sample, const TableIdentity& is) {
  const TableView& table = sample.table;
  const std::vector<TablePair> pairs = pairs_of_table(is, table.columns);
  for (const std::int64_t row : sample.rows) {
    for (const TablePair& pair : pairs) {
      const auto position = static_cast<double>(is.axes->position(pair.axis, row, table.rows));
      const double phase = position * pair.frequency, limit = allowed_error(sample.type, 1, phase);
      for (const std::size_t i : {0, 1})
        if (!(std::fabs(table(row, pair.to.columns[i]) - wave(pair.to.is_cosine[i], phase)) <=
              limit))
          return false;
    }
  }
  return true;
}

}  // namespace

std::optional<TableIdentity> identify_axes(const SampledTable& sample,
                                           const TableOptions& options) {
  const auto [rows, columns] = std::pair(sample.table.rows, sample.table.columns);
  if (rows < 2 || sample.rows.size() < 2) return {};
  for (const bool has_token : {false, true}) {  // row 0 may be the zeros of a class token
    if (has_token && sample.states.front() != RowState::zero) break;
    for (const GridSizes& grid : grids_of(sizes_of(sample.table, has_token))) {
      for (TableAxes& axes : conventions_on(grid, columns)) {
        TableIdentity is = {.spec = axes.spec.parts.front().spec, .axes = std::move(axes)};
        const AxesSpec& spec = is.axes->spec;
        if (has_token) {
          is.padding_row = 0;
          std::vector<std::int64_t>& positions = is.axes->positions;
          for (std::int64_t axis = 0; axis < spec.axes(); ++axis)
            positions.insert(positions.begin() + axis * rows, 0);
        }
        for (const Arrangement each : allowed_arrangements(options)) {
          is.arrangement = each;
          if ((!spec.parts_have_layouts || each == arrangement_of(is.spec.layout)) &&
              frequencies_in(each, columns) == spec.d_model() / 2 && is_right(sample, is))
            return is;
        }
      }
    }
  }
  return {};
}

std::vector<std::int64_t> positions_on_axes(const TableView& table, const AxesSpec& spec,
                                            Arrangement arrangement, double factor) {
  TableIdentity is;
  is.arrangement = arrangement;
  is.axes = {{}, {}, spec, {}};
  std::vector<TablePair> pairs = pairs_of_table(is, table.columns);
  std::ranges::stable_sort(pairs, std::greater(), &TablePair::frequency);
  const auto value = [&](const TablePair& pair, std::size_t i, std::int64_t position) {
    return factor * wave(pair.to.is_cosine[i], static_cast<double>(position) * pair.frequency);
  };
  std::vector<std::int64_t> positions(static_cast<std::size_t>(spec.axes() * table.rows));
  for (std::int64_t axis = 0; axis < spec.axes(); ++axis) {
    std::vector<TablePair> of_axis;
    std::ranges::copy_if(pairs, std::back_inserter(of_axis),
                         [&](const TablePair& pair) { return pair.axis == axis; });
    if (of_axis.empty()) continue;
    // Sort positions by their value in the column of the highest frequency: few are near an entry.
    constexpr std::int64_t most = 1 << 16;
    const TablePair& fastest = of_axis.front();
    std::vector<std::pair<double, std::int64_t>> by_value;
    for (std::int64_t position = 0; position <= most; ++position)
      by_value.emplace_back(value(fastest, 0, position), position);
    std::ranges::sort(by_value);
    const double near = 2 * allowed_error(table.type, factor, static_cast<double>(most));
    for (std::int64_t row = 0; row < table.rows; ++row) {
      const double shown = table(row, fastest.to.columns[0]);
      std::int64_t& found = positions[static_cast<std::size_t>(axis * table.rows + row)];
      double least = infinity;
      for (auto each = std::ranges::lower_bound(by_value, std::pair(shown - near, std::int64_t{0}));
           each != by_value.end() && each->first <= shown + near; ++each) {
        double sum = 0;
        for (const TablePair& pair : of_axis) {
          for (const std::size_t i : {0, 1}) {
            const double off =
                std::fabs(table(row, pair.to.columns[i]) - value(pair, i, each->second));
            sum += off <= near ? off : infinity;
            if (pair.to.columns[0] == pair.to.columns[1]) break;
          }
          if (!(sum < least)) break;
        }
        if (!(sum < least)) continue;
        least = sum;
        found = each->second;
      }
    }
  }
  return positions;
}

}  // namespace internals
}  // namespace posenc::check
