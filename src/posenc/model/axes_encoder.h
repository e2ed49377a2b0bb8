/// @file
/// Encodings of positions on several axes.
///
///     const posenc::AxesEncoder encoder(flux);  // an AxesSpec
///     encoder.encode(posenc::RowPositions(positions, 3), table.view());  // positions[axis][row]
#pragma once

#include "posenc/accuracy.h"
#include "posenc/encode_options.h"
#include "posenc/matrix.h"
#include "posenc/model/axes.h"
#include "posenc/model/row_positions.h"
#include "posenc/selection.h"

#include <cstdint>
#include <memory>

namespace posenc {

class AxesEncoder;
namespace detail {
struct AxesPlan;
const AxesPlan& plan_of(const AxesEncoder& encoder) noexcept;
}  // namespace detail

/// Encodings planned for a spec. Immutable: any number of threads may use one, and copies share it.
/// A row is a pure function of its positions, and correctly rounded unless another accuracy was
/// asked for, so that its bits are the same everywhere.
class AxesEncoder {
 public:
  /// Plans the backends that are selected for tables of `type` at any position. Throws
  /// InvalidArgument if the spec is not allowed or no backend promises the accuracy.
  explicit AxesEncoder(const AxesSpec& spec, const Accuracy& accuracy = {},
                       DataType type = DataType::float32);

  /// What it was planned for.
  const AxesSpec& spec() const noexcept;
  /// Channels of a row.
  std::int64_t d_model() const noexcept;
  /// Which backend was selected, and why.
  const Selection& selection() const noexcept;

  /// Writes a row of d_model() channels for each row of positions to the first rows of `out`. Each
  /// distinct position of an axis is computed once if positions repeat. Throws InvalidArgument,
  /// before anything is written, if the positions or the view are not allowed (see
  /// Encoder::encode), or std::bad_alloc.
  void encode(const RowPositions& positions, OutputView out, EncodeOptions options = {}) const;

 private:
  friend const detail::AxesPlan& detail::plan_of(const AxesEncoder& encoder) noexcept;

  std::shared_ptr<const detail::AxesPlan> plan_;
};

}  // namespace posenc
