// What does a row cost if rows are not asked for as a table, and what does planning cost?
//
//   row_random/<backend>:<isa>/bits:20/d:512                one row at random positions below 2^20
//   row_next/<backend>:<isa>/d:512                          consecutive rows, one encode call each
//   row_cursor/<backend>:<isa>/rows:32/d:512                consecutive rows from a Cursor, as
//                                                           decoding asks for them
//   gather_random/<backend>:<isa>/rows:1024/d:512           random positions in one call
//   gather_runs/<backend>:<isa>/sequences:64/run:16/d:512   64 sequences of 16 consecutive rows
//   plan/<backend>:<isa>/d:512/spacing:paper                planning, with a base that no encoder
//                                                           had before
//   plan_again/<backend>:<isa>/d:512/spacing:paper          planning the same spec again
//   plan_and_encode/<backend>:<isa>/rows:100/d:20           a small table from nothing
//   frequencies/d:512/spacing:paper                         the exact frequencies alone
//   axes/<system>/rows:4096/d:128                           the cells of a grid, on several axes
//   axes/text/rows:4096/d:128                               the same with equal positions on all
//   axes/one/rows:4096/d:128                                the same of one axis, by an Encoder
//
// Positions are below 2^20 unless the name has other bits. The formula as it is read is `naive`.

#include "encoders.h"
#include "program.h"
#include "tables.h"

