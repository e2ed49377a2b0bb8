// Rotary position embeddings (Su et al., "RoFormer", 2021) from the same exact phases: caches of
// cosines and sines, and their application.
//
//   const posenc::Rotary rotary(128, 500000.0);
//   rotary.apply(posenc::sequence_first(queries, rows, heads, 128), first_position);
#pragma once

#include "posenc/data_type.h"
#include "posenc/encoder.h"
#include "posenc/export.h"
#include "posenc/layers/sequence_view.h"
#include "posenc/selection.h"
#include "posenc/spec.h"

#include <cstdint>

namespace POSENC_API posenc {

/// How the cosine and the sine of frequency k stand in a row of a cache, or the two channels that
/// it turns in a head. h = dimension / 2.
enum class RotaryLayout {
  /// k and h + k. Caches of vLLM, cosines before sines; channels of GPT-NeoX and Llama.
  halves,
  /// 2k and 2k + 1. Caches of ggml, cosine before sine; channels of the paper and GPT-J.
  interleaved,
};

/// Turns channel pair k of every head at position p by the angle p w_k:
///   (a, b) -> (a cos - b sin, b cos + a sin),    w_k = base^(-2k / dimension)
/// The first `dimension` channels of a head are turned, and those behind them are left as they are.
/// Immutable: any number of threads may use one.
class Rotary {
 public:
  /// Plans the backend that selection gives for short float32 tables at any position. The accuracy
  /// is that of float32; a 16-bit cache is off by half an ulp of its type more, unless all is
  /// correctly rounded. Throws InvalidArgument if the dimension (even, 2 to max_d_model), which
  /// stands for d_model in the message, or the base (finite and > 1) is not allowed, or no backend
  /// promises the accuracy.
  explicit Rotary(std::int64_t dimension, double base = 10000.0,
                  RotaryLayout channels = RotaryLayout::halves, const Accuracy& accuracy = {});

  std::int64_t dimension() const noexcept { return selected_.encoder->spec().d_model; }
  /// Which backend computes the angles, and why.
  const Selection& selection() const noexcept { return selected_.selection; }
  RotaryLayout channels() const noexcept { return channels_; }

  /// Writes cosines and sines of those positions, each the nearest value of its type to the exact
  /// one unless another accuracy was asked for: out has shape (rows.count, dimension). Throws
  /// InvalidArgument, before anything is written, as Encoder::encode does.
  void cache(RowRange rows, RotaryLayout layout, MatrixView<float> out,
             EncodeOptions options = {}) const;
  void cache(RowRange rows, RotaryLayout layout, MatrixView<Float16> out,
             EncodeOptions options = {}) const;
  void cache(RowRange rows, RotaryLayout layout, MatrixView<BFloat16> out,
             EncodeOptions options = {}) const;

  /// Turns x in place, without a cache in memory: x is sequence_first(data, rows, heads, head_dim)
  /// for the shape (rows, heads, head_dim), or batch_first(data, heads, rows, head_dim) for (heads,
  /// rows, head_dim), and row r is at position first + r. Throws InvalidArgument, before anything
  /// is written, if x has fewer columns than the dimension or is not allowed otherwise (see
  /// PositionalEncoding::forward), a position is not, or threads < 1.
  void apply(const SequenceView<float>& x, std::int64_t first = 0,
             EncodeOptions options = {}) const;

  /// The same by the rows of a cache of that layout: row r of x by row r of the cache, which has at
  /// least as many. Throws as above.
  void apply(MatrixView<const float> cache, RotaryLayout layout, const SequenceView<float>& x,
             EncodeOptions options = {}) const;
  void apply(MatrixView<const Float16> cache, RotaryLayout layout, const SequenceView<float>& x,
             EncodeOptions options = {}) const;
  void apply(MatrixView<const BFloat16> cache, RotaryLayout layout, const SequenceView<float>& x,
             EncodeOptions options = {}) const;

 private:
  SelectedEncoder selected_;  ///< cosines before sines
  RotaryLayout channels_;
};

}  // namespace posenc
