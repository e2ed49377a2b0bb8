// Rotary position embeddings (Su et al., "RoFormer", 2021) from the same exact phases as tables:
// caches of cosines and sines, and their application.
//
//   const posenc::Rotary rotary(128, 500000.0);
//   rotary.apply(posenc::sequence_first(queries, rows, heads, 128), first_position);
//   const posenc::Rotary llama_3_1(128, 500000.0, posenc::RotaryLayout::halves, {},
//                                  posenc::Llama3Scaling{});
#pragma once

#include "posenc/data_type.h"
#include "posenc/encoder.h"
#include "posenc/export.h"
#include "posenc/layers/rotary_spec.h"
#include "posenc/layers/sequence_view.h"
#include "posenc/selection.h"
#include "posenc/spec.h"

#include <cstdint>

namespace POSENC_API posenc {

/// Turns channel pair k of every head at position p by the angle p w_k:
///   (a, b) -> (a cos - b sin, b cos + a sin),    w_k = base^(-2k / dimension)
/// The first `dimension` channels of a head are turned, and the others are unchanged. A rule of
/// frequencies gives other w_k, and may have an attention factor: cosines and sines in float32 are
/// then multiplied by it and rounded once more. 16-bit elements are turned in float32, and each is
/// rounded once to its type. Immutable: any number of threads may use one.
class Rotary {
 public:
  /// Plans the backend that is selected for short float32 tables at any position. The accuracy is
  /// that of float32. The error of a 16-bit cache is larger by half an ulp of its type, unless the
  /// accuracy is correctly rounded. Throws InvalidArgument if the dimension (even, 2 to
  /// max_d_model; the message calls it d_model), the base (finite and > 1) or the rule is not
  /// allowed, if the rule has to be given an attention factor, or if no backend promises the
  /// accuracy.
  explicit Rotary(std::int64_t dimension, double base = 10000.0,
                  RotaryLayout channels = RotaryLayout::halves, const Accuracy& accuracy = {},
                  const FrequencyRule& frequencies = {});

  std::int64_t dimension() const noexcept { return selected_.encoder->spec().d_model; }
  /// Which backend computes the angles, and why.
  const Selection& selection() const noexcept { return selected_.selection; }
  RotaryLayout channels() const noexcept { return channels_; }
  /// What cosines and sines are multiplied by: 1, unless the rule of frequencies says otherwise.
  double attention_factor() const noexcept { return attention_factor_; }

  /// Writes the cosines and sines of these positions to `out`, of shape (rows.count, dimension).
  /// They are correctly rounded unless another accuracy was asked for, or there is an attention
  /// factor. Throws InvalidArgument, before anything is written, as Encoder::encode does.
  void cache(RowRange rows, RotaryLayout layout, MatrixView<float> out,
             EncodeOptions options = {}) const;
  void cache(RowRange rows, RotaryLayout layout, MatrixView<Float16> out,
             EncodeOptions options = {}) const;
  void cache(RowRange rows, RotaryLayout layout, MatrixView<BFloat16> out,
             EncodeOptions options = {}) const;

  /// Turns x in place, without a cache in memory. Row r is at position first + r. x is
  /// sequence_first(data, rows, heads, head_dim) for the shape (rows, heads, head_dim), or
  /// batch_first(data, heads, rows, head_dim) for the shape (heads, rows, head_dim). Throws
  /// InvalidArgument, before anything is written, if x has fewer columns than the dimension, if x
  /// (see PositionalEncoding::forward) or a position is not allowed, or if threads < 1.
  void apply(const SequenceView<float>& x, std::int64_t first = 0,
             EncodeOptions options = {}) const;
  void apply(const SequenceView<Float16>& x, std::int64_t first = 0,
             EncodeOptions options = {}) const;
  void apply(const SequenceView<BFloat16>& x, std::int64_t first = 0,
             EncodeOptions options = {}) const;

  /// The same with a cache of that layout, which has at least as many rows as x: row r of the cache
  /// turns row r of x. Throws as above.
  void apply(MatrixView<const float> cache, RotaryLayout layout, const SequenceView<float>& x,
             EncodeOptions options = {}) const;
  void apply(MatrixView<const Float16> cache, RotaryLayout layout, const SequenceView<float>& x,
             EncodeOptions options = {}) const;
  void apply(MatrixView<const BFloat16> cache, RotaryLayout layout, const SequenceView<float>& x,
             EncodeOptions options = {}) const;
  void apply(MatrixView<const Float16> cache, RotaryLayout layout, const SequenceView<Float16>& x,
             EncodeOptions options = {}) const;
  void apply(MatrixView<const BFloat16> cache, RotaryLayout layout, const SequenceView<BFloat16>& x,
             EncodeOptions options = {}) const;

 private:
  SelectedEncoder selected_;  ///< cosines before sines
  RotaryLayout channels_;
  double attention_factor_;
};

}  // namespace posenc
