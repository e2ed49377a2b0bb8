/// @file
/// Encodings of positions on several axes.
///
///     const posenc::model::AxesEncoder encoder(axes);
///     // positions[axis * count + row], on three axes
///     encoder.encode({positions.data(), 3, count, count}, table.view());
#pragma once

#include "posenc/accuracy.h"
#include "posenc/encode_options.h"
#include "posenc/matrix.h"
#include "posenc/model/axes.h"
#include "posenc/model/row_positions.h"
#include "posenc/selection.h"

#include <cstdint>
#include <memory>

namespace posenc::model {
class AxesEncoder;
}

namespace posenc::detail {
struct AxesPlan;
const AxesPlan& plan_of(const model::AxesEncoder& encoder) noexcept;
}  // namespace posenc::detail

namespace posenc::model {

/// Encodings planned for a spec. The encoder is immutable: any number of threads may share it, and
/// copies share its memory. A row is a pure function of its positions. It is correctly rounded
/// unless another accuracy was asked for, so its bits are the same everywhere.
class AxesEncoder {
 public:
  /// Plans the backends that are selected for tables of `type` at any position. Throws
  /// InvalidArgument if the spec is not allowed or no backend promises the accuracy.
  explicit AxesEncoder(const AxesSpec& spec, const Accuracy& accuracy = {},
                       DataType type = DataType::float32);

  /// The spec that the encoder was planned for.
  const AxesSpec& spec() const noexcept;
  /// The number of channels of a row.
  std::int64_t d_model() const noexcept;
  /// The selected backend, and why it was selected.
  const Selection& selection() const noexcept;

  /// Writes a row of d_model() channels for each row of positions to the first rows of `out`. If
  /// positions on an axis repeat, each distinct position is computed once. Throws InvalidArgument,
  /// before anything is written, if the positions or the view are not allowed (see
  /// Encoder::encode). Also throws std::bad_alloc.
  void encode(const RowPositions& positions, OutputView out, EncodeOptions options = {}) const;

 private:
  friend const detail::AxesPlan& detail::plan_of(const AxesEncoder& encoder) noexcept;

  std::shared_ptr<const detail::AxesPlan> plan_;
};

}  // namespace posenc::model
