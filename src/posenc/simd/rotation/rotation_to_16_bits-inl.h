// rotation, to 16-bit types: symmetric angle addition in float32, between bounds of exact values.
//
// Method  sums of an angle addition, plus and minus their error: both bounds must round alike
// Error   half an ulp: other entries, 1 in 2500 of bfloat16 and 1 in 410 of float16, are evaluated
//         again
// Range   every position up to max_position
// Cost    AVX2, four vectors: 10 operations for values and bounds, 17 to compare, 4 to pack (or 10)
//
// A value is the sum of an angle addition in float32 from the centre of its block, as in
// rotation32-inl.h, but centres are computed in double and then rounded. Adding and subtracting the
// error bound E (RotationTo16BitsError, which docs/how-it-works.md derives) gives bounds of the
// exact value. If both bounds round to the same element, the exact value does, too. Other entries
// are evaluated in double (anchored-inl.h). The second bound is the first bound minus or plus the
// width, which is 2 E and the rounding of the first bound.
//
// In a column of sines of at most M, E is at most 2 M times the E of other columns, and at least
// 2^-50: truncated frequencies add 2^-70. A value below 2^-14, which has fewer bits in float16,
// must be recomputed. Bounds that are at least 2^-25 apart do not round to the same float of 11
// bits.
#pragma once

#include "posenc/simd/paired_rows-inl.h"
#include "posenc/simd/rotation/anchored-inl.h"

namespace posenc::simd {
namespace {

/// E for columns whose values may be as large as 1. The factor 1.0001 covers the roundings of the
/// bounds of other columns.
constexpr RotationTo16BitsError bracket = {fused_rounds_once};
constexpr auto bracket_error = static_cast<float>(bracket.total() * float_roundoff * 1.0001);
constexpr auto width_by_error = static_cast<float>(bracket.width() / bracket.total() * 1.0001);

/// Rounds float32 to a 16-bit type: adds half the weight of the lowest kept bit, and drops the
/// `dropped` lowest bits. A bound that is a midpoint is thereby rounded away from 0, like the exact
/// value between the bounds. store() takes the sums.
template <class T>
struct RoundFloat32 {
  static constexpr bool is_float16 = std::is_same_v<T, Float16>;
  using Round = std::conditional_t<is_float16, RoundToFloat16, RoundToBFloat16>;
  static constexpr int dropped = is_float16 ? 13 : 16;
  static constexpr float error = bracket_error, least_error = 0x1p-50f,
                         least_width = is_float16 ? 0x1.001p-25f : 0;

  template <bool alternating, bool non_temporal>
  static void store(const I32 (&sums)[2], T* to) {
    const auto truncated = [](I32 sum) { return cast_bits<F32>(sum & I32(-1 << dropped)); };
    F32 packed;
    if constexpr (is_float16) {
      packed = alternating
                   ? pack_truncated_float16(cast_bits<F32>(sums[0]), cast_bits<F32>(sums[1]))
                   : pack_float16(truncated(sums[0]), truncated(sums[1]));
    } else {
      packed =
          alternating ? pack_upper_halves(sums[0], sums[1]) : pack(sums[0] >> 16, sums[1] >> 16);
    }
    store_vector<non_temporal>(packed, to);
  }
};

/// A vector of the sines or of the cosines at the centre of a block, and their bounds.
struct alignas(cache_line_bytes) BracketPart {
  float value[float_lanes];
  float factor[float_lanes];  ///< cosines, or minus sines: factor of sin(a); unused if interleaved
  float error[float_lanes];   ///< E of each column
  float width[float_lanes];   ///< distance from one bound to the other
};

/// The sines and cosines of float_lanes frequencies at the centre of a block.
struct BracketCentre {
  BracketPart sine, cosine;
};

/// Pairs of rows that have uncertain entries in the columns of a tile.
struct UncertainPairs {
  std::int64_t count = 0;
  /// Each place is column * paired_block_rows + j. There is room for half a block of a panel.
  std::uint32_t places[wide_panel / float_lanes * paired_block_rows / 2 + 1];
};

/// The bits in which the rounded bounds of two vectors differ, in the rows of a pair.
template <class T, bool paired>
struct BracketDifferences {
  I32 bits[paired ? 4 : 2];

