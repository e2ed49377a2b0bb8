// Tables that are computed entry by entry, with the roundings of other programs.
#pragma once

#include "posenc/check/columns.h"
#include "posenc/data_type.h"
#include "posenc/matrix.h"

#include <cmath>
#include <cstdint>
#include <functional>

namespace posenc::test {

/// Rounds to a type, as NumPy and PyTorch round the result of every operation.
using Round = double (*)(double);
inline double f32(double value) { return static_cast<float>(value); }
inline double bf16(double value) { return to_double(nearest<BFloat16>(f32(value))); }
inline double f16(double value) { return to_double(nearest<Float16>(f32(value))); }

/// The entry in a row and a column.
using Entry = std::function<double(int row, int column)>;
/// The phase of frequency k in a row.
using Phase = std::function<double(int k, int row)>;

/// A table of these entries, each rounded once.
template <class T = float>
BasicMatrix<T> table_of(std::int64_t rows, std::int64_t columns, const Entry& entry) {
  BasicMatrix<T> table(rows, columns);
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      table(row, column) = nearest<T>(entry(row, column));
  return table;
}

/// w_k = base^(-k / h)
inline double frequency(double k, double h, double base = 1e4) { return std::pow(base, -k / h); }

/// Sines and cosines of phases, in the order of an arrangement.
inline Entry arranged(check::Arrangement arrangement, int columns, const Phase& phase) {
  return [=](int row, int column) {
    const auto [k, is_cosine] = check::content_of(arrangement, columns, column);
    const double at = phase(static_cast<int>(k), row);
    return is_cosine ? std::cos(at) : std::sin(at);
  };
}

}  // namespace posenc::test
