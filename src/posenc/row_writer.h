/// @file
/// The object that a backend plans to write the rows of a spec. Only programs that add a backend of
/// their own need it.
#pragma once

#include "posenc/data_type.h"
#include "posenc/spec.h"

#include <cstdint>
#include <limits>

namespace posenc {

namespace detail {
class KernelWriter;
}

/// Consecutive rows to write. The caller has checked them: count >= 1, and stride >= d_model.
struct OutputRows {
  std::int64_t first;   ///< position of the first row, never negative
  std::int64_t count;   ///< number of rows
  void* out;            ///< address of the first row
  std::int64_t stride;  ///< elements from one row to the next
  DataType type;        ///< type of the elements

  /// Row r of these rows. T must be the element type of `type`.
  template <class T>
  T* row(std::int64_t r) const noexcept {
    return static_cast<T*>(out) + r * stride;
  }
};

/// Writes the rows of one spec. It is immutable, so that any number of threads may use it at once.
class RowWriter {
 public:
  RowWriter() = default;
  virtual ~RowWriter() = default;
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;

  /// Writes the rows. A row must have the same bits in every call: it depends on its position
  /// alone.
  virtual void write(const OutputRows& rows) const noexcept = 0;

  /// A proven upper bound of |entry - exact value| over these rows.
  virtual double error_bound(RowRange rows, DataType type) const noexcept = 0;

  /// The same bound in ulp, the spacing of the type at the exact value; infinity if there is none.
  /// Methods that are correctly rounded need not override it.
  virtual double ulp_bound(RowRange, DataType) const noexcept {
    return std::numeric_limits<double>::infinity();
  }

 private:
  friend class detail::KernelWriter;
  friend class Encoder;

  const detail::KernelWriter* kernels_ = nullptr;  ///< this object, if it is one of posenc's own
};

}  // namespace posenc