  bool any() const {
    I32 all = bits[0] | bits[1];
    if constexpr (paired) all = all | (bits[2] | bits[3]);
    return any_bits(all, I32(-1 << RoundFloat32<T>::dropped));
  }

  /// One bit for each lane that differs, for both rows.
  std::uint64_t lanes() const {
    std::uint64_t all = 0;
    for (std::int64_t i = 0; i < (paired ? 4 : 2); ++i) {
      const I32 kept = bits[i] & I32(-1 << RoundFloat32<T>::dropped);
      all |= std::uint64_t{nonzero_lanes(kept)} << (i * float_lanes);
    }
    return all;
  }
};

/// See PairedRows. If interleaved, the two vectors of a tile hold the sines and the cosines of
/// float_lanes frequencies. Otherwise they hold the sines or the cosines of consecutive
/// frequencies.
template <class T, bool interleaved>
struct BracketTiles {
  using Element = T;
  using Rounding = RoundFloat32<T>;
  static constexpr std::int64_t wide = 2, narrow = 2, wide_pairs = 4, staged_pairs = 2;
  static constexpr std::int64_t tile_columns = 2 * float_lanes;

  UncertainList<typename Rounding::Round>& uncertain;
  UncertainPairs& pairs;
  const BracketCentre* centre;   ///< centres, from the panel's first frequency on
  const float* angles;           ///< angles, from the panel's first frequency on
  std::int64_t first_frequency;  ///< first frequency of the panel
  std::int64_t below_centre;     ///< the position below the block's centre and next to it
  bool are_below;                ///< true if rows without a partner are below the centre
  bool are_cosines;              ///< true if tiles hold cosines; unused if interleaved

  /// The first frequency of vector i of a tile.
  static std::int64_t frequency(std::int64_t column, std::int64_t i) {
    return interleaved ? column / 2 : column + i * float_lanes;
  }
  bool holds_cosines(std::int64_t i) const { return interleaved ? i == 1 : are_cosines; }

  template <std::int64_t vectors, bool lines, bool paired>
  [[gnu::always_inline]] void write_tile(std::int64_t column, std::int64_t j, std::int64_t rows,
                                         const RowPairs<T, paired>& to) const {
    static_assert(vectors == 2);
    const BracketTile tile = tile_at<paired>(column, j);
    std::int64_t count = pairs.count;  // in a register
    for (std::int64_t row = 0; row < rows; ++row) {
      const bool is_uncertain = write_pair<lines>(tile, row, to.at(row, 0)).any();
      const auto place = static_cast<std::uint32_t>(column * paired_block_rows + j + row);
      // 1 pair in 12 of float16 is uncertain, so mispredicted branches would cost more.
      if (Rounding::is_float16 || is_uncertain) pairs.places[count] = place;
      count += is_uncertain ? 1 : 0;
    }
    pairs.count = count;
  }

  /// Computes the uncertain pairs of rows again, and adds their uncertain entries to the list. With
  /// `lines`, the entries are corrected in copies of their vectors, which are stored again.
  template <bool lines, bool paired>
  [[gnu::noinline]] void collect_uncertain(std::int64_t column, std::int64_t j,
                                           const RowPairs<T, paired>& to) const {
    for (std::int64_t i = 0; i < pairs.count; ++i) {
      const std::int64_t pair_column = pairs.places[i] / paired_block_rows,
                         pair_j = pairs.places[i] % paired_block_rows;
      T again[2][tile_columns];
      const auto differences = write_pair<false>(tile_at<paired>(pair_column, pair_j), 0,
                                                 RowPairs<T, paired>{again[0], again[1], 0});
      const RowPairs<T, paired> pair = to.at(pair_j - j, pair_column - column);
      T* rows[] = {pair.first, pair.second};
      // One bit for each entry of both rows: a single loop, whose end is hard to predict only once.
      std::uint64_t entries = differences.lanes();
      std::int64_t kept_row = -1;
      for (; entries != 0; entries &= entries - 1) {
        const std::int64_t entry = std::countr_zero(entries);
        const std::int64_t row = entry / tile_columns, in_tile = entry % tile_columns;
        if constexpr (lines) {
          if (row != kept_row) rows[row] = uncertain.keep_vector(again[row], rows[row]);
          kept_row = row;
        }
        add_uncertain(rows[row], paired ? row == 1 : are_below, pair_j, pair_column, in_tile);
      }
    }
    pairs.count = 0;
  }

