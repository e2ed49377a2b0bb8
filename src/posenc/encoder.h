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
#include <memory>
#include <span>

namespace posenc {

class Backend;
class RowWriter;
struct Method;

/// A backend planned for a spec: frequencies and tables are ready. It is immutable, so that any
/// number of threads may use one encoder at once. A row is a pure function of its position: it has
/// the same bits in every range, gather, stride, alignment and thread count.
class Encoder {
 public:
  /// Backend::plan() makes encoders. `method` is the method of `backend`, which must outlive the
  /// encoder.
  Encoder(const EncodingSpec& spec, const Backend& backend, const Method& method,
          std::unique_ptr<const RowWriter> writer);
  ~Encoder();
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  /// The spec that it was planned for.
  const EncodingSpec& spec() const noexcept { return spec_; }
  /// The backend that planned it, which says what its encoders can do.
  const Backend& backend() const noexcept { return *backend_; }

  /// Writes rows.count rows of spec().d_model channels to the first rows of `out`: row r holds the
  /// encoding of position rows.first + r. A call with one thread allocates nothing.
  ///
  /// Throws InvalidArgument, before anything is written, if the range or the number of threads is
  /// not allowed. A view is refused if it is too small, if its stride is less than its columns, if
  /// it has no memory, or if the encoder does not support its type.
  void encode(RowRange rows, OutputView out, EncodeOptions options = {}) const;

  /// Writes the rows of positions in any order, with repetitions: row r holds the encoding of
  /// positions[r]. Accepts a vector, an array or a span. Throws as the call above.
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
  /// encode(), then a multiplication, then an addition. x and out are both float32, both float16 or
  /// both bfloat16. Elements of 16 bits are widened to float32, and the result is rounded once. x
  /// may be the memory of out; otherwise they must not overlap.
  ///
  /// Throws InvalidArgument as encode() does, and if x has another type or stride than out. Also
  /// throws std::bad_alloc. Nothing is written if it throws.
  void add(RowRange rows, InputView x, float scale, OutputView out,
           EncodeOptions options = {}) const;

  /// An upper bound of |entry - exact value| over these rows, which is proven, not measured.
  double error_bound(RowRange rows, DataType type = DataType::float32) const noexcept;

  /// The same bound in ulp, the spacing of the type at the exact value; infinity if there is none.
  double ulp_bound(RowRange rows, DataType type = DataType::float32) const noexcept;

 private:
  struct Rows;
  template <class Position>
  void gather(std::span<const Position> positions, const OutputView& out,
              const EncodeOptions& options) const;
  void check_call(std::int64_t rows, const OutputView& out, const EncodeOptions& options) const;

  EncodingSpec spec_;
  const Backend* backend_;
  const Method* method_;
  std::unique_ptr<const RowWriter> writer_;
};

}  // namespace posenc
