// A backend planned for a spec, and the views that it writes into.
#pragma once

#include "posenc/isa.h"
#include "posenc/spec.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

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

/// How a table is stored.
enum class Stores {
  automatic,  ///< past the caches where the table is larger than the last-level cache
  cached,     ///< plain stores
  streamed,   ///< past the caches, where the backend can and 64-byte alignment of rows and columns allows
};

struct EncodeOptions {
  /// Implicit: encode(rows, out, 4) shares the work between 4 threads.
  EncodeOptions(int thread_count = 1, Stores kind = Stores::automatic)
      : threads(thread_count), stores(kind) {}  // NOLINT

  int threads;  ///< >= 1 (OpenMP; one where the build has none)
  Stores stores;
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
  /// rows.first + r. Throws InvalidArgument, before anything is written, where the range is not allowed, the view has fewer
  /// rows or columns than that, a stride below its columns, no memory, or threads < 1. Allocates nothing.
  void encode(RowRange rows, MatrixView<float> out, EncodeOptions options = {}) const;

  /// The same for arbitrary positions, in any order, repeated or not: row r holds the encoding of positions[r].
  void encode(std::span<const std::int64_t> positions, MatrixView<float> out, EncodeOptions options = {}) const;

  /// The largest |float32 output - exact value| that the method allows over these rows: a proven bound, not a measurement.
  virtual double error_bound(RowRange rows) const noexcept = 0;

 protected:
  /// Consecutive rows to write. Arguments are checked: count >= 1, stride >= d_model.
  struct RowTask {
    std::int64_t first;
    std::int64_t count;
    float* out;
    std::ptrdiff_t stride;
    bool streamed;  ///< the table should be stored past the caches
  };

  virtual void encode_rows(const RowTask& task) const noexcept = 0;

 private:
  EncodingSpec spec_;
  std::string backend_;
  Isa isa_;
};

/// Rows at consecutive positions, one at a time, as decoding needs them: keeps what the next rows share, so that a row costs little more
/// than it does in a table. The same bits as Encoder::encode. Not for use by two threads at once.
class Cursor {
 public:
  /// Keeps a reference to the encoder. Throws InvalidArgument where `first` is not a position.
  explicit Cursor(const Encoder& encoder, std::int64_t first = 0);

  /// The position of the row that next() gives.
  std::int64_t position() const noexcept { return position_; }

  /// Moves to any position. Throws InvalidArgument where it is not one.
  void seek(std::int64_t position);

  /// The row of position(), d_model values, valid until the next call; then moves on by one.
  /// Throws InvalidArgument past max_position.
  std::span<const float> next();

 private:
  const Encoder& encoder_;
  std::int64_t position_ = 0;
  RowRange kept_;  ///< positions of the rows in ahead_
  std::vector<float> ahead_;
};

/// A dense row-major matrix that owns its memory: 64-byte aligned, and in huge pages where it is large and the system gives them.
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