  void write_uncertain() const { uncertain.write(); }

 private:
  /// The values that the rows of a tile share. The cosines of an interleaved tile have the sines as
  /// factors, which saves registers, and subtract their products.
  struct BracketTile {
    F32 value[2], factor[2], error[2], width[2];
    const float* angles[2];
  };

  /// Adds an entry of the tile at `column` to the list. The entry is in row j above or below the
  /// centre, whose elements begin at `row`: in the tile's vector in_tile / float_lanes.
  void add_uncertain(T* row, bool is_below, std::int64_t j, std::int64_t column,
                     std::int64_t in_tile) const {
    const std::int64_t vector = in_tile / float_lanes, lane = in_tile % float_lanes;
    uncertain.add({.place = row + (interleaved ? 2 * lane + vector : in_tile),
                   .position = is_below ? below_centre - j : below_centre + 1 + j,
                   .k = first_frequency + frequency(column, vector) + lane,
                   .is_cosine = holds_cosines(vector)});
  }

  template <bool paired>
  [[gnu::always_inline]] BracketTile tile_at(std::int64_t column, std::int64_t j) const {
    BracketTile tile;
    for (std::int64_t i = 0; i < 2; ++i) {
      const std::int64_t k = frequency(column, i);  // a multiple of float_lanes
      const BracketCentre& at = centre[k / float_lanes];
      const BracketPart& part = holds_cosines(i) ? at.cosine : at.sine;
      const BracketPart& other = holds_cosines(i) ? at.sine : at.cosine;
      tile.value[i] = load(part.value);
      tile.factor[i] = load(interleaved ? other.value : part.factor);
      tile.error[i] = load(part.error);
      tile.width[i] = load(part.width);
      tile.angles[i] = angles + k * paired_block_rows + j * 2 * float_lanes;
      if constexpr (paired) continue;
      // Rows without a partner below the centre add and bound with the opposite signs.
      const I32 sign(are_below ? minus : 0);
      tile.factor[i] = with_sign(tile.factor[i], sign);
      tile.error[i] = with_sign(tile.error[i], sign);
      tile.width[i] = with_sign(tile.width[i], sign);
    }
    return tile;
  }

  /// Writes a pair of rows of a tile, or only its first row. The first row, which is above the
  /// centre, gets the upper bound, and the second row gets the lower bound.
  template <bool lines, bool paired>
  [[gnu::always_inline]] static auto write_pair(const BracketTile& tile, std::int64_t row,
                                                const RowPairs<T, paired>& to) {
    const I32 half(1 << (Rounding::dropped - 1));
    const auto rounded = [&](F32 bound) { return cast_bits<I32>(bound) + half; };
    F32 first_bound[2], second_bound[2];
    I32 first_bits[2], second_bits[2];
    for (std::int64_t i = 0; i < 2; ++i) {
      const float* const angle = tile.angles[i] + row * 2 * float_lanes;
      const F32 cos_a = load(angle), sin_a = load(angle + float_lanes);
      const bool subtracts = interleaved && i == 1;  // the factors are the sines
      const F32 u = subtracts ? fused_minus(tile.factor[i], sin_a, tile.error[i])
                              : fused(tile.factor[i], sin_a, tile.error[i]);
      const F32 sum = fused(tile.value[i], cos_a, u),
                difference = fused_minus(tile.value[i], cos_a, u);
      first_bound[i] = subtracts ? difference : sum;
      second_bound[i] = subtracts ? sum : difference;
      first_bits[i] = rounded(first_bound[i]);
      second_bits[i] = rounded(second_bound[i]);
    }
    BracketDifferences<T, paired> differences;
    Rounding::template store<interleaved, lines>(first_bits, to.first);
    for (std::int64_t i = 0; i < 2; ++i)
      differences.bits[i] = first_bits[i] ^ rounded(first_bound[i] - tile.width[i]);
    if constexpr (paired) {
      Rounding::template store<interleaved, lines>(second_bits, to.second);
      for (std::int64_t i = 0; i < 2; ++i)
        differences.bits[2 + i] = second_bits[i] ^ rounded(second_bound[i] + tile.width[i]);
    }
    return differences;
  }
};

/// Some frequencies of a table (see write_paired_rows()).
template <class T, bool interleaved>
class BracketPanel {
 public:
  using Tables = RotationTables;
  using Tiles = BracketTiles<T, interleaved>;
  static constexpr bool is_interleaved = interleaved;

