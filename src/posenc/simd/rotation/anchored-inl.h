// rotation: entries that are evaluated as anchors, in a single row or because a 16-bit entry is
// uncertain.
//
// Method  sines and cosines from the phase, rounded as other entries are; uncertain entries
//         together
// Error   half an ulp: an anchor's error decides which entries are recomputed in integers
// Range   every position up to max_position; float32 and 16-bit types
// Cost    AVX2: 37 operations per vector of frequencies, and the rounding; 20 cycles per listed
//         entry
#pragma once

#include "posenc/simd/rotation/tile-inl.h"

namespace posenc::simd {
namespace {

/// Sines and cosines at one position, by frequency.
struct Anchors {
  double sine[panel_frequencies];
  double cosine[panel_frequencies];

  /// The values of float_lanes columns of a panel, deinterleaved.
  template <bool interleaved>
  Both<F64> values(const ColumnMap& map, std::int64_t column) const {
    if constexpr (interleaved) {
      return deinterleave_pairs(load(sine + column / 2), load(cosine + column / 2));
    } else {
      const double* const from =
          column < map.panel_size ? sine + column : cosine + (column - map.panel_size);
      return deinterleave(load(from), load(from + double_lanes));
    }
  }
};

template <class Round, bool interleaved>
inline void write_anchors(const ColumnMap& map, const Anchors& anchors,
                          const Segment<typename Round::Element>& segment, std::int64_t position) {
  using Element = typename Round::Element;
  constexpr std::int64_t step = 2 * float_lanes;
  const auto threshold = Round::threshold(F32(anchor_error_in_units / error_in_units));
  for (std::int64_t done = 0; done < segment.count; done += step) {
    const std::int64_t column = segment.begin + done;
    const std::int64_t columns = smaller(segment.count - done, step);
    Element edge[step];
    Element* const out = columns == step ? segment.out + done : edge;
    typename Round::Value rounded[2];
    typename Round::RoundingMargin margin[2];
    for (std::int64_t i = 0; i < 2; ++i) {
      margin[i] = Round::largest_margin();
      const Both<F64> values = anchors.values<interleaved>(map, column + i * float_lanes);
      rounded[i] = Round::round(values.first, values.second, threshold, margin[i]);
    }
    if constexpr (sizeof(Element) == sizeof(float)) {
      store_vector<false>(rounded[0], out);
      store_vector<false>(rounded[1], out + float_lanes);
    } else {
      store_vector<false>(pack(rounded[0], rounded[1]), out);
    }
    for (std::int64_t i = 0; i < 2; ++i) {
      const auto uncertain = Round::is_uncertain(margin[i], threshold);
      const std::int64_t offset = i * float_lanes;
      if (xsimd::any(uncertain))
        correct_vector(map, column + offset, columns - offset, position, uncertain, out + offset);
    }
    if (columns == step) continue;
    for (std::int64_t i = 0; i < columns; ++i) segment.out[done + i] = edge[i];
  }
}

/// Writes the single row of a task.
template <class Round, bool interleaved>
inline void write_single_row(const RotationTables& tables, const RowTask& task) {
  for (std::int64_t begin = 0; begin < tables.frequencies; begin += panel_frequencies) {
    const ColumnMap map(tables, begin, smaller(tables.frequencies - begin, panel_frequencies));
    Anchors anchors;
    set_anchors(tables, begin, map.used, map.panel_size, task.first, Round::value_scale,
                anchors.sine, anchors.cosine);
    map.for_each_segment<interleaved>(
        task.row<typename Round::Element>(0), [&](const auto& segment) {
          write_anchors<Round, interleaved>(map, anchors, segment, task.first);
        });
  }
}

template <class Round>
inline void write_row_of_anchors(const RotationTables& tables, const RowTask& task) {
  tables.columns.interleaved ? write_single_row<Round, true>(tables, task)
                             : write_single_row<Round, false>(tables, task);
}

/// An entry at `place`: the sine or cosine of frequency k at a position.
template <class Element>
struct UncertainEntry {
  Element* place;
  std::int64_t position, k;
  bool is_cosine;
};

/// Entries that are to be evaluated together.
template <class Round>
class UncertainList {
 public:
  using Element = typename Round::Element;

