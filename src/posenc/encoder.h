/// @file
/// A backend planned for a spec:
///
///     auto encoder = posenc::backend("rotation").plan({.d_model = 512});
///     encoder->encode({.first = 0, .count = 5000}, table.view());
#pragma once

#include "posenc/data_type.h"
#include "posenc/encode_options.h"
#include "posenc/matrix.h"
#include "posenc/spec.h"

#include <cstdint>
#include <span>
#include <string>

namespace posenc {

class Backend;
struct RowTask;
namespace simd {
enum class StoreMethod : std::uint8_t;
struct StorePlan;
}  // namespace simd

/// A backend planned for a spec: frequencies and tables are ready. It is immutable, so that any
/// number of threads may use one encoder at once. A row is a pure function of its position: it has
/// the same bits in every range, gather, stride, alignment and thread count.
class Encoder {
 public:
  /// For backends, which plan encoders. The backend must outlive it.
  Encoder(const EncodingSpec& spec, const Backend& backend);
  virtual ~Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  /// What it was planned for.
  const EncodingSpec& spec() const noexcept { return spec_; }
  /// The backend that planned it, which says what its encoders can do.
  const Backend& backend() const noexcept { return *backend_; }

  /// Writes rows.count rows of spec().d_model channels to the first rows of `out`: row r holds the
  /// encoding of position rows.first + r. Allocates nothing.
  ///
  /// Throws InvalidArgument, before anything is written, if the range is not allowed; if the view
  /// has fewer rows or columns than these, a stride below its columns, no memory, or a type that
  /// this encoder does not support; or if threads < 1.
  void encode(RowRange rows, OutputView out, EncodeOptions options = {}) const;

  /// Writes the rows of positions in any order, with repetitions: row r holds that of positions[r].
  /// Accepts a vector, an array or a span. Throws as the call above.
  void encode(std::span<const std::int64_t> positions, OutputView out,
              EncodeOptions options = {}) const;
  /// Writes the rows of 32-bit positions.
  void encode(std::span<const std::int32_t> positions, OutputView out,
              EncodeOptions options = {}) const;

  /// Makes encode({5, 7}, out) an error, because two bare integers could be a range or two
  /// positions. Write {.first = 5, .count = 7} for rows 5 to 11.
  struct RangeOrPositions {
    std::int64_t first_or_position;  ///< no call reads it
    std::int64_t count_or_position;  ///< no call reads it
  };
  /// Does not exist, see RangeOrPositions.
  void encode(RangeOrPositions ambiguous, OutputView out,
              EncodeOptions options = {}) const = delete;

  /// out = x * scale + encoding in float32, without materialising the table: bit-identical to
  /// encode(), then a multiplication, then an addition. x and out are both float32; or both float16
  /// or bfloat16, which are widened, and the result is rounded once. x may be the memory of out;
  /// otherwise they must not overlap. Throws InvalidArgument as encode() does, and if x has another
  /// type or stride than out; and std::bad_alloc. Nothing is written then.
  void add(RowRange rows, InputView x, float scale, OutputView out,
           EncodeOptions options = {}) const;

  /// An upper bound of |entry - exact value| over these rows, which is proven, not measured.
  virtual double error_bound(RowRange rows, DataType type = DataType::float32) const noexcept = 0;

  /// The same in ulp, the spacing of the type at the exact value; infinity if there is none.
  virtual double ulp_bound(RowRange rows, DataType type = DataType::float32) const noexcept;

 private:
  /// Writes the rows of the task, whose arguments are checked (simd/row_task.h). Its positions are
  /// not negative: sines of negative ones are negated by the caller.
  virtual void encode_rows(const RowTask& task) const noexcept = 0;

  /// True if the backend has add_rows().
  virtual bool can_add_rows() const noexcept;
  /// Writes out = x * scale + encoding for the rows of the task, in float32 and in one pass. x has
  /// the stride of the task, and positions are not negative.
  virtual void add_rows(const RowTask& task, const float* x, float scale) const noexcept;

  /// How the rows of a call are stored, or added by add_rows(). `non_temporal`: past the caches if
  /// possible. Plain stores unless it is overridden.
  virtual simd::StorePlan store_plan(const RowTask& task, bool non_temporal,
                                     bool adds) const noexcept;
  /// The task of a call that has been checked.
  RowTask task_of(RowRange rows, const OutputView& out, StorePolicy policy,
                  bool adds = false) const noexcept;

  /// Writes the rows of the task, whose positions may be negative.
  void encode_any(const RowTask& task) const noexcept;
  void encode_negative(const RowTask& task) const noexcept;
  void add_encoded(const RowTask& task, const void* x, float scale, simd::StoreMethod stores,
                   float* encoded) const noexcept;

  template <class Position>
  void gather(std::span<const Position> positions, const OutputView& out,
              const EncodeOptions& options) const;

  EncodingSpec spec_;
  const Backend* backend_;
};

}  // namespace posenc
