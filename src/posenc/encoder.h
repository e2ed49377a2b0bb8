// A backend planned for a spec, and the views that it writes into.
#pragma once

#include "posenc/data_type.h"
#include "posenc/export.h"
#include "posenc/isa.h"
#include "posenc/matrix.h"
#include "posenc/spec.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace POSENC_API posenc {

struct RowTask;

/// How a table is stored.
enum class StorePolicy {
  automatic,     ///< past the caches where the table is larger than the last-level cache
  cached,        ///< plain stores
  non_temporal,  ///< past the caches, where the backend can and 64-byte alignment of rows and
                 ///< columns allows
};

struct EncodeOptions {
  /// Implicit: encode(rows, out, 4) shares the work between 4 threads.
  EncodeOptions(int thread_count = 1, StorePolicy kind = StorePolicy::automatic)
      : threads(thread_count), stores(kind) {}  // NOLINT

  int threads;  ///< >= 1 (OpenMP; one where the build has none)
  StorePolicy stores;
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

  /// out = x * scale + encoding in float32, without materialising the table. Bit-identical to
  /// encode(), then a multiplication, then an addition. x may be out itself; else they must not
  /// overlap. Throws InvalidArgument as encode() does, and if x has another stride than out, or if
  /// not supports_add().
  void add(RowRange rows, MatrixView<const float> x, float scale, MatrixView<float> out,
           EncodeOptions options = {}) const;

  /// True if add() works: for methods that hold a row in registers before it is stored.
  virtual bool supports_add() const noexcept { return false; }

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
  virtual bool supports(DataType) const noexcept { return true; }

 private:
  /// What a method defines: the rows of the task, whose arguments are checked.
  virtual void encode_rows(const RowTask& task) const noexcept = 0;

  /// The same if supports_add(): out = x * scale + encoding, x with the task's stride.
  virtual void add_rows(const RowTask& task, const float* x, float scale) const noexcept;

  template <class Position>
  void gather(std::span<const Position> positions, const OutputView& out,
              const EncodeOptions& options) const;

  EncodingSpec spec_;
  std::string backend_;
  Isa isa_;
};

}  // namespace posenc
