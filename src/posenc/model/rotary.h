/// @file
/// Rotary position embeddings (Su et al., "RoFormer", 2021) from the same exact phases as tables:
/// caches of cosines and sines, and their application.
///
///     const posenc::Rotary rotary(128, 500000.0);
///     rotary.apply(posenc::rows_first(queries, batch, rows, heads, 128), first_position);
#pragma once

#include "posenc/encode_options.h"
#include "posenc/matrix.h"
#include "posenc/model/axes.h"
#include "posenc/model/axes_encoder.h"
#include "posenc/model/row_positions.h"
#include "posenc/model/sequence_view.h"
#include "posenc/selection.h"
#include "posenc/spec.h"

#include <cstdint>
#include <span>

namespace posenc {

/// The columns of the cosine and the sine of frequency k in a row of a cache, or the two channels
/// of a head that it turns. h = dimension / 2.
enum class RotaryLayout {
  /// k and h + k. Caches of vLLM, cosines before sines; channels of GPT-NeoX and Llama.
  halves,
  /// 2k and 2k + 1. Caches of ggml, cosine before sine; channels of the paper and GPT-J.
  interleaved,
};

/// A rotary embedding.
struct RotarySpec {
  /// The angles: pair k of a row turns pair k of a head. Its layout has no effect, and rules have
  /// no attention factor.
  AxesSpec angles = {};
  RotaryLayout channels = RotaryLayout::halves;  ///< the pairs of a head
  /// What cosines and sines are multiplied by: 2^-20 to 2^20.
  double attention_factor = 1;

  /// Channels of a head that are turned.
  std::int64_t dimension() const noexcept { return angles.d_model(); }

  bool operator==(const RotarySpec&) const = default;
};

/// Throws InvalidArgument unless the angles and the attention factor are allowed.
void validate(const RotarySpec& spec);

/// One axis. A rule's attention factor becomes that of the result. Throws InvalidArgument if the
/// spec is not allowed, or if its rule has to be given an attention factor.
RotarySpec rotary_spec(const EncodingSpec& spec, RotaryLayout channels = RotaryLayout::halves);

/// How often a row of cosines alone, or of sines alone, has the value of frequency k, and in which
/// columns. h = dimension / 2.
enum class Repeat {
  once,         ///< k: h columns. ONNX RotaryEmbedding, TensorRT.
  halves,       ///< k and h + k: 2h columns. Transformers.
  interleaved,  ///< 2k and 2k + 1: 2h columns. diffusers.
};

/// How heads are turned.
struct RotateOptions {
  /// Turns by the opposite angles: back, if there is no attention factor. The gradient of x is that
  /// of the turned x, turned so.
  bool inverse = false;
  int threads = 1;  ///< at least 1
};

/// Turns channel pair k of every head at position p by the angle p w_k:
///
///     (a, b) -> (a cos - b sin, b cos + a sin),    w_k = base^(-2k / dimension)
///
/// The first `dimension` channels of a head are turned, and the others are unchanged. A rule of
/// frequencies gives other w_k, and may have an attention factor: cosines and sines in float32 are
/// then multiplied by it and rounded once more. Positions may be on several axes: each pair then
/// belongs to one of them.
///
/// Each product and each sum is rounded to float32, so that the bits are the same on every ISA,
/// with every order of dimensions and number of threads. If cosines and sines are correctly rounded
/// and there is no attention factor, apply() and then apply() with `inverse` return each channel
/// within 2^-21 times the length of its pair. 16-bit elements are turned in float32, and each is
/// rounded once to its type. Immutable: any number of threads may use one.
class Rotary {
 public:
  /// Plans the backends that are selected for short float32 tables at any position. The accuracy is
  /// that of float32. The error of a 16-bit cache is larger by half an ulp of its type, unless the
  /// accuracy is correctly rounded. Throws InvalidArgument if the spec is not allowed, or if no
  /// backend promises the accuracy.
  explicit Rotary(const RotarySpec& spec, const Accuracy& accuracy = {});

  /// rotary_spec() of a dimension (even, 2 to max_d_model), a base (finite and > 1) and a rule.
  /// Throws as that does, too, and calls the dimension d_model.
  explicit Rotary(std::int64_t dimension, double base = 10000.0,
                  RotaryLayout channels = RotaryLayout::halves, const Accuracy& accuracy = {},
                  const FrequencyRule& frequencies = {});

  const RotarySpec& spec() const noexcept { return spec_; }  ///< what it was planned for
  /// Channels of a head that are turned, and columns of a cache.
  std::int64_t dimension() const noexcept { return encoder_.d_model(); }
  RotaryLayout channels() const noexcept { return spec_.channels; }  ///< the pairs of a head
  /// What cosines and sines are multiplied by.
  double attention_factor() const noexcept { return spec_.attention_factor; }
  /// Which backend computes the angles, and why.
  const Selection& selection() const noexcept { return encoder_.selection(); }

  /// Writes the cosines and sines of these positions to `out`, of shape (rows, dimension) and any
  /// type. They are correctly rounded unless another accuracy was asked for, or there is an
  /// attention factor. An interleaved cache is one of complex numbers, cos + i sin, as diffusers
  /// has them. Throws InvalidArgument, before anything is written, if the positions or the view are
  /// not allowed, as AxesEncoder::encode does.
  void cache(const RowPositions& positions, RotaryLayout layout, OutputView out,
             EncodeOptions options = {}) const;

  /// The same with cosines apart from sines: each of shape (rows, dimension / 2), or (rows,
  /// dimension) if they repeat. They have the same type, and must not overlap. Throws as cache()
  /// does.
  void cosines_and_sines(const RowPositions& positions, Repeat repeat, OutputView cosines,
                         OutputView sines, EncodeOptions options = {}) const;

  /// Turns heads in place, without a cache in memory: several tensors of the same batch and rows,
  /// such as queries and keys, with angles that are computed once. There is a position for each
  /// row, shared by all sequences, or one for each row of each sequence: that of row r of sequence
  /// b is number b * rows + r. Throws InvalidArgument, before anything is written, if a position or
  /// their number is not allowed, if a tensor has fewer columns than the dimension or is of
  /// float64, if heads overlap, or if threads < 1.
  void apply(std::span<const HeadsView> x, const RowPositions& positions,
             const RotateOptions& options = {}) const;
  /// The same for one tensor.
  void apply(const HeadsView& x, const RowPositions& positions,
             const RotateOptions& options = {}) const {
    apply(std::span(&x, 1), positions, options);
  }
  /// Row r of every sequence is at position first + r.
  void apply(const HeadsView& x, std::int64_t first = 0, const RotateOptions& options = {}) const {
    apply(x, RowPositions(RowRange{first, x.rows}), options);
  }

 private:
  RotarySpec spec_;
  AxesEncoder encoder_;  ///< cosines before sines
};

}  // namespace posenc
