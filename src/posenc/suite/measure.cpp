#include "posenc/suite/measure.h"

#include "posenc/cpu.h"
#include "posenc/registry.h"
#include "posenc/suite/document.h"
#include "posenc/suite/measure_accuracy.h"
#include "posenc/suite/pick.h"
#include "posenc/suite/statistics.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace posenc::suite {
namespace {

/// Tables of up to this many entries are compared with the reference completely, which takes some
/// seconds. From a larger table, this many entries are compared, in runs that are spread over its
/// rows.
constexpr std::int64_t max_checked_entries = std::int64_t{1} << 26;
constexpr std::int64_t checked_runs = 16;

/// The share of the progress that is reported while errors are measured.
constexpr double accuracy_share = 0.3;

/// More processes are timed, up to this multiple of the number asked for, while a backend differs
/// from itself by more than `low_noise`.
constexpr int most_processes_factor = 2;
constexpr double low_noise = 0.03;

/// Beyond either value, other work disturbs the times, which are then not reliable.
constexpr double most_lost_share = 0.05;
constexpr double most_noise = 0.20;

/// The machine is busy if the first processes lose more than this share. More processes would not
/// help.
constexpr double hopeless_lost_share = 3 * most_lost_share;
constexpr int first_processes = 3;

using Rows = std::vector<Measurement>;

/// All rows if they are few. Otherwise evenly spread runs of equal length, from the first row to
/// the last.
std::vector<RowRange> rows_to_check(const MeasuredTable& table) {
  const std::int64_t affordable =
      std::max<std::int64_t>(max_checked_entries / table.spec.d_model, checked_runs);
  if (table.rows.count <= affordable) return {table.rows};
  const std::int64_t length = affordable / checked_runs;
  std::vector<RowRange> runs;
  for (std::int64_t run = 0; run < checked_runs; ++run) {
    static_assert(checked_runs <= std::numeric_limits<std::int64_t>::max() / (max_position + 1));
    const std::int64_t offset = (table.rows.count - length) * run / (checked_runs - 1);
    runs.push_back({table.rows.first + offset, length});
  }
  return runs;
}

/// Adds rows with the errors that are known from the same table encoded by another number of
/// threads, because the bits are the same. Returns false if there is no such table.
bool add_known_errors(Rows& rows, const MeasuredTable& table) {
  const auto found = std::ranges::find_if(rows, [&](const Measurement& row) {
    MeasuredTable same = row.table;
    same.threads = table.threads;
    return same == table;
  });
  if (found == rows.end()) return false;
  const MeasuredTable known = found->table;
  for (std::size_t i = 0, count = rows.size(); i < count; ++i) {
    if (rows[i].role == Role::limit || rows[i].table != known) continue;
    rows.push_back(Measurement(rows[i]));
    rows.back().table = table;
  }
  return true;
}

/// Adds the rows of the backends that can write the table's type. The rows are not timed yet.
void add_errors(Rows& rows, const MeasuredTable& table, const std::vector<const Backend*>& backends,
                const std::function<void(double share)>& progress) {
  if (add_known_errors(rows, table)) return;
  std::vector<const Backend*> able = backends;
  std::erase_if(able, [&](const Backend* each) { return !each->supports(table.type); });
  if (able.empty()) {
    throw_invalid("none of the requested backends can write {}; allowed: another dtype or backend",
                  to_string(table.type));
  }
  const AccuracyOptions options = {.threads = cpu().logical_cores,
                                   .type = table.type,
                                   .compared = rows_to_check(table),
                                   .progress = progress};
  const PlannedEncoders planned = plan_all(able, table);
  for (const AccuracyReport& each : measure_accuracy(planned.pointers(), table.rows, options)) {
    rows.push_back(each.measurement());
    rows.back().table = table;
  }
  rows.insert(rows.end(), planned.refused.begin(), planned.refused.end());
}

/// Adds rows for the limits of the memory system, which are measured with the table's number of
/// threads.
void add_limits(Rows& rows, const MeasuredTable& table) {
  for (const char* const name : {"store", "non_temporal_store", "copy"}) {
    Measurement& row = rows.emplace_back();
    row.backend = name;
    row.role = Role::limit;
    row.table = table;
  }
}

bool can_be_timed(const Measurement& row) {
  return row.keeps_its_promise() && row.not_available.empty();
}

/// True for the row of each table that is timed twice in every process. It is the method that
/// selection takes by default without measurements, at its best ISA, which is registered last. If
/// there is none, it is the last backend.
bool is_timed_twice(const Measurement& row, const Rows& all) {
  const Measurement* twice = nullptr;
  for (const Measurement& each : all) {
    if (each.table != row.table || each.role != Role::backend || !can_be_timed(each)) continue;
    const bool is_usual = each.backend == "rotation";
    if (twice == nullptr || is_usual || twice->backend != "rotation") twice = &each;
  }
  return twice == &row;
}

int percent(double share) { return static_cast<int>(std::lround(100 * share)); }

/// Adds the times of one process after another, until the noise is low or the largest number of
/// processes is reached. Rows that break their bounds are not timed.
void add_times(Measurements& document, const MeasureOptions& options) {
  const int wanted = options.processes, most = most_processes_factor * wanted;
  TimingRequest request = {
      .rows = {}, .samples = options.samples, .seconds_per_sample = options.seconds_per_sample};
  std::vector<Measurement*> timed;  // for each row of the request
  for (Measurement& row : document.all) {
    if (!can_be_timed(row)) continue;
    const std::size_t times = is_timed_twice(row, document.all) ? 2 : 1;
    request.rows.insert(request.rows.end(), times, row);
    timed.insert(timed.end(), times, &row);
  }
  double timed_seconds = 0, lost_seconds = 0, lost_share = 0, noise = 0;
  for (int process = 0; process < most; ++process) {
    if (options.progress) {
      options.progress(std::lerp(accuracy_share, 1.0, static_cast<double>(process) / most),
                       format_text("timing, process {} of {} to {}", process + 1, wanted, most));
    }
    request.seed = static_cast<std::uint64_t>(process);
    const Timing timing = options.time_in_process(request);
    for (std::size_t i = 0; i < timed.size(); ++i) {
      const double seconds = timing.seconds.at(i);
      if (i > 0 && timed[i - 1] == timed[i])
        timed[i]->self_ratios.push_back(seconds / timed[i]->seconds.back());
      else
        timed[i]->seconds.push_back(seconds);
    }
    timed_seconds += timing.timed_seconds;
    lost_seconds += timing.lost_seconds;
    if (timed_seconds > 0) lost_share = lost_seconds / timed_seconds;
    const int done = process + 1;
    if (done >= first_processes && lost_share > hopeless_lost_share) break;
    if (done < wanted) continue;
    noise = noise_floor_of(document);
    if (noise <= low_noise || lost_share > most_lost_share) break;
  }
  document.disturbed = disturbance(lost_share, noise);
}

}  // namespace

