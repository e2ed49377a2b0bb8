// A backend planned for a spec, and the views that it writes into.
#pragma once

#include "posenc/data_type.h"
#include "posenc/export.h"
#include "posenc/isa.h"
#include "posenc/row_task.h"
#include "posenc/spec.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace POSENC_API posenc {

/// A row-major matrix in memory that somebody else owns. Row r starts at data + r * stride; stride
/// >= columns, counted in elements. No alignment beyond that of T is asked for.
template <class T>
struct MatrixView {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;

  /// What may be written may also be read.
  operator MatrixView<const T>() const noexcept  // NOLINT: implicit
      requires(!std::is_const_v<T>) {
    return {data, rows, columns, stride};
  }
};

/// A MatrixView of any element type of tables (see data_type.h) that can be written: what encode()
/// takes.
struct OutputView {
  template <class T>
  requires(!std::is_const_v<T>) OutputView(MatrixView<T> view)
      : OutputView(view.data, view.rows, view.columns, view.stride) {}  // NOLINT: implicit

  template <class T>
  requires(!std::is_const_v<T>) OutputView(T* first, std::int64_t row_count,
                                           std::int64_t column_count, std::int64_t row_stride)
      : data(first),
        rows(row_count),
        columns(column_count),
        stride(row_stride),
        type(data_type_of<T>) {}

  void* data;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t stride;
  DataType type;
};

/// How a table is stored.
enum class Stores {
  automatic,  ///< past the caches where the table is larger than the last-level cache
  cached,     ///< plain stores
  streamed,   ///< past the caches, where the backend can and 64-byte alignment of rows and columns
              ///< allows
};

struct EncodeOptions {
  /// Implicit: encode(rows, out, 4) shares the work between 4 threads.
  EncodeOptions(int thread_count = 1, Stores kind = Stores::automatic)
      : threads(thread_count), stores(kind) {}  // NOLINT

  int threads;  ///< >= 1 (OpenMP; one where the build has none)
  Stores stores;
};

/// A backend planned for a spec: frequencies and tables are ready. Immutable, so that any number of
/// threads may use one encoder at once. A row is a pure function of its position: it has the same
/// bits in every range, gather, stride, alignment and thread count.
class Encoder {
 public:
  Encoder(const EncodingSpec& spec, std::string backend, Isa isa);
  virtual ~Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  const EncodingSpec& spec() const noexcept { return spec_; }
  const std::string& backend() const noexcept { return backend_; }
  Isa isa() const noexcept { return isa_; }

  /// Writes rows.count rows of spec().d_model channels to the first rows of `out`: row r holds the
  /// encoding of position rows.first + r. Throws InvalidArgument, before anything is written, where
  /// the range is not allowed, the view has fewer rows or columns than that, a stride below its
  /// columns, no memory, a type that this encoder does not write, or threads < 1. Allocates
  /// nothing.
  void encode(RowRange rows, OutputView out, EncodeOptions options = {}) const;

  /// The same for arbitrary positions, in any order, repeated or not: row r holds the encoding of
  /// positions[r]. Any contiguous range of 64-bit or 32-bit integers will do: a vector, an array, a
  /// span.
  void encode(std::span<const std::int64_t> positions, OutputView out,
              EncodeOptions options = {}) const;
  void encode(std::span<const std::int32_t> positions, OutputView out,
              EncodeOptions options = {}) const;

  /// Makes encode({5, 7}, out) an error, because two bare integers could be a range or two
  /// positions. Write {.first = 5, .count = 7} for rows 5 to 11, and pass a vector, an array or a
  /// span for positions 5 and 7.
  struct RangeOrPositions {
    std::int64_t first_or_position;
    std::int64_t count_or_position;
  };
  void encode(RangeOrPositions ambiguous, OutputView out,
              EncodeOptions options = {}) const = delete;

  /// out = x * scale + encoding in float32, one pass over memory and no table in it; each operation
  /// rounds, so that the bits are those of encode() and the two operations in turn. x may be out
  /// itself; else they must not overlap. Only where can_add(); one thread. Throws InvalidArgument
  /// as encode() does, and where x has another stride than out, or a dtype is not float32.
  void add(RowRange rows, MatrixView<const float> x, float scale, MatrixView<float> out,
           Stores stores = Stores::automatic) const;

  /// Whether add() is there: methods whose values stand in registers before they are stored have
  /// it.
  virtual bool can_add() const noexcept { return false; }

  /// The largest |output - exact value| that the method allows over these rows: a proven bound, not
  /// a measurement.
  virtual double error_bound(RowRange rows, DataType type = DataType::float32) const noexcept = 0;

  /// Whether every entry of tables of that type is the type's value nearest to the exact one:
  /// proven, for every spec and every row. The bits are then the same on every ISA and compiler.
  virtual bool is_correctly_rounded(DataType) const noexcept { return false; }

  /// The largest error that the method allows over these rows, in ulp: spacings of the type at the
  /// exact value. Proven as well; infinite if it promises none, since a bound on the absolute error
  /// says nothing near the zeros of sine.
  virtual double ulp_bound(RowRange rows, DataType type = DataType::float32) const noexcept;

  /// Whether tables of that type are written: all but those that a method has not the precision
  /// for.
  virtual bool writes(DataType) const noexcept { return true; }

 private:
  virtual void encode_rows(const RowTask& task) const noexcept = 0;

  template <class Position>
  void gather(std::span<const Position> positions, const OutputView& out,
              const EncodeOptions& options) const;

  EncodingSpec spec_;
  std::string backend_;
  Isa isa_;
};

/// Rows at consecutive positions, one at a time, as decoding needs them: keeps what the next rows
/// share, so that a row costs little more than it does in a table. The same bits as
/// Encoder::encode. Not for use by two threads at once.
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

/// Memory for a dense table, to be given back with free_table: see BasicMatrix.
void* allocate_table(std::int64_t rows, std::int64_t columns, DataType type);
void free_table(void* memory) noexcept;

/// A dense row-major matrix that owns its memory: 64-byte aligned, and in huge pages where it is
/// large and the system gives them. T is an element type of tables: float, double, Float16,
/// BFloat16, or what else data_type.h names.
template <class T>
class BasicMatrix {
 public:
  BasicMatrix() = default;
  /// Uninitialised; throws InvalidArgument or std::bad_alloc.
  BasicMatrix(std::int64_t rows, std::int64_t columns)
      : data_(static_cast<T*>(allocate_table(rows, columns, data_type_of<T>))),
        rows_(rows),
        columns_(columns) {}

  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t columns() const noexcept { return columns_; }
  T* data() noexcept { return data_.get(); }
  const T* data() const noexcept { return data_.get(); }
  T& operator()(std::int64_t row, std::int64_t column) noexcept {
    return data_.get()[row * columns_ + column];
  }
  const T& operator()(std::int64_t row, std::int64_t column) const noexcept {
    return data_.get()[row * columns_ + column];
  }
  std::span<T> row(std::int64_t r) noexcept {
    return {data_.get() + r * columns_, static_cast<std::size_t>(columns_)};
  }
  std::span<const T> row(std::int64_t r) const noexcept {
    return {data_.get() + r * columns_, static_cast<std::size_t>(columns_)};
  }
  MatrixView<T> view() noexcept { return {data_.get(), rows_, columns_, columns_}; }
  MatrixView<const T> view() const noexcept { return {data_.get(), rows_, columns_, columns_}; }

 private:
  struct Free {
    void operator()(T* memory) const noexcept { free_table(memory); }
  };
  std::unique_ptr<T[], Free> data_;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
};

using Matrix = BasicMatrix<float>;

}  // namespace posenc