  explicit UncertainList(const RotationTables& tables) : tables_(tables) {}

  void add(const UncertainEntry<Element>& entry) {
    turns_high_[count_] = tables_.w.turns_high[entry.k];
    turns_low_[count_] = tables_.w.turns_low[entry.k];
    position_[count_] = static_cast<std::uint64_t>(entry.position);
    quarter_[count_] = entry.is_cosine ? std::uint64_t{1} << 62 : 0;
    entries_[count_] = entry;
    if (++count_ == capacity) write();
  }

  /// Copies a vector, to which entries can then be added. write_vectors() stores it at `out`.
  Element* keep_vector(const Element* vector, Element* out) {
    if (vectors_ == most_vectors) write_vectors();
    vector_out_[vectors_] = out;
    std::memcpy(vector_[vectors_], vector, sizeof(vector_[0]));
    return vector_[vectors_++];
  }

  /// Writes the entries, and empties the list.
  [[gnu::noinline]] void write() {
    for (std::int64_t begin = 0; begin < count_; begin += at_once) write_some(begin);
    count_ = 0;
  }

  /// Writes the entries, and stores the vectors non-temporally.
  void write_vectors() {
    write();
    for (std::int64_t i = 0; i < vectors_; ++i)
      store_vector<true>(load(reinterpret_cast<const float*>(vector_[i])), vector_out_[i]);
    vectors_ = 0;
  }

 private:
  static constexpr std::int64_t at_once = anchor_vectors * double_lanes, capacity = 2 * 32;
  static_assert(capacity % at_once == 0 && at_once % float_lanes == 0);

  /// Writes at_once entries, or the last ones. Unused entries in the arrays are evaluated in vain.
  void write_some(std::int64_t begin) {
    const std::int64_t end = smaller(count_, begin + at_once);
    ReducedPhases phases[anchor_vectors];
    for (std::int64_t i = 0; i < anchor_vectors; ++i) {
      const auto load_at = [&](const std::uint64_t* from) {
        return U64::load_unaligned(from + begin + i * double_lanes);
      };
      Phases each = phases_at(load_at(turns_high_), load_at(turns_low_), load_at(position_));
      each.high = each.high + load_at(quarter_);
      phases[i] = reduce(each);
    }
    double sine[at_once], cosine[at_once];
    evaluate(phases, Round::value_scale, sine, cosine);
    const auto threshold = Round::threshold(F32(anchor_error_in_units / error_in_units));
    for (std::int64_t i = 0; i < at_once && begin + i < end; i += float_lanes) {
      typename Round::RoundingMargin margin = Round::largest_margin();
      const I32 rounded =
          Round::round(load(sine + i), load(sine + i + double_lanes), threshold, margin);
      std::int32_t bits[float_lanes];
      bool is_uncertain[float_lanes];
      rounded.store_unaligned(bits);
      Round::is_uncertain(margin, threshold).store_unaligned(is_uncertain);
      for (std::int64_t lane = 0; lane < float_lanes; ++lane) {
        const std::int64_t from = begin + i + deinterleaved_place(lane);
        if (from >= end) continue;
        const UncertainEntry<Element>& entry = entries_[from];
        *entry.place =
            is_uncertain[lane]
                ? exact_element<Element>(tables_, entry.position, entry.k, entry.is_cosine)
                : element_of<Element>(static_cast<std::uint32_t>(bits[lane]));
      }
    }
  }

  const RotationTables& tables_;
  std::int64_t count_ = 0;
  /// For each entry, its frequency in turns, its position and, for a cosine, an additional quarter
  /// turn.
  std::uint64_t turns_high_[capacity] = {}, turns_low_[capacity] = {}, position_[capacity] = {},
                quarter_[capacity] = {};
  UncertainEntry<Element> entries_[capacity];

  static constexpr std::int64_t most_vectors = 64;
  std::int64_t vectors_ = 0;
  Element* vector_out_[most_vectors];
  alignas(cache_line_bytes) Element vector_[most_vectors][2 * float_lanes];
};

}  // namespace
}  // namespace posenc::simd
