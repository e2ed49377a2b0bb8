// What does a row cost if rows are not asked for as a table?
//
//   row_random/<backend>:<isa>/bits:20/d:512                one row at random positions below 2^20,
//                                                           and below 2^40
//   row_next/<backend>:<isa>/d:512                          consecutive rows, one encode call each
//   row_cursor/<backend>:<isa>/rows:32/d:512                consecutive rows from a Cursor, as
//                                                           decoding asks for them
//   gather_random/<backend>:<isa>/rows:1024/d:512           random positions in one call
//   gather_runs/<backend>:<isa>/sequences:64/run:16/d:512   64 sequences of 16 consecutive rows
//                                                           in one call

#include "baselines.h"
#include "checked_encoder.h"
#include "options.h"
#include "program.h"
#include "warm_memory.h"

#include "posenc/cursor.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posenc::bench {
namespace {

constexpr int near_bits = 20, far_bits = 40;

/// What an iteration gives: `count` rows at positions below 2^bits.
struct Rows {
  std::int64_t d_model;
  std::int64_t count = 1;
  int bits = near_bits;
};

MatrixView<float> warm_rows(const Rows& rows) {
  return {warm_memory(4 * rows.count * rows.d_model), rows.count, rows.d_model, rows.d_model};
}

/// Consecutive rows begin in the middle of the range: naive is faster if most phases are below one.
std::int64_t middle(const Rows& rows) { return std::int64_t{1} << (rows.bits - 1); }

/// Times what `prepare(encoder, rows)` returns: a call of it gives the rows.
template <class Prepare>
void add_rows(std::string_view question, std::string_view detail, const Backend& backend,
              const Rows& rows, Prepare prepare) {
  const auto body = [=](benchmark::State& state, const Encoder& encoder) {
    auto give_rows = prepare(encoder, rows);
    for (auto _ : state) {
      give_rows();
      benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(state.iterations() * rows.count * rows.d_model);
    using benchmark::Counter;
    state.counters["seconds_per_row"] = Counter(
        static_cast<double>(rows.count), Counter::kIsIterationInvariantRate | Counter::kInvert);
  };
  const TableShape checked = {{}, {.d_model = rows.d_model}, {0, std::int64_t{1} << rows.bits}};
  add_checked(fmt::format("{}/{}/{}d:{}", question, backend.full_name(), detail, rows.d_model),
              backend, checked, body, {times_naive(rows.d_model, rows.bits, rows.count)});
}

auto random_rows(const Encoder& encoder, const Rows& rows) {
  return [&encoder, view = warm_rows(rows), positions = random_positions(4096, rows.bits),
          next = std::size_t{0}]() mutable {
    next = (next + 1) % positions.size();
    encoder.encode({.first = positions[next], .count = 1}, view);
  };
}

auto next_rows(const Encoder& encoder, const Rows& rows) {
  return
      [&encoder, view = warm_rows(rows), first = middle(rows), position = middle(rows)]() mutable {
        encoder.encode({.first = position, .count = 1}, view);
        if (++position == 2 * first) position = first;
      };
}

/// A cursor encodes that many rows at a time: an iteration that gave fewer would time all or none
/// of their cost.
constexpr std::int64_t cursor_run = 32;

auto cursor_rows(const Encoder& encoder, const Rows& rows) {
  return
      [cursor = Cursor(encoder, middle(rows)), first = middle(rows), count = rows.count]() mutable {
        for (std::int64_t row = 0; row < count; ++row) {
          const float* values = cursor.next().data();
          benchmark::DoNotOptimize(values);
        }
        if (cursor.position() == 2 * first) cursor.seek(first);
      };
}

auto gather(const Encoder& encoder, const Rows& rows, std::vector<std::int64_t> positions) {
  return [&encoder, view = warm_rows(rows), positions = std::move(positions)]() {
    encoder.encode(positions, view);
  };
}

auto gathered_rows(const Encoder& encoder, const Rows& rows) {
  return gather(encoder, rows, random_positions(rows.count, rows.bits));
}

constexpr std::int64_t run_rows = 16;

auto gathered_runs(const Encoder& encoder, const Rows& rows) {
  std::vector<std::int64_t> positions;
  for (const std::int64_t first : random_positions(rows.count / run_rows, rows.bits)) {
    for (std::int64_t row = 0; row < run_rows; ++row) positions.push_back(first + row);
  }
  return gather(encoder, rows, std::move(positions));
}

void register_all(const BackendChoice& choice) {
  const std::vector<const Backend*> backends = best_isa_only(select_backends(choice));
  const auto add_all = [&backends](std::string_view question, const std::string& detail,
                                   const Rows& rows, auto prepare) {
    for (const Backend* backend : backends) add_rows(question, detail, *backend, rows, prepare);
  };
  constexpr std::int64_t gathered = 1024;
  for (const std::int64_t d_model : {512, 4096}) {
    begin_group();
    add_all("row_random", fmt::format("bits:{}/", near_bits), {d_model, 1, near_bits}, random_rows);
    add_all("row_next", "", {d_model}, next_rows);
    add_all("row_cursor", fmt::format("rows:{}/", cursor_run), {d_model, cursor_run}, cursor_rows);
    add_all("gather_random", fmt::format("rows:{}/", gathered), {d_model, gathered}, gathered_rows);
    add_all("gather_runs", fmt::format("sequences:{}/run:{}/", gathered / run_rows, run_rows),
            {d_model, gathered}, gathered_runs);
    begin_group();
    add_all("row_random", fmt::format("bits:{}/", far_bits), {d_model, 1, far_bits}, random_rows);
  }
}

constexpr std::string_view notes =
    "bits: positions are drawn from [0, 2^bits), bits 20 if the name has none\n"
    "times naive: how many times faster than naive for single rows at random positions\n";

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  using namespace posenc::bench;
  BackendChoice choice;
  return run(argc, argv,
             {.name = "bench_rows",
              .description = "Times single rows, consecutive rows and gathers with planned "
                             "encoders, against naive's single row.",
              .notes = notes,
              .add_options = [&](CLI::App& app) { add_backend_options(app, choice); },
              .register_benchmarks = [&] { register_all(choice); }});
}
