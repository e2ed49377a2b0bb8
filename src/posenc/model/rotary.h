/// @file
/// Rotary position embeddings (Su et al., "RoFormer", 2021) from the same exact phases as tables:
/// caches of cosines and sines, and their application.
///
///     const posenc::model::Rotary rotary(128, 500000.0);
///     rotary.apply(posenc::model::rows_first(queries.data(), batch, count, heads, 128),
///                  first_position);
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
#include <initializer_list>
#include <span>
#include <type_traits>

namespace posenc::model {

/// The two columns of a cache that hold the cosine and the sine of frequency k, or the two channels
/// of a head that frequency k rotates. h = dimension / 2.
enum class RotaryLayout {
  /// Columns or channels k and h + k: caches of vLLM, with cosines before sines; channels of
  /// GPT-NeoX and Llama.
  halves,
  /// Columns or channels 2k and 2k + 1: caches of ggml, with the cosine before the sine; channels
  /// of the paper and GPT-J.
  interleaved,
};

/// A factor of rotated queries that grows with the position p, as in Llama 4 and Ministral 3:
///
///     1 + beta ln(1 + floor(p / trained_rows))
struct QueryScaling {
  double beta = 0;                ///< 0: queries are not scaled
  std::int64_t trained_rows = 1;  ///< at least 1

  bool operator==(const QueryScaling&) const = default;
};

/// A rotary embedding.
struct RotarySpec {
  /// The angles: pair k of a row rotates pair k of a head. The layout has no effect, and the rules
  /// have no attention factor.
  AxesSpec angles = {};
  RotaryLayout channels = RotaryLayout::halves;  ///< the pairs of a head
  /// The factor of cosines and sines: 2^-20 to 2^20.
  double attention_factor = 1;

  // The following factors are not part of the rotation, and no function here applies them: an
  // engine must.

  /// The factor by which the usual scale of the softmax, 1 / sqrt(channels of a query), is
  /// multiplied: 2^-20 to 2^20. Models with latent attention that use YaRN have such a factor.
  double softmax_factor = 1;
  QueryScaling queries = {};  ///< the factor of rotated queries

  /// The number of rotated channels per head.
  std::int64_t dimension() const noexcept { return angles.d_model(); }

  bool operator==(const RotarySpec&) const = default;
};

/// Throws InvalidArgument unless the angles and the factors are allowed.
void validate(const RotarySpec& spec);

/// The rotary embedding of an encoding on one axis. The attention factor of the rule becomes the
/// attention factor of the result. Throws InvalidArgument if the spec is not allowed, or if its
/// rule needs an attention factor and none is given.
RotarySpec rotary_spec(const EncodingSpec& spec, RotaryLayout channels = RotaryLayout::halves);

/// The columns that hold the value of frequency k in a table of cosines only, or of sines only.
/// h = dimension / 2.
enum class Repeat {
  once,         ///< column k of h columns: ONNX RotaryEmbedding, TensorRT
  halves,       ///< columns k and h + k of 2h columns: Transformers
  interleaved,  ///< columns 2k and 2k + 1 of 2h columns: diffusers
};

/// Options for the rotation of heads.
struct RotateOptions {
  /// Rotates by the opposite angles. Without an attention factor, this undoes the rotation. It also
  /// converts the gradient of the rotated x to the gradient of x.
  bool inverse = false;
  Threads threads = {};  ///< the threads that share the work
};

/// Rotates channel pair k of every head at position p by the angle p w_k:
///
///     (a, b) -> (a cos - b sin, b cos + a sin),    w_k = base^(-2k / dimension)
///
/// The first `dimension` channels of a head are rotated, and the others are unchanged. A rule of
/// frequencies gives other w_k and may have an attention factor. Cosines and sines in float32 are
/// then multiplied by the factor and rounded once more. If positions are on several axes, each pair
/// belongs to one axis.
///
/// Each product and each sum is rounded to float32, so the bits are the same on every ISA, with
/// every order of dimensions and number of threads. If cosines and sines are correctly rounded and
/// there is no attention factor, apply() followed by apply() with `inverse` returns each channel
/// within 2^-21 times the length of its pair. 16-bit elements are rotated in float32, and each is
/// rounded once to its type. The object is immutable: any number of threads may use it.
class Rotary {
 public:
  /// Plans the backends that are selected for short float32 tables at any position. The accuracy
  /// applies to float32. The error of a 16-bit cache is larger by half an ulp of its type, unless
  /// the accuracy is correctly rounded. Throws InvalidArgument if the spec is not allowed, or if no
  /// backend promises the accuracy.
  explicit Rotary(const RotarySpec& spec, const Accuracy& accuracy = {});

