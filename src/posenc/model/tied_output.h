/// @file
/// The output layer that shares its weights with the input embedding ("Attention Is All You Need",
/// section 3.4).
#pragma once

#include "posenc/encoder.h"
#include "posenc/model/input_embedding.h"

#include <cstdint>

namespace posenc {

/// logits = x E^T, where E are the weights of an InputEmbedding, of shape (vocabulary, d_model),
/// without the factor sqrt(d_model).
class TiedOutput {
 public:
  /// The weights of the embedding must outlive this object.
  explicit TiedOutput(const InputEmbedding& embedding) : weights_(embedding.weights()) {}

  std::int64_t vocabulary() const noexcept { return weights_.rows; }  ///< columns of logits
  std::int64_t d_model() const noexcept { return weights_.columns; }  ///< columns of x

  /// x has shape (rows, d_model), logits have shape (rows, vocabulary), and both may have any
  /// stride. Sums are in float32, in an order that depends on the shape and on threads. Throws
  /// InvalidArgument, before anything is written, if shapes or strides are not allowed, if the data
  /// is null, if logits overlap x or the weights, or if threads < 1.
  void logits(MatrixView<const float> x, MatrixView<float> logits,
              EncodeOptions options = {}) const;

 private:
  MatrixView<const float> weights_;
};

}  // namespace posenc
