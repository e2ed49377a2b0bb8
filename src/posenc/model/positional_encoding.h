/// @file
/// The positional encoding of a Transformer's input: y = dropout(x + PE).
///
///     const posenc::model::PositionalEncoding encoding({.d_model = 512}, 5000);
///     encoding.forward(posenc::model::batch_first(x.data(), batch, count, 512));   // in place
#pragma once

#include "posenc/data_type.h"
#include "posenc/encoder.h"
#include "posenc/model/dropout.h"
#include "posenc/model/sequence_view.h"
#include "posenc/selection.h"
#include "posenc/spec.h"

#include <cstdint>
#include <optional>
#include <type_traits>

namespace posenc::model {

/// The source of the encodings that are added. It does not change the bits.
enum class EncodingSource {
  automatic,  ///< cached if the table stays in the last-level cache, otherwise fused
  fused,      ///< computed while they are added; needs no table
  cached,     ///< a table of max_rows rows, computed once
};

/// How PositionalEncoding::forward() is called.
struct ForwardOptions {
  /// The position of the first row. In incremental decoding, this is the length of the prefix.
  std::int64_t offset = 0;
  bool training = false;  ///< if true, applies dropout; otherwise dropout does nothing
  /// Seed of the dropout mask. Use a new one for every step. Needed if anything is dropped.
  std::optional<std::uint64_t> seed = {};
  Threads threads = {};                         ///< the threads that share the work
  StorePolicy stores = StorePolicy::automatic;  ///< for out-of-place results
};

/// Adds the encodings (PE) of positions offset .. offset + rows - 1 to every sequence of a batch,
/// then applies dropout. The object is immutable: any number of threads may use it. Every operation
/// rounds: first x + PE, then the scaling of dropout. PE is correctly rounded unless another
/// accuracy is asked for. If PE is correctly rounded, the bits do not depend on ISA, profile,
/// threads, strides or source. 16-bit elements are widened to float32, in which PE is added, and
/// the result is rounded once more.
class PositionalEncoding {
 public:
  /// Plans the backend that is selected for (max_rows, d_model). Computes the table if the source
  /// is cached. If the source is automatic, computes the table unless it is too large for the
  /// last-level cache. Throws InvalidArgument if the spec, max_rows (0 to 2^53 + 1) or dropout
  /// (0 <= p < 1) is not allowed, or if no backend promises the accuracy.
  PositionalEncoding(const EncodingSpec& spec, std::int64_t max_rows, double dropout = 0.0,
                     EncodingSource source = EncodingSource::automatic,
                     const Accuracy& accuracy = {});
  /// The number of rows is an integer, so that a probability of dropout is not mistaken for it.
  template <class Rows, class... Others>
  requires std::is_floating_point_v<Rows> PositionalEncoding(const EncodingSpec& spec,
                                                             Rows max_rows, const Others&... others)
  = delete;

  const EncodingSpec& spec() const noexcept { return encoder().spec(); }  ///< the spec of PE
  const Encoder& encoder() const noexcept { return *selected_.encoder; }  ///< the encoder of PE
  /// The backend that computes the encodings, and why it was selected.
  const Selection& selection() const noexcept { return selected_.selection; }
  const Dropout& dropout() const noexcept { return dropout_; }  ///< probability and mask
  std::int64_t max_rows() const noexcept { return max_rows_; }  ///< all positions are below this

  /// The source that forward() uses for `batch` sequences of `rows` rows: fused or cached.
  EncodingSource source(std::int64_t batch, std::int64_t rows) const noexcept;

  /// Works in place. Throws InvalidArgument, before anything is written, if offset + rows exceeds
  /// max_rows (the message names both), if the number of columns is not d_model, if rows overlap,
  /// if the data is null, or if threads < 1.
  void forward(const WritableSequences& x, const ForwardOptions& options = {}) const {
    forward(x, x, options);
  }

  /// Works out of place. y has the type, the shape and the order of x. It either does not overlap
  /// x, or is the same memory with the same strides. Results larger than most_cached_bytes() are
  /// stored non-temporally. Throws as the in-place forward() does.
  void forward(const AnySequences& x, const WritableSequences& y,
               const ForwardOptions& options = {}) const;

  /// Converts the gradient with respect to y to the gradient with respect to x, in place. If
  /// training, applies the mask and the scale of dropout; otherwise does nothing. The offset is
  /// ignored. Throws as forward() does.
  void backward(const WritableSequences& gradient, const ForwardOptions& options) const;

 private:
  /// The dropout to apply; null if nothing is dropped.
  const Dropout* dropout_of(const ForwardOptions& options) const noexcept {
    return options.training && dropout_.probability() > 0 ? &dropout_ : nullptr;
  }

  SelectedEncoder selected_;
  std::int64_t max_rows_;
  Dropout dropout_;
  EncodingSource source_;
  Matrix table_;  ///< max_rows rows; empty if the source is fused
};

}  // namespace posenc::model
