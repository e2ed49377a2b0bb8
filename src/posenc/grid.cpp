#include "posenc/grid.h"

#include "posenc/selection.h"
#include "posenc/support/check.h"
#include "posenc/support/check_view.h"
#include "posenc/support/format.h"
#include "posenc/support/parallel_for.h"

#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

namespace posenc {
namespace {

void check_quarters(std::int64_t d_model, std::int64_t least = 4) {
  if (d_model >= least && d_model % 4 == 0) return;
  throw InvalidArgument(format_text(
      "d_model is {}; allowed for a grid: a multiple of 4, at least {}", d_model, least));
}

GridSpec both(const EncodingSpec& each) {
  return {.column = each, .row = each, .is_row_first = false, .first = 0};
}

/// The frequencies of DETR along a side of that size.
FrequencyRule normalised_frequencies(std::int64_t channels, std::int64_t size) {
  if (size < 1)
    throw InvalidArgument(format_text("size of the grid is {}; allowed: at least 1", size));
  const double scale = 2 * std::numbers::pi / (static_cast<double>(size) + 1e-6);
  OwnFrequencies own;
  for (std::int64_t k = 0; k < channels / 2; ++k) {
    const double exponent = static_cast<double>(2 * k) / static_cast<double>(channels);
    own.values.push_back(scale / std::pow(10000.0, exponent));
  }
  return own;
}

/// The encodings of one coordinate.
template <class T>
BasicMatrix<T> encoded(const EncodingSpec& spec, RowRange range, EncodeOptions options) {
  const auto encoder =
      plan_selected(spec, range, {.type = data_type_of<T>, .threads = options.threads}).encoder;
  BasicMatrix<T> table(range.count, spec.d_model);
  encoder->encode(range, table.view(), options);
  return table;
}

}  // namespace

std::int64_t grid_cells(std::int64_t rows, std::int64_t columns) {
  std::int64_t cells = 0;
  if (rows < 0 || columns < 0 || __builtin_mul_overflow(rows, columns, &cells) ||
      cells > max_position) {
    throw InvalidArgument(
        format_text("grid is {} x {}; allowed: sizes of at least 0, and at most {} cells", rows,
                    columns, max_position));
  }
  return cells;
}

GridSpec mae_grid(std::int64_t d_model) {
  check_quarters(d_model);
  return both({.d_model = d_model / 2, .layout = Layout::halves});
}

GridSpec simple_vit_grid(std::int64_t d_model) {
  check_quarters(d_model, 8);
  return both({.d_model = d_model / 2, .layout = Layout::halves, .spacing = Spacing::inclusive});
}

GridSpec detr_grid(std::int64_t d_model, std::int64_t rows, std::int64_t columns) {
  check_quarters(d_model);
  const std::int64_t half = d_model / 2;
  return {.column = {.d_model = half, .frequencies = normalised_frequencies(half, columns)},
          .row = {.d_model = half, .frequencies = normalised_frequencies(half, rows)},
          .is_row_first = true,
          .first = 1};
}

void encode_grid(std::int64_t rows, std::int64_t columns, const GridSpec& spec, OutputView out,
                 EncodeOptions options) {
  check_threads(options.threads);
  const std::int64_t cells = grid_cells(rows, columns);
  validate(spec.column);
  validate(spec.row);
  validate(RowRange{spec.first, rows});
  validate(RowRange{spec.first, columns});
  check_view(out, cells, spec.d_model());
  if (cells == 0) return;
  with_type(out.type, [&]<class T>(T) {
    const BasicMatrix<T> of_column = encoded<T>(spec.column, {spec.first, columns}, options);
    const BasicMatrix<T> of_row = encoded<T>(spec.row, {spec.first, rows}, options);
    const std::int64_t column_place = spec.is_row_first ? spec.row.d_model : 0;
    const std::int64_t row_place = spec.is_row_first ? 0 : spec.column.d_model;
    parallel_for(rows, options.threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t cell = begin * columns; cell < end * columns; ++cell) {
        T* const to = static_cast<T*>(out.data) + cell * out.stride;
        const auto copy = [&](std::int64_t place, std::span<const T> from) {
          std::memcpy(to + place, from.data(), from.size_bytes());
        };
        copy(column_place, of_column.row(cell % columns));
        copy(row_place, of_row.row(cell / columns));
      }
    });
  });
}

Matrix encode_grid(std::int64_t rows, std::int64_t columns, const GridSpec& spec,
                   EncodeOptions options) {
  validate(spec.column);
  validate(spec.row);
  Matrix table(grid_cells(rows, columns), spec.d_model());
  encode_grid(rows, columns, spec, table.view(), options);
  return table;
}

}  // namespace posenc