#include "posenc/cursor.h"
#include "posenc/exact/frequency.h"
#include "posenc/model/axes_presets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace posenc::bench {
namespace {

constexpr int near_bits = 20, far_bits = 40;

/// Consecutive rows begin in the middle: naive is faster where most phases are below one.
constexpr std::int64_t middle = std::int64_t{1} << (near_bits - 1);

/// The same positions in every run, spread evenly over [0, 2^bits).
std::vector<std::int64_t> random_positions(std::int64_t count, int bits) {
  std::mt19937_64 random;  // the default seed
  std::vector<std::int64_t> positions(static_cast<std::size_t>(count));
  for (std::int64_t& position : positions)
    position = static_cast<std::int64_t>(random() >> (64 - bits));
  return positions;
}

/// Counts elements/s, and the seconds of one of the rows that an iteration gives.
void count_rows(benchmark::State& state, std::int64_t rows, std::int64_t d_model) {
  using benchmark::Counter;
  state.SetItemsProcessed(state.iterations() * rows * d_model);
  state.counters["seconds_per_row"] =
      Counter(static_cast<double>(rows), Counter::kIsIterationInvariantRate | Counter::kInvert);
}

/// Rows of an encoder at any positions, exact at each.
Expected expected_at(const Encoder& encoder,
                     const std::function<std::int64_t(std::int64_t)>& position,
                     int bits = near_bits) {
  return {[&encoder, position](std::int64_t row, std::span<long double> values) {
            exact_row(encoder.spec(), position(row), values);
          },
          encoder.error_bound({0, std::int64_t{1} << bits})};
}

void row_random(benchmark::State& state, const Backend* backend, int bits, std::int64_t d_model) {
  const Encoder& encoder = planned(*backend, {.d_model = d_model});
  const OutputView row = warm_view(table_of(1, d_model));
  const std::vector<std::int64_t> positions = random_positions(4096, bits);
  std::size_t next = 0;
  const auto position = [&](std::int64_t) { return positions[next]; };
  const bool is_right = timed(state, expected_at(encoder, position, bits), [&] {
    next = (next + 1) % positions.size();
    encoder.encode({.first = positions[next], .count = 1}, row);
    return row;
  });
  if (is_right) count_rows(state, 1, d_model);
}

void row_next(benchmark::State& state, const Backend* backend, std::int64_t d_model) {
  const Encoder& encoder = planned(*backend, {.d_model = d_model});
  const OutputView row = warm_view(table_of(1, d_model));
  std::int64_t next = middle, position = middle;
  const bool is_right = timed(state, expected_at(encoder, [&](auto) { return position; }), [&] {
    position = next;
    encoder.encode({.first = position, .count = 1}, row);
    next = position + 1 == 2 * middle ? middle : position + 1;
    return row;
  });
  if (is_right) count_rows(state, 1, d_model);
}

/// A cursor encodes that many rows at a time: an iteration that gave fewer would time all or none
/// of their cost.
constexpr std::int64_t cursor_run = 32;

void row_cursor(benchmark::State& state, const Backend* backend, std::int64_t d_model) {
  const Encoder& encoder = planned(*backend, {.d_model = d_model});
  Cursor cursor(encoder, middle);
  const auto copied = [&] {
    const OutputView view = warm_view(table_of(cursor_run, d_model));
    for (std::int64_t row = 0; row < cursor_run; ++row)
      std::ranges::copy(cursor.next(), static_cast<float*>(view.data) + row * d_model);
    return view;
  };
  if (!is_right(state, expected_of(encoder, {middle, cursor_run}), copied)) return;
  for (auto _ : state) {
    for (std::int64_t row = 0; row < cursor_run; ++row) {
      const float* values = cursor.next().data();
      benchmark::DoNotOptimize(values);
    }
    if (cursor.position() >= 2 * middle) cursor.seek(middle);
  }
  count_rows(state, cursor_run, d_model);
}

void gather(benchmark::State& state, const Backend* backend, std::int64_t d_model,
            const std::vector<std::int64_t>& positions) {
  const Encoder& encoder = planned(*backend, {.d_model = d_model});
  const auto rows = static_cast<std::int64_t>(positions.size());
  const OutputView view = warm_view(table_of(rows, d_model));
  const auto position = [&](std::int64_t row) { return positions[static_cast<std::size_t>(row)]; };
  const bool is_right = timed(state, expected_at(encoder, position), [&] {
    encoder.encode(positions, view);
    return view;
  });
  if (is_right) count_rows(state, rows, d_model);
}

std::vector<std::int64_t> runs_of_positions(std::int64_t sequences, std::int64_t run) {
  std::vector<std::int64_t> positions;
  for (const std::int64_t first : random_positions(sequences, near_bits)) {
    for (std::int64_t row = 0; row < run; ++row) positions.push_back(first + row);
  }
  return positions;
}

void add_rows(const Backend* backend, std::int64_t d_model) {
  const auto name = [&](const char* question, const char* detail) {
    return fmt::format("{}/{}/{}d:{}", question, backend->full_name(), detail, d_model);
  };
  add(name("row_random", "bits:20/"), row_random, backend, near_bits, d_model);
  add(name("row_random", "bits:40/"), row_random, backend, far_bits, d_model);
  add(name("row_next", ""), row_next, backend, d_model);
  add(name("row_cursor", "rows:32/"), row_cursor, backend, d_model);
  add(name("gather_random", "rows:1024/"), gather, backend, d_model,
      random_positions(1024, near_bits));
  add(name("gather_runs", "sequences:64/run:16/"), gather, backend, d_model,
      runs_of_positions(64, 16));
}

OutputView plan_and_write(const Backend& backend, const Table& table, const OutputView& view) {
  backend.plan(table.spec)->encode(table.rows, view);
  return view;
}

void plan(benchmark::State& state, const Backend* backend, const Table& table, bool again) {
  const Expected expected = expected_of(planned(*backend, table.spec), table.rows);
  if (!is_right(state, expected, [&] { return plan_and_write(*backend, table, warm_view(table)); }))
    return;
  EncodingSpec spec = table.spec;
  for (auto _ : state) {
    if (!again) spec.base = std::nextafter(spec.base, 2 * spec.base);
    const auto encoder = backend->plan(spec);
    const Encoder* result = encoder.get();
    benchmark::DoNotOptimize(result);
  }
}

/// What programs pay that plan for every table.
void plan_and_encode(benchmark::State& state, const Backend* backend, const Table& table) {
  const OutputView view = warm_view(table);
  const Expected expected = expected_of(planned(*backend, table.spec), table.rows);
  if (timed(state, expected, [&] { return plan_and_write(*backend, table, view); }))
    count_elements(state, table);
}

/// xsimd, rotation32 and rotation plan these first. pow of long double has more bits than the
/// doubles that they are rounded to.
void frequencies(benchmark::State& state, const EncodingSpec& spec) {
  const auto exact = [&](std::int64_t, std::span<long double> values) {
    const auto denominator = static_cast<long double>(exponent_denominator(spec));
    const auto base = static_cast<long double>(spec.base);
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = std::pow(base, -static_cast<long double>(k) / denominator);
  };
  BasicMatrix<double> radians(1, spec.d_model / 2);
  const auto rounded = [&] {
    const Frequencies all(spec);
    for (std::int64_t k = 0; k < spec.d_model / 2; ++k) radians(0, k) = to_radians(all[k]);
    return OutputView(radians.view());
  };
  if (!is_right(state, {exact, 0x1p-52}, rounded)) return;
  for (auto _ : state) {
    const Frequencies all(spec);
    const auto* first = &all[0];
    benchmark::DoNotOptimize(first);
    benchmark::ClobberMemory();
  }
}

void add_planning(std::int64_t d_model, Spacing spacing) {
  Table table = table_of(100, d_model);
  table.spec.spacing = spacing;
  const std::string suffix = fmt::format("d:{}/spacing:{}", d_model, to_string(spacing));
  add("frequencies/" + suffix, frequencies, table.spec);
  for (const Backend* backend : best_backends()) {
    add(fmt::format("plan/{}/{}", backend->full_name(), suffix), plan, backend, table, false);
    add(fmt::format("plan_again/{}/{}", backend->full_name(), suffix), plan, backend, table, true);
  }
}

void add_planning_for_tables() {
  for (const Table& table : {table_of(100, 20), table_of(512, 512)}) {
    for (const Backend* backend : best_backends()) {
      add(fmt::format("plan_and_encode/{}/{}", backend->full_name(), to_string(table)),
          plan_and_encode, backend, table);
    }
  }
}

/// The table of a system, or one of the same shape whose positions are 0, 1, 2 ...
enum class OnAxes { grid, text, one };

/// Exact values of rows at positions on the axes of a spec whose positions are integers.
Expected expected_on_axes(const AxesSpec& spec, const RowPositions& positions) {
  const EncodingSpec row_spec = {.d_model = spec.d_model(), .layout = spec.layout};
  const auto exact = [=](std::int64_t row, std::span<long double> values) {
    const auto places = places_of(spec);
    for (std::size_t p = 0; p < places.size(); ++p) {
      const AxisPairs& part = spec.parts[p];
      std::vector<long double> of_axis(static_cast<std::size_t>(part.spec.d_model));
      exact_row(part.spec, positions(part.axis, row), of_axis);
      for (std::size_t i = 0; i < places[p].size(); ++i) {
        const auto k =
            part.frequencies.empty() ? static_cast<std::int64_t>(i) : part.frequencies[i];
        const ChannelPair from = channels_of(part.spec, k),
                          to = channels_of(row_spec, places[p][i]);
        values[static_cast<std::size_t>(to.sine)] = of_axis[static_cast<std::size_t>(from.sine)];
        values[static_cast<std::size_t>(to.cosine)] =
            of_axis[static_cast<std::size_t>(from.cosine)];
      }
    }
  };
  return {exact, 0x1p-25};
}

void axes(benchmark::State& state, const std::string& system, const GridSizes& sizes,
          OnAxes positions) {
  const AxesTable table = axes_table(system, sizes);
  const AxesEncoder encoder(table.spec);
  const RowRange range = {0, table.rows};
  const EncodingSpec one = {.d_model = encoder.d_model(), .layout = table.spec.layout};
  const auto of_one = plan_selected(one, range).encoder;
  const RowPositions used = positions == OnAxes::grid ? table.row_positions() : range;
  Matrix out(table.rows, encoder.d_model());
  const Expected expected =
      positions == OnAxes::one ? expected_of(*of_one, range) : expected_on_axes(table.spec, used);
  const bool is_right = timed(state, expected, [&] {
    if (positions == OnAxes::one) {
      of_one->encode(range, out.view());
    } else {
      encoder.encode(used, out.view());
    }
    return OutputView(out.view());
  });
  if (is_right) count_rows(state, table.rows, encoder.d_model());
}

void add_axes(const GridSizes& sizes) {
  const std::int64_t rows = sizes[0] * sizes[1] * sizes[2];
  const std::string suffix = fmt::format("/rows:{}/d:128", rows);
  for (const std::string system : {"flux", "wan", "hunyuan_video", "mrope", "qwen3_vl"})
    add(fmt::format("axes/{}{}", system, suffix), axes, system, sizes, OnAxes::grid);
  add("axes/text" + suffix, axes, "flux", sizes, OnAxes::text);
  add("axes/one" + suffix, axes, "flux", sizes, OnAxes::one);
}

void register_benchmarks() {
  for (const GridSizes& sizes : {GridSizes{1, 64, 64}, GridSizes{32, 64, 64}}) add_axes(sizes);
  for (const std::int64_t d_model : {512, 4096}) {
    for (const Backend* backend : best_backends()) add_rows(backend, d_model);
  }
  for (const std::int64_t d_model : {20, 512, 4096}) {
    for (const Spacing spacing : all_spacings) add_planning(d_model, spacing);
  }
  add_planning_for_tables();
}

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  return posenc::bench::run(argc, argv, posenc::bench::register_benchmarks);
}
