// Times rows that are not requested as a table, and planning.
//
// Without flags, the program times rows of d_model 512. --question chooses another set of
// benchmarks, and --shape a shape of the user's own.
//
//   row_random/<backend>:<isa>/rows:1/d:512               one row at random positions
//   row_cursor/<backend>:<isa>/rows:32/d:512              consecutive rows from a Cursor
//   gather_random/<backend>:<isa>/rows:1024/d:512         random positions in one call
//   plan/<backend>:<isa>/d:512/spacing:paper              planning, with a new base each time
//   plan_again/<backend>:<isa>/d:512/spacing:paper        planning the same spec again
//   axes/<system>/rows:4096/d:128                         the cells of a grid, on several axes
//   axes/one/rows:4096/d:128                              as many rows on one axis, by an Encoder
//
// Positions of rows are below 2^20. `naive` computes the formula literally.

#include "bench.h"

#include "posenc/cursor.h"
#include "posenc/model/axes_presets.h"
#include "posenc/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace posenc::bench {

using namespace model;
namespace {

using Positions = std::vector<std::int64_t>;

/// Consecutive rows begin in the middle, because naive is faster where most phases are below 1.
constexpr std::int64_t middle = 1 << 19;

/// Random positions in [0, 2 * middle), evenly spread and the same in every run.
Positions random_positions(std::int64_t count) {
  std::mt19937_64 random;  // the default seed
  Positions positions(static_cast<std::size_t>(count));
  for (std::int64_t& position : positions)
    position = static_cast<std::int64_t>(random() % (2 * middle));
  return positions;
}

/// One encode call for each position in turn.
Work row_random(const SharedEncoder& encoder, Table table) {
  table.rows.count = 1;
  const OutputView row = warm_view(table);
  const auto position = std::make_shared<std::int64_t>();
  Work work(expected_at(
                *encoder, [=](auto) { return *position; }, {0, 2 * middle}, table.type),
            [=, positions = random_positions(4096), next = std::size_t{0}]() mutable {
              *position = positions[next];
              next = (next + 1) % positions.size();
              encoder->encode({.first = *position, .count = 1}, row);
              return row;
            });
  work.counts_rows = true;
  return work;
}

/// A cursor encodes this many rows at a time. An iteration with fewer rows would time all of their
/// cost, or none of it.
constexpr std::int64_t cursor_run = 32;

Work row_cursor(const SharedEncoder& encoder, const Table& table) {
  const auto cursor = std::make_shared<Cursor>(*encoder, middle);
  Work work(expected_of(*encoder, {middle, cursor_run}),
            [encoder, cursor, view = warm_view(table_of(cursor_run, table.spec.d_model))] {
              for (std::int64_t row = 0; row < cursor_run; ++row)
                std::ranges::copy(cursor->next(),
                                  static_cast<float*>(view.data) + row * view.stride);
              return view;
            });
  work.loop = loop_of([encoder, cursor] {
    for (std::int64_t row = 0; row < cursor_run; ++row) {
      const float* values = cursor->next().data();
      benchmark::DoNotOptimize(values);
    }
    if (cursor->position() >= 2 * middle) cursor->seek(middle);
  });
  work.counts_rows = true;
  return work;
}

/// All rows of the table in one call, at random positions.
Work gather_random(const SharedEncoder& encoder, const Table& table) {
  const Positions positions = random_positions(table.rows.count);
  const auto position = [=](std::int64_t row) { return positions[static_cast<std::size_t>(row)]; };
  Work work(expected_at(*encoder, position, {0, 2 * middle}, table.type),
            [=, view = warm_view(table)] {
              encoder->encode(positions, view, {table.threads, table.stores});
              return view;
            });
  work.counts_rows = true;
  return work;
}

/// Single rows are encoded by one thread, and the cursor writes float32.
void add_rows(const Table& table, const std::vector<const Backend*>& backends) {
  for (const Backend* backend : backends) {
    const auto add_question = [&](const char* question, const Table& named, auto make) {
      add(question, *backend, named, [=] { return make(backend->plan(table.spec), table); });
    };
    const auto with_rows = [&](std::int64_t rows) {
      Table named = table;
      named.name = suite::size_name(named.spec, {0, rows});
      named.rows = {0, rows};
      return named;
    };
    if (table.threads == 1) add_question("row_random", with_rows(1), row_random);
    if (table.threads == 1 && table.type == DataType::float32)
      add_question("row_cursor", with_rows(cursor_run), row_cursor);
    add_question("gather_random", with_rows(table.rows.count), gather_random);
  }
}

void add_usual_rows() { add_rows(table_of(1024, 512), best_backends()); }
void add_wide_rows() { add_rows(table_of(1024, 4096), best_backends()); }

Work plan(const Backend& backend, const Table& table, bool again) {
  Work work = encoding_of(backend, table);
  work.counts_entries = false;
  work.has_limit = false;
  work.loop = loop_of([&backend, again, spec = table.spec]() mutable {
    if (!again) spec.base = std::nextafter(spec.base, 2 * spec.base);
    const auto encoder = backend.plan(spec);
    const Encoder* result = encoder.get();
    benchmark::DoNotOptimize(result);
  });
  return work;
}

void add_planning(std::int64_t d_model, Spacing spacing) {
  Table table = table_of(100, d_model);
  table.spec.spacing = spacing;
  const std::string suffix = fmt::format("d:{}/spacing:{}", d_model, to_string(spacing));
  for (const Backend* each : best_backends()) {
    for (const bool again : {false, true}) {
      add(fmt::format("plan{}/{}/{}", again ? "_again" : "", each->full_name(), suffix),
          [=] { return plan(*each, table, again); });
    }
  }
}

/// Exact values of rows at positions on the axes of a spec whose positions are integers.
Expected expected_on_axes(const AxesSpec& spec, const RowPositions& positions) {
  const auto exact = [=](std::int64_t row, std::span<long double> values) {
    std::vector<std::vector<long double>> rows;  // one for each part
    for (const AxisPairs& part : spec.parts) {
      rows.emplace_back(static_cast<std::size_t>(part.spec.d_model));
      exact_row(part.spec, positions(part.axis, row), rows.back());
    }
    for (const auto& [part, k, place, to] : pairs_of(spec)) {
      const ChannelPair from = channels_of(spec.parts[part].spec, k);
      values[static_cast<std::size_t>(to.sine)] = rows[part][static_cast<std::size_t>(from.sine)];
      values[static_cast<std::size_t>(to.cosine)] =
          rows[part][static_cast<std::size_t>(from.cosine)];
    }
  };
  return {exact, 0x1p-25};
}

/// Encodes the cells of a grid, each as a row.
Work axes(const std::string& system, const GridSizes& sizes) {
  const auto table = std::make_shared<AxesTable>(axes_table(system, sizes));
  const auto encoder = std::make_shared<AxesEncoder>(table->spec);
  const auto out = std::make_shared<Matrix>(table->rows, encoder->d_model());
  Work work(expected_on_axes(table->spec, table->row_positions()), [=] {
    encoder->encode(table->row_positions(), out->view());
    return OutputView(out->view());
  });
  work.counts_rows = true;
  return work;
}

void add_axes(const GridSizes& sizes) {
  const std::int64_t rows = sizes[0] * sizes[1] * sizes[2];
  for (const std::string system : {"flux", "wan", "hunyuan_video", "mrope", "qwen3_vl"})
    add(fmt::format("axes/{}/rows:{}/d:128", system, rows), [=] { return axes(system, sizes); });
  Table one = table_of(rows, 128);
  one.spec.layout = axes_table("flux", sizes).spec.layout;
  add(fmt::format("axes/one/rows:{}/d:128", rows), [=] {
    Work work = encoding_of(*select_backend(one.spec, one.rows).backend, one);
    work.counts_rows = true;
    work.has_limit = false;
    return work;
  });
}

void add_all_axes() {
  for (const GridSizes& sizes : {GridSizes{1, 64, 64}, GridSizes{32, 64, 64}}) add_axes(sizes);
}

void add_all_planning() {
  for (const std::int64_t d_model : {20, 512, 4096}) {
    for (const Spacing spacing : all_spacings) add_planning(d_model, spacing);
  }
}

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  using namespace posenc::bench;
  return run(
      argc, argv,
      {.name = "bench_rows",
       .description = "What does a row cost if rows are not asked for as a table, and what "
                      "does planning cost?",
       .questions = {{"rows", "single rows, a cursor and a gather of d_model 512", add_usual_rows},
                     {"wide_rows", "the same of d_model 4096", add_wide_rows},
                     {"planning", "what planning costs", add_all_planning},
                     {"axes", "what positions on several axes cost", add_all_axes}},
       .types = {std::begin(posenc::all_data_types), std::end(posenc::all_data_types)},
       .example = "bench_rows --shape 100x768 --dtype bfloat16 --threads 1",
       .add_options =
           [](auto& app, auto& options) {
             using namespace posenc::cli;
             add_preset(app, options, Values::list);
             add_convention(app, options);
             add_backends(app, options);
           },
       .add = add_rows});
}
