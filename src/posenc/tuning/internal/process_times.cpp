#include "posenc/tuning/internal/process_times.h"

#include "posenc/support/format.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace posenc {
namespace {

using Measurements = std::vector<PickMeasurement>;

/// In the first `full_processes` processes, every candidate gets all samples. A candidate that was
/// slower than the fastest by `clearly_slower` in each of them cannot be picked, and then gets
/// `few_samples`.
constexpr std::size_t full_processes = 3;
constexpr double clearly_slower = 1.5;
constexpr int few_samples = 3;

/// Further processes are timed, up to this multiple, while a backend differs from itself by more
/// than `low_noise`.
constexpr int most_processes_factor = 2;
constexpr double low_noise = 0.03;

/// If a limit is exceeded, other work disturbs the times, which are then not reliable.
constexpr double most_lost_share = 0.05;
constexpr double most_noise = 0.20;

/// The machine is busy if so much is lost in the first processes. More processes do not help.
constexpr double lost_share_when_busy = 3 * most_lost_share;

/// A backend over this budget may be within that of another program, so that it is timed too. Peers
/// are compared only within the budget.
bool is_to_be_timed(const PickMeasurement& measured) {
  return measured.is_peer ? measured.within_budget : measured.keeps_its_bound();
}

std::vector<PickMeasurement*> timed_of(Measurements& shape) {
  std::vector<PickMeasurement*> timed;
  for (PickMeasurement& each : shape) {
    if (is_to_be_timed(each)) timed.push_back(&each);
  }
  return timed;
}

bool may_be_picked(const PickMeasurement& measured) {
  return measured.within_budget && !measured.is_peer;
}

bool is_clearly_slower(const PickMeasurement& measured,
                       const std::vector<PickMeasurement*>& timed) {
  const std::vector<double>& seconds = measured.seconds;
  if (seconds.size() < full_processes || measured.is_peer) return false;
  for (std::size_t process = 0; process < seconds.size(); ++process) {
    double fastest = seconds[process];
    for (const PickMeasurement* each : timed) {
      if (may_be_picked(*each)) fastest = std::min(fastest, each->seconds[process]);
    }
    if (seconds[process] < clearly_slower * fastest) return false;
  }
  return true;
}

/// The candidate that is timed twice in every process: the method that selection takes by default
/// without measurements. Its best ISA is registered last.
std::size_t repeated_of(const std::vector<PickMeasurement*>& timed) {
  std::size_t repeated = 0;
  for (std::size_t i = 0; i < timed.size(); ++i) {
    if (may_be_picked(*timed[i]) && timed[i]->backend == "rotation") repeated = i;
  }
  return repeated;
}

/// The table of one comparison: plain stores, then non-temporal ones.
TimingRequest::Table table_of(const MeasuredStores& stores, const PickOptions& options) {
  const EncodingSpec spec;
  TimingRequest::Table table = {.spec = spec, .rows = {}, .candidates = {}};
  table.rows.count = stores.bytes / (spec.d_model * size_of(options.type));
  for (const StorePolicy policy : {StorePolicy::cached, StorePolicy::non_temporal})
    table.candidates.push_back({stores.backend, options.samples, policy});
  return table;
}

TimingRequest request_of(std::vector<Measurements>& shapes,
                         const std::vector<MeasuredStores>& stores, const PickOptions& options,
                         int process) {
  TimingRequest request = {.type = options.type,
                           .threads = options.threads,
                           .seconds_per_sample = options.seconds_per_sample,
                           .seed = static_cast<std::uint64_t>(process),
                           .tables = {}};
  for (Measurements& shape : shapes) {
    const std::vector<PickMeasurement*> timed = timed_of(shape);
    if (timed.empty()) continue;
    TimingRequest::Table& table = request.tables.emplace_back();
    table.spec = shape.front().spec;
    table.rows = shape.front().rows;
    table.repeated = repeated_of(timed);
    for (const PickMeasurement* each : timed) {
      const int samples = is_clearly_slower(*each, timed) ? std::min(few_samples, options.samples)
                                                          : options.samples;
      table.candidates.push_back({each->full_name(), samples});
    }
  }
  for (const MeasuredStores& each : stores) request.tables.push_back(table_of(each, options));
  return request;
}

void add_times(std::vector<Measurements>& shapes, std::vector<MeasuredStores>& stores,
               const TimingRequest& request, const TimingResult& result) {
  std::size_t place = 0;
  for (Measurements& shape : shapes) {
    const std::vector<PickMeasurement*> timed = timed_of(shape);
    if (timed.empty()) continue;
    const TimingResult::Table& times = result.tables.at(place);
    for (std::size_t i = 0; i < timed.size(); ++i) {
      timed[i]->seconds.push_back(times.seconds.at(i));
      if (i != request.tables[place].repeated) continue;
      timed[i]->self_ratios.push_back(times.repeated_seconds / times.seconds[i]);
    }
    ++place;
  }
  for (MeasuredStores& each : stores) {
    const std::vector<double>& seconds = result.tables.at(place++).seconds;
    each.cached.push_back(seconds.at(0));
    each.non_temporal.push_back(seconds.at(1));
  }
}

void decide_from(const std::vector<Measurements>& shapes, PickResult& result) {
  result.measurements.clear();
  for (const Measurements& shape : shapes) {
    result.measurements.insert(result.measurements.end(), shape.begin(), shape.end());
  }
  result.decisions = decide(result.measurements, result.budget);
}

double largest_noise(const std::vector<ClassDecision>& decisions) {
  double noise = 0;
  for (const ClassDecision& each : decisions) noise = std::max(noise, each.noise_floor);
  return noise;
}

/// The reason why the times are not reliable; empty if they are.
std::string disturbance(double lost_share, double noise) {
  if (lost_share > most_lost_share) {
    return format_text(
        "other work runs: {:.0f} % of the timed seconds passed without a processor; allowed: "
        "{:.0f} %",
        100 * lost_share, 100 * most_lost_share);
  }
  if (noise > most_noise) {
    return format_text(
        "other work runs: a backend differs from itself by {:.0f} %; allowed: {:.0f} %",
        100 * noise, 100 * most_noise);
  }
  return "";
}

}  // namespace

void time_and_decide(std::vector<std::vector<PickMeasurement>>& shapes, const PickOptions& options,
                     const std::function<void(double, std::string_view)>& progress,
                     PickResult& result) {
  const int most = most_processes_factor * options.processes;
  double timed_seconds = 0, lost_seconds = 0, lost_share = 0, noise = 0;
  for (int process = 0; process < most; ++process) {
    progress(static_cast<double>(process) / most,
             format_text("timing, process {} of {} to {}", process + 1, options.processes, most));
    const TimingRequest request = request_of(shapes, result.stores, options, process);
    if (request.tables.empty()) break;
    const TimingResult times =
        options.time_in_process ? options.time_in_process(request) : time_candidates(request);
    add_times(shapes, result.stores, request, times);
    timed_seconds += times.timed_seconds;
    lost_seconds += times.lost_seconds;
    result.processes = process + 1;
    if (timed_seconds > 0) lost_share = lost_seconds / timed_seconds;
    if (result.processes >= static_cast<int>(full_processes) && lost_share > lost_share_when_busy)
      break;
    if (result.processes < options.processes) continue;
    decide_from(shapes, result);
    noise = largest_noise(result.decisions);
    if (noise <= low_noise || lost_share > most_lost_share) break;
  }
  if (result.measurements.empty()) decide_from(shapes, result);
  result.disturbed = disturbance(lost_share, noise);
}

}  // namespace posenc
