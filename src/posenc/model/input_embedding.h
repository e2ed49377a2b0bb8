/// @file
/// Token embeddings of a Transformer's input, scaled by sqrt(d_model) ("Attention Is All You Need",
/// section 3.4).
#pragma once

#include "posenc/encoder.h"
#include "posenc/model/positional_encoding.h"
#include "posenc/model/sequence_view.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace posenc {

/// Ids of tokens in the caller's memory. Converts implicitly from 32-bit and 64-bit integers in a
/// span, and in a vector, which must outlive it.
class TokenIds {
 public:
  /// Of a span.
  template <class Id>
  requires(std::is_same_v<std::remove_const_t<Id>, std::int32_t> ||
           std::is_same_v<std::remove_const_t<Id>, std::int64_t>) TokenIds(std::span<Id> ids)
  noexcept : ids_(ids.data()), count_(std::ssize(ids)), are_wide_(sizeof(Id) == 8) {}
  /// Of a vector.
  template <class Id>
  TokenIds(const std::vector<Id>& ids) noexcept : TokenIds(std::span(ids)) {}

  std::int64_t count() const noexcept { return count_; }  ///< how many
  /// Id i.
  std::int64_t operator[](std::int64_t i) const noexcept {
    return are_wide_ ? static_cast<const std::int64_t*>(ids_)[i]
                     : static_cast<const std::int32_t*>(ids_)[i];
  }
  /// Their memory.
  std::span<const std::byte> bytes() const noexcept {
    return {static_cast<const std::byte*>(ids_),
            static_cast<std::size_t>(count_) * (are_wide_ ? 8 : 4)};
  }

 private:
  const void* ids_;
  std::int64_t count_;
  bool are_wide_;
};

/// Looks up token ids in a row-major float32 matrix of shape (vocabulary, d_model). Ids are dense
/// in the order of the output: the id of row r of sequence b is ids[b * rows + r] for batch_first,
/// and ids[r * batch + b] for sequence_first. Any number of threads may use one embedding at once.
class InputEmbedding {
 public:
  /// Owns its weights, which are 0 until they are filled through own_weights(). Throws
  /// InvalidArgument if vocabulary < 1 or d_model is not within 1 to max_d_model.
  InputEmbedding(std::int64_t vocabulary, std::int64_t d_model);

  /// Uses the caller's weights, which must outlive the embedding. Throws InvalidArgument as above,
  /// and if the stride is below the columns or the data is null.
  explicit InputEmbedding(MatrixView<const float> weights);

  std::int64_t vocabulary() const noexcept { return view_.rows; }  ///< ids are below it
  std::int64_t d_model() const noexcept { return view_.columns; }  ///< channels of a row
  /// sqrt(d_model), rounded to float32.
  float scale() const noexcept { return scale_; }

  /// Shape (vocabulary, d_model).
  MatrixView<const float> weights() const noexcept { return view_; }
  /// A writable view of the weights that the embedding owns; empty if they are the caller's.
  MatrixView<float> own_weights() noexcept { return own_.view(); }

  /// y = scale() * weights[id]. Throws InvalidArgument, before anything is written, if an id is out
  /// of range (the message names the id, its place and the vocabulary), if the number of ids is not
  /// batch * rows, if y is not allowed (see PositionalEncoding::forward) or overlaps the ids or the
  /// weights, or if threads < 1.
  void forward(TokenIds ids, const SequenceView<float>& y, EncodeOptions options = {}) const;

  /// y = dropout(scale() * weights[id] + PE) in one pass over the memory. The bits are those of
  /// forward(), then encoding.forward(). encoding.selection() says which backend computes PE, and
  /// why. Throws as both do, and if the two d_model differ.
  void forward(TokenIds ids, const PositionalEncoding& encoding, const SequenceView<float>& y,
               const ForwardOptions& options = {}) const;

 private:
  void check(TokenIds ids, const SequenceView<float>& y, int threads) const;

  Matrix own_;
  MatrixView<const float> view_;
  float scale_;
};

}  // namespace posenc