std::string disturbance(double lost_share, double noise) {
  if (lost_share > most_lost_share) {
    return format_text(
        "the machine is busy: other work took {} % of the timed seconds; allowed: {} %",
        percent(lost_share), percent(most_lost_share));
  }
  if (noise > most_noise) {
    return format_text(
        "the machine is busy: two timings of a backend differ by {} %; allowed: {} %",
        percent(noise), percent(most_noise));
  }
  return "";
}

Measurements measure(const MeasureOptions& options) {
  check_at_least_one("processes", options.processes);
  check_at_least_one("samples", options.samples);
  check_positive("seconds_per_sample", options.seconds_per_sample);
  auto tables = options.tables.empty() ? default_tables() : options.tables;
  const auto backends = options.backends.empty() ? backends_here() : options.backends;
  Measurements document = measurements_of_this_machine();
  document.left_out = leave_out_large(tables, options.most_bytes);
  double checked = 0;  // tables
  for (const MeasuredTable& table : tables) {
    add_errors(document.all, table, backends, [&](double share) {
      if (options.progress)
        options.progress(accuracy_share * (checked + share) / static_cast<double>(tables.size()),
                         format_text("checking {}", table.name));
    });
    add_limits(document.all, table);
    ++checked;
  }
  add_times(document, options);
  if (options.progress) options.progress(1, "done");
  return document;
}

}  // namespace posenc::suite
