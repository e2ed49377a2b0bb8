// A backend planned for a spec, and the views that it writes into.
#pragma once

#include "posenc/isa.h"
#include "posenc/spec.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace posenc {

/// A row-major matrix in memory that somebody else owns. Row r starts at data + r * stride; stride >= columns,
/// counted in elements. No alignment beyond that of T is asked for.
template <class T>
struct MatrixView {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;
};

/// A backend planned for a spec: frequencies and tables are ready. Immutable, so that any number of threads may use one
/// encoder at once. A row is a pure function of its position: it has the same bits in every range, gather,
/// stride, alignment and thread count.
class Encoder {
 public:
  Encoder(const EncodingSpec& spec, std::string backend, Isa isa);
  virtual ~Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  const EncodingSpec& spec() const noexcept { return spec_; }
  const std::string& backend() const noexcept { return backend_; }
  Isa isa() const noexcept { return isa_; }

  /// Writes rows.count rows of spec().d_model channels to the first rows of `out`: row r holds the encoding of position
  /// rows.first + r. Work is shared between `threads` threads (OpenMP; one where the build has none).
  /// Throws InvalidArgument, before anything is written, where the range is not allowed, the view has fewer rows or
  /// columns than that, a stride below its columns, no memory, or threads < 1. Allocates nothing.
  void encode(RowRange rows, MatrixView<float> out, int threads = 1) const;

  /// The same for arbitrary positions, in any order, repeated or not: row r holds the encoding of positions[r].
  void encode(std::span<const std::int64_t> positions, MatrixView<float> out, int threads = 1) const;

  /// The largest |float32 output - exact value| that the method allows over these rows: a proven bound, not a measurement.
  virtual double error_bound(RowRange rows) const noexcept = 0;

 protected:
  /// Arguments are checked: count >= 1, stride >= d_model.
  virtual void encode_rows(std::int64_t first, std::int64_t count, float* out,
                           std::ptrdiff_t stride) const noexcept = 0;

  /// Arguments are checked. The default encodes row by row.
  virtual void encode_gather(const std::int64_t* positions, std::int64_t count, float* out,
                             std::ptrdiff_t stride) const noexcept;

 private:
  EncodingSpec spec_;
  std::string backend_;
  Isa isa_;
};

/// A dense row-major matrix that owns its memory, 64-byte aligned.
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::int64_t rows, std::int64_t columns);  ///< uninitialised; throws InvalidArgument or std::bad_alloc

  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t columns() const noexcept { return columns_; }
  float* data() noexcept { return data_.get(); }
  const float* data() const noexcept { return data_.get(); }
  float operator()(std::int64_t row, std::int64_t column) const noexcept {
    return data_.get()[row * columns_ + column];
  }
  std::span<const float> row(std::int64_t r) const noexcept {
    return {data_.get() + r * columns_, static_cast<std::size_t>(columns_)};
  }
  MatrixView<float> view() noexcept { return {data_.get(), rows_, columns_, columns_}; }

 private:
  struct Free {
    void operator()(float* memory) const noexcept;
  };
  std::unique_ptr<float[], Free> data_;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
};

/// The encodings of positions rows.first .. from the backend that selection picks for this shape (see registry.h).
Matrix encode(RowRange rows, const EncodingSpec& spec, int threads = 1);

/// Positions 0 .. rows - 1 in the paper's convention: shape (rows, d_model).
Matrix encode(std::int64_t rows, std::int64_t d_model);

}  // namespace posenc
