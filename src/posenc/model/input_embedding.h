/// @file
/// Token embeddings of a Transformer's input, scaled by sqrt(d_model) ("Attention Is All You Need",
/// section 3.4).
#pragma once

#include "posenc/matrix.h"
#include "posenc/model/sequence_view.h"

#include <cstdint>

namespace posenc {

/// Looks up token ids in a row-major float32 matrix of shape (vocabulary, d_model). Ids are dense
/// in the order of the output: the id of row r of sequence b is ids[b * rows + r] for batch_first,
/// and ids[r * batch + b] for sequence_first. Any number of threads may use one embedding at once.
class InputEmbedding {
 public:
  /// The weights must outlive the embedding. Throws InvalidArgument if vocabulary < 1, if d_model
  /// is not within 1 to max_d_model, if the stride is below the columns, or if the data is null.
  explicit InputEmbedding(MatrixView<const float> weights);

  std::int64_t vocabulary() const noexcept { return view_.rows; }  ///< ids are below it
  std::int64_t d_model() const noexcept { return view_.columns; }  ///< channels of a row
  /// sqrt(d_model), rounded to float32.
  float scale() const noexcept { return scale_; }

  /// Shape (vocabulary, d_model).
  MatrixView<const float> weights() const noexcept { return view_; }

  /// y = scale() * weights[id]; PositionalEncoding::forward() then adds the encodings. Throws
  /// InvalidArgument, before anything is written, if an id is out of range (the message names the
  /// id, its place and the vocabulary), if the number of ids is not batch * rows, if y is not
  /// allowed (see PositionalEncoding::forward) or overlaps the ids or the weights, or if threads <
  /// 1.
  void forward(const IntegerView& ids, const SequenceView<float>& y, int threads = 1) const;

 private:
  MatrixView<const float> view_;
  float scale_;
};

}  // namespace posenc
