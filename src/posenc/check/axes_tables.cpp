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
#include <numeric>
#include <span>
#include <utility>

namespace posenc::check {

using namespace model;
using namespace suite;
namespace {

/// The content of one column of a table over axes.
struct AxesColumn {
  std::int64_t axis;
  double frequency;
  bool is_cosine;

  double value_at(double position) const noexcept {
    const double phase = position * frequency;
    return is_cosine ? std::cos(phase) : std::sin(phase);
  }
};

std::vector<AxesColumn> columns_of(const TableIdentity& is, std::int64_t columns) {
  std::vector<AxesColumn> all(static_cast<std::size_t>(columns));
  for (const TablePair& pair : pairs_of_table(is, columns))
    for (const std::size_t i : {0, 1})
      all[static_cast<std::size_t>(pair.to.columns[i])] = {pair.axis, pair.frequency,
                                                           pair.to.is_cosine[i]};
  return all;
}

/// A convention on one grid.
struct AxesCandidate {
  std::string name;
  GridSizes grid;
  AxesTable table;
};

/// Finds the grid whose cells are the rows from `first` on, in row-major order. Returns its sizes
/// that are larger than 1, the last axis first. The columns of an axis repeat the values of the
/// first cell after one full run along the axis. Empty if the rows do not form a grid.
std::vector<std::int64_t> grid_of(const TableView& table, std::int64_t first) {
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

/// Tries all candidates for a sample, whose row 0 may be the zeros of a class token.
class AxesIdentification {
 public:
  AxesIdentification(const SampledTable& sample, const TableOptions& options)
      : sample_(sample), options_(options) {}

  std::optional<TableIdentity> found() {
    const std::int64_t rows = sample_.table.rows;
    if (rows < 2 || sample_.rows.size() < 2) return {};
    try_cells(rows);
    if (!found_ && sample_.states.front() == RowState::zero) {
      token_ = 1;
      try_cells(rows - 1);
    }
    return found_;
  }

 private:
  void try_cells(std::int64_t cells) {
    const std::vector<std::int64_t> sizes = grid_of(sample_.table, token_);
    // An axis with a single cell leaves no trace. Try every choice of axes that have more cells.
    for (unsigned axes = 1; axes < 8 && !found_; ++axes) {
      if (std::popcount(axes) != std::ssize(sizes)) continue;
      GridSizes grid = {1, 1, 1};
      auto size = sizes.begin();
      for (std::size_t axis = 3; axis-- > 0;)
        if ((axes >> axis & 1U) != 0) grid[axis] = *size++;
      try_grid(grid, cells);
    }
  }

  void try_grid(const GridSizes& grid, std::int64_t cells) {
    for (const AxesPreset& preset : axes_presets())
      try_candidate(preset.name, grid, [&] { return axes_table(preset.name, grid); });
    if (grid[0] != 1) return;
    constexpr std::pair<std::string_view, GridConvention> conventions[] = {
        {"mae", GridConvention::mae},
        {"simple_vit", GridConvention::simple_vit},
        {"detr", GridConvention::detr}};
    for (const auto& [name, convention] : conventions)
      try_candidate(name, grid, [&, which = convention] {
        AxesTable table = {grid_axes(which, grid[1], grid[2], sample_.table.columns), cells, {}};
        const std::int64_t first = which == GridConvention::detr ? 1 : 0;
        for (std::int64_t cell = 0; cell < cells; ++cell)
          table.positions.push_back(first + cell / grid[2]);
        for (std::int64_t cell = 0; cell < cells; ++cell)
          table.positions.push_back(first + cell % grid[2]);
        return table;
      });
  }

  /// True if the pairs of the spec fill the columns of the table in some arrangement.
  bool has_width(const AxesSpec& spec) const {
    const std::int64_t columns = sample_.table.columns, width = spec.d_model();
    return columns == width || (!spec.parts_have_layouts && 2 * columns == width);
  }

  template <class Make>
  void try_candidate(std::string_view name, const GridSizes& grid, const Make& make) {
    if (found_) return;
    try {
      AxesTable table = make();
      if (has_width(table.spec)) try_arrangements({std::string(name), grid, std::move(table)});
    } catch (const InvalidArgument&) {
      // The convention does not allow this grid or width.
    }
  }

  void try_arrangements(AxesCandidate candidate) {
    AxesSpec& spec = candidate.table.spec;
    TableIdentity is;
    is.spec = spec.parts.front().spec;
    if (token_ > 0) {
      is.padding_row = 0;
      std::vector<std::int64_t>& positions = candidate.table.positions;
      for (std::int64_t axis = 0; axis < spec.axes(); ++axis)
        positions.insert(positions.begin() + axis * sample_.table.rows, 0);
    }
    is.axes = {candidate.name, candidate.grid, std::move(spec),
               std::move(candidate.table.positions)};
    for (const Arrangement arrangement : all_arrangements) {
      is.arrangement =
          is.axes->spec.parts_have_layouts ? arrangement_of(is.spec.layout) : arrangement;
      if (allows(options_, is.arrangement) && arrangement != Arrangement::alternating &&
          frequencies_in(arrangement, sample_.table.columns) == is.axes->spec.d_model() / 2 &&
          is_right(is)) {
        found_ = is;
        return;
      }
      if (is.axes->spec.parts_have_layouts) return;
    }
  }

  bool is_right(const TableIdentity& is) const {
    const std::vector<AxesColumn> columns = columns_of(is, sample_.table.columns);
    std::size_t i = 0;
    for (const std::int64_t row : sample_.rows) {
      for (const std::int64_t column : sample_.columns) {
        const AxesColumn& of = columns[static_cast<std::size_t>(column)];
        const auto position =
            static_cast<double>(is.axes->position(of.axis, row, sample_.table.rows));
        const double limit = allowed_error(sample_.type, 1, position * of.frequency);
        if (!(std::fabs(sample_.got[i++] - of.value_at(position)) <= limit)) return false;
      }
    }
    return true;
  }

  const SampledTable& sample_;
  const TableOptions& options_;
  std::int64_t token_ = 0;
  std::optional<TableIdentity> found_;
};

}  // namespace

std::optional<TableIdentity> identify_axes(const SampledTable& sample,
                                           const TableOptions& options) {
  return AxesIdentification(sample, options).found();
}

std::vector<std::int64_t> positions_on_axes(const TableView& table, const AxesSpec& spec,
                                            Arrangement arrangement, double factor) {
  TableIdentity is;
  is.arrangement = arrangement;
  is.axes = {{}, {}, spec, {}};
  const std::vector<AxesColumn> columns = columns_of(is, table.columns);
  std::vector<std::int64_t> positions(static_cast<std::size_t>(spec.axes() * table.rows));
  for (std::int64_t axis = 0; axis < spec.axes(); ++axis) {
    std::vector<std::int64_t> of_axis;
    for (std::int64_t column = 0; column < table.columns; ++column)
      if (columns[static_cast<std::size_t>(column)].axis == axis) of_axis.push_back(column);
    const auto frequency_of = [&](std::int64_t column) {
      return columns[static_cast<std::size_t>(column)].frequency;
    };
    std::ranges::stable_sort(of_axis, std::greater(), frequency_of);
    if (of_axis.empty()) continue;
    // Sort positions by their value in the column of the highest frequency: few are near an entry.
    constexpr std::int64_t most = 1 << 16;
    const AxesColumn& fastest = columns[static_cast<std::size_t>(of_axis.front())];
    std::vector<std::pair<double, std::int64_t>> by_value;
    for (std::int64_t position = 0; position <= most; ++position)
      by_value.emplace_back(factor * fastest.value_at(static_cast<double>(position)), position);
    std::ranges::sort(by_value);
    const double near = 2 * allowed_error(table.type, factor, static_cast<double>(most));
    for (std::int64_t row = 0; row < table.rows; ++row) {
      const double shown = table(row, of_axis.front());
      std::int64_t& found = positions[static_cast<std::size_t>(axis * table.rows + row)];
      double least = infinity;
      for (auto each = std::ranges::lower_bound(by_value, std::pair(shown - near, std::int64_t{0}));
           each != by_value.end() && each->first <= shown + near; ++each) {
        const auto position = static_cast<double>(each->second);
        double sum = 0;
        for (const std::int64_t column : of_axis) {
          const double value =
              factor * columns[static_cast<std::size_t>(column)].value_at(position);
          const double off = std::fabs(table(row, column) - value);
          sum += off <= near ? off : infinity;
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

}  // namespace posenc::check