  /// Plans rotary_spec() of a dimension (even, 2 to max_d_model), a base (finite and > 1) and a
  /// rule. Also throws as rotary_spec() does, with messages that call the dimension d_model.
  explicit Rotary(std::int64_t dimension, double base = 10000.0,
                  RotaryLayout channels = RotaryLayout::halves,
                  const FrequencyRule& frequencies = {}, const Accuracy& accuracy = {});
  /// Dimensions are integers, so that a fraction is not lost silently.
  template <class Dimension, class... Others>
  requires std::is_floating_point_v<Dimension>
  explicit Rotary(Dimension dimension, const Others&... others) = delete;

  /// The spec that the embedding was planned for.
  const RotarySpec& spec() const noexcept { return spec_; }
  /// The number of rotated channels per head, which is also the number of columns of a cache.
  std::int64_t dimension() const noexcept { return encoder_.d_model(); }
  RotaryLayout channels() const noexcept { return spec_.channels; }  ///< the pairs of a head
  /// The factor of cosines and sines.
  double attention_factor() const noexcept { return spec_.attention_factor; }
  /// The backend that computes the angles, and why it was selected.
  const Selection& selection() const noexcept { return encoder_.selection(); }

  /// Writes the cosines and sines of these positions to `out`, of shape (rows, dimension) and any
  /// type. They are correctly rounded unless another accuracy was asked for or there is an
  /// attention factor. An interleaved cache holds complex numbers cos + i sin, as in diffusers.
  /// Throws InvalidArgument, before anything is written, if the positions or the view are not
  /// allowed, as AxesEncoder::encode does.
  void cache(const RowPositions& positions, RotaryLayout layout, OutputView out,
             EncodeOptions options = {}) const;

  /// Writes the same values to separate tables of cosines and sines. Each table has shape
  /// (rows, dimension / 2), or (rows, dimension) if values repeat. Both tables have the same type
  /// and must not overlap. Throws as cache() does.
  void cosines_and_sines(const RowPositions& positions, Repeat repeat, OutputView cosines,
                         OutputView sines, EncodeOptions options = {}) const;

  /// Rotates heads in place, without a cache in memory. Several tensors of the same batch and rows,
  /// such as queries and keys, share angles that are computed once. Either each row has a position,
  /// shared by all sequences, or each row of each sequence has a position of its own. In the second
  /// case, position number b * rows + r belongs to row r of sequence b. Tensors must not share
  /// elements. Throws InvalidArgument, before anything is written, if a position or the number of
  /// positions is not allowed, if a tensor has fewer columns than the dimension or is of float64,
  /// if heads of a tensor overlap, if two tensors begin at the same address, or if threads < 1.
  void apply(std::span<const HeadsView> x, const RowPositions& positions,
             const RotateOptions& options = {}) const;
  /// Rotates one tensor.
  void apply(const HeadsView& x, const RowPositions& positions,
             const RotateOptions& options = {}) const {
    apply(std::span(&x, 1), positions, options);
  }
  /// Rotates several tensors: apply({queries, keys}, positions).
  void apply(std::initializer_list<HeadsView> x, const RowPositions& positions,
             const RotateOptions& options = {}) const {
    apply(std::span(x.begin(), x.size()), positions, options);
  }
  /// Positions are integers, so that a fraction is not lost silently.
  template <class Position>
  requires std::is_floating_point_v<Position>
  void apply(const HeadsView& x, Position first, const RotateOptions& options = {}) const = delete;
  /// Rotates one tensor, in which row r of every sequence is at position first + r.
  void apply(const HeadsView& x, std::int64_t first = 0, const RotateOptions& options = {}) const {
    apply(x, RowPositions(RowRange{first, x.rows}), options);
  }

 private:
  RotarySpec spec_;
  AxesEncoder encoder_;  ///< cosines before sines
};

}  // namespace posenc::model