  explicit BracketPanel(const Tables& tables) : tables_(tables), uncertain_(tables) {}

  ~BracketPanel() { uncertain_.write_vectors(); }

  void start(std::int64_t begin, std::int64_t used, const RowTask& task) {
    begin_ = begin;
    size_ = rounded_up(used, most_tile_columns);
    below_centre_ = task.first / paired_block_rows * paired_block_rows + paired_block_rows / 2 - 1;
    set_anchors(tables_, begin, used, size_, below_centre_, 1.0, sine_, cosine_);
    rotate(tables_.half.from(begin), size_, sine_, cosine_);
    // 0.7 is far from a midpoint of every type, so padding needs no correction.
    for (std::int64_t k = used; k < size_; ++k) sine_[k] = cosine_[k] = 0.7;
    set_errors(static_cast<float>(task.first + task.count + paired_block_rows));
    set_centre();
  }

  void next_block() {
    rotate(tables_.block.from(begin_), size_, sine_, cosine_);
    below_centre_ += paired_block_rows;
    set_centre();
  }

  Tiles tiles(bool are_cosines, bool are_below) {
    return {.uncertain = uncertain_,
            .pairs = pairs_,
            .centre = centre_,
            .angles = tables_.angles + begin_ * paired_block_rows,
            .first_frequency = begin_,
            .below_centre = below_centre_,
            .are_below = are_below,
            .are_cosines = are_cosines};
  }

 private:
  /// Sets E and the width of each column, for positions up to `last`.
  void set_errors(float last) {
    using Rounding = RoundFloat32<T>;
    const F32 largest(Rounding::error);
    const auto set = [&](F32 error, BracketPart& part) {
      error.store_unaligned(part.error);
      xsimd::max(error * F32(width_by_error), F32(Rounding::least_width))
          .store_unaligned(part.width);
    };
    for (std::int64_t k = 0; k < size_; k += float_lanes) {
      BracketCentre& centre = centre_[k / float_lanes];
      const F32 slope = load(tables_.radians + begin_ + k) * F32(2 * last);
      set(xsimd::max(xsimd::min(F32(1.0f), slope) * largest, F32(Rounding::least_error)),
          centre.sine);
      set(largest, centre.cosine);
    }
  }

  /// Rounds the centre of a block.
  void set_centre() {
    for (std::int64_t k = 0; k < size_; k += float_lanes) {
      const auto rounded = [k](const double* from) {
        return narrow(load(from + k), load(from + k + double_lanes));
      };
      const F32 sine = rounded(sine_), cosine = rounded(cosine_);
      BracketCentre& centre = centre_[k / float_lanes];
      sine.store_unaligned(centre.sine.value);
      cosine.store_unaligned(centre.cosine.value);
      cosine.store_unaligned(centre.sine.factor);
      with_sign(sine, I32(minus)).store_unaligned(centre.cosine.factor);
    }
  }

  const Tables& tables_;
  UncertainList<typename RoundFloat32<T>::Round> uncertain_;
  UncertainPairs pairs_;
  std::int64_t begin_, size_, below_centre_;
  double sine_[wide_panel], cosine_[wide_panel];
  BracketCentre centre_[wide_panel / float_lanes];
};

template <class T>
inline void write_bracketed_rows(const RotationTables& tables, const RowTask& task) {
  tables.columns.interleaved ? write_paired_rows<BracketPanel<T, true>>(tables, task)
                             : write_paired_rows<BracketPanel<T, false>>(tables, task);
}

template <class T>
void rotation_to_16_bits(const RotationTables& tables, const RowTask& task) {
  if (task.count == 1) return write_row_of_anchors<typename RoundFloat32<T>::Round>(tables, task);
  write_bracketed_rows<T>(tables, task);
}

}  // namespace
}  // namespace posenc::simd
