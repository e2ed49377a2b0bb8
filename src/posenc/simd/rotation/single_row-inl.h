// rotation: one row, whose entries are anchors.
//
// Method  sines and cosines at the position, rounded as other entries are
// Error   correctly rounded: an anchor's error decides which entries are computed again in integers
// Range   every position up to max_position; float32 and 16-bit types
// Cost    AVX2: 37 operations a vector of frequencies (anchors-inl.h), and the rounding
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
    const std::int64_t columns = segment.count - done < step ? segment.count - done : step;
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
        correct_vector<Round>(map, column + offset, columns - offset, position, uncertain,
                              out + offset);
    }
    if (columns == step) continue;
    for (std::int64_t i = 0; i < columns; ++i) segment.out[done + i] = edge[i];
  }
}

/// Writes the single row of a task.
template <class Round, bool interleaved>
inline void write_single_row(const RotationTables& tables, const RowTask& task) {
  for (std::int64_t begin = 0; begin < tables.frequencies; begin += panel_frequencies) {
    const std::int64_t left = tables.frequencies - begin;
    const ColumnMap map(tables, begin, left < panel_frequencies ? left : panel_frequencies);
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

}  // namespace
}  // namespace posenc::simd
