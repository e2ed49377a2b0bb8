#include "posenc/tuning/pick.h"

#include "posenc/support/format.h"
#include "posenc/support/statistics.h"
#include "posenc/tuning/accuracy.h"
#include "posenc/tuning/internal/pick_decision.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace posenc {
namespace {

/// Entries of a shape that are checked against the reference, in runs spread over its rows: enough
/// for every channel and the whole span of positions, in a fraction of a second. Between the runs
/// the encoder's proven bound stands.
constexpr std::int64_t max_checked_entries = std::int64_t{1} << 19;
constexpr std::int64_t checked_runs = 16;

/// In so many processes all candidates get all samples. What takes at least so much more time than
/// the fastest in each of them is out of the race, and few samples are enough from then on to show
/// its figure.
constexpr std::size_t full_processes = 3;
constexpr double out_of_the_race = 1.5;
constexpr int few_samples = 3;

/// More processes are timed, up to so many times the number, while a backend differs from itself by
/// more than this.
constexpr double calm = 0.03;
constexpr int patience = 2;

/// Beyond these the figures are no good: other work runs.
constexpr double most_lost = 0.05;
constexpr double most_noise = 0.20;

/// Share of the work, for the progress.
constexpr double accuracy_share = 0.3;

/// One backend on one shape.
struct Candidate {
  PickMeasurement measured;
  std::unique_ptr<const Encoder> encoder;
};

/// All candidates of one shape.
using Shape = std::vector<Candidate>;

void check(const PickOptions& options) {
  if (options.budget) validate(*options.budget);
  const auto at_least_one = [](std::string_view name, int value) {
    if (value < 1) throw InvalidArgument(format_text("{} is {}; allowed: at least 1", name, value));
  };
  at_least_one("threads", options.threads);
  at_least_one("processes", options.processes);
  at_least_one("samples", options.samples);
  const double seconds = options.seconds_per_sample;
  if (!std::isfinite(seconds) || seconds <= 0) {
    throw InvalidArgument(
        format_text("seconds_per_sample is {}; allowed: finite and greater than 0", seconds));
  }
  for (const PickShape& each : options.shapes) {
    validate(each.spec);
    validate(each.rows);
    if (each.rows.count == 0)
      throw InvalidArgument(format_text("{} has 0 rows; allowed: at least 1", each.name));
  }
}

/// Backends for comparison only are measured as well, at their best ISA alone: they win nothing.
bool is_measured(const Backend& backend) {
  return backend.runs_here() &&
         (backend.can_be_picked() || &posenc::backend(backend.name()) == &backend);
}

Shape plan_candidates(const PickShape& planned, DataType type) {
  Shape shape;
  for (const Backend* each : backends()) {
    if (!is_measured(*each)) continue;
    auto encoder = each->plan(planned.spec);
    if (!encoder->supports(type)) continue;
    Candidate& added = shape.emplace_back();
    added.encoder = std::move(encoder);
    added.measured.backend = each->name();
    added.measured.isa = each->isa();
    added.measured.is_peer = !each->can_be_picked();
    added.measured.name = planned.name;
    added.measured.spec = planned.spec;
    added.measured.rows = planned.rows;
    added.measured.shape =
        shape_class(table_bytes(planned.spec, planned.rows.count, size_of(type)));
    added.measured.error_bound = added.encoder->error_bound(planned.rows, type);
  }
  return shape;
}

/// All rows where they are few, else runs of equal length, evenly spread, the first and the last
/// row among them.
std::vector<RowRange> rows_to_check(const EncodingSpec& spec, RowRange rows) {
  const std::int64_t affordable =
      std::max<std::int64_t>(max_checked_entries / spec.d_model, checked_runs);
  if (rows.count <= affordable) return {rows};
  const std::int64_t length = affordable / checked_runs;
  std::vector<RowRange> runs;
  for (std::int64_t run = 0; run < checked_runs; ++run) {
    // In long double: the product may exceed 64 bits, and the last offset must come out exact.
    const auto offset = static_cast<long double>(rows.count - length) * run / (checked_runs - 1);
    runs.push_back({rows.first + static_cast<std::int64_t>(offset), length});
  }
  return runs;
}

/// Calls report(share, doing) of one phase with its part of the whole.
class Progress {
 public:
  Progress(const PickOptions& options, double from, double to)
      : report_(options.progress), from_(from), to_(to) {}
  void operator()(double share, std::string_view doing) const {
    if (report_) report_(from_ + (to_ - from_) * share, doing);
  }

 private:
  const std::function<void(double, std::string_view)>& report_;
  double from_;
  double to_;
};

void measure_errors(Shape& shape, const PickOptions& options, const ErrorBudget& budget,
                    const Progress& progress) {
  const PickMeasurement& any = shape.front().measured;
  std::vector<const Encoder*> encoders;
  for (const Candidate& each : shape) encoders.push_back(each.encoder.get());
  const std::vector<RowRange> runs = rows_to_check(any.spec, any.rows);
  const std::string doing = format_text("checking {}", any.name);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const auto report = [&](double share) {
      progress((static_cast<double>(run) + share) / static_cast<double>(runs.size()), doing);
    };
    const auto reports =
        measure_accuracy(encoders, runs[run],
                         {.threads = options.threads, .type = options.type, .progress = report});
    for (std::size_t i = 0; i < shape.size(); ++i) {
      PickMeasurement& measured = shape[i].measured;
      measured.max_abs = worst(measured.max_abs, reports[i].error.max_abs);
      measured.max_ulp = worst(measured.max_ulp, reports[i].error.max_ulp);
    }
  }
  for (Candidate& each : shape) each.measured.within_budget = is_within(budget, each.measured);
}

/// Whatever keeps its own bound: who is over this budget may be within another program's. Peers
/// only to be compared.
bool is_timed(const PickMeasurement& measured) {
  return measured.is_peer ? measured.within_budget : measured.keeps_its_bound();
}

std::vector<Candidate*> timed_of(Shape& shape) {
  std::vector<Candidate*> timed;
  for (Candidate& each : shape) {
    if (is_timed(each.measured)) timed.push_back(&each);
  }
  return timed;
}

/// Whether it took so much more time than the fastest within the budget in each of the first
/// processes.
bool is_out(const Candidate& candidate, const std::vector<Candidate*>& timed) {
  const std::vector<double>& seconds = candidate.measured.seconds;
  if (seconds.size() < full_processes || candidate.measured.is_peer) return false;
  for (std::size_t p = 0; p < seconds.size(); ++p) {
    double fastest = seconds[p];
    for (const Candidate* each : timed) {
      if (each->measured.within_budget && !each->measured.is_peer) {
        fastest = std::min(fastest, each->measured.seconds[p]);
      }
    }
    if (seconds[p] < out_of_the_race * fastest) return false;
  }
  return true;
}

/// Which candidate is timed twice in every process: what selection gives without measurements, if
/// it is there.
std::size_t repeated_of(const std::vector<Candidate*>& timed) {
  std::size_t repeated = 0;
  for (std::size_t i = 0; i < timed.size(); ++i) {
    const PickMeasurement& each = timed[i]->measured;
    // The last of them is at the best ISA.
    if (each.within_budget && !each.is_peer && each.backend == "rotation") repeated = i;
  }
  return repeated;
}

TimingRequest request_of(std::vector<Shape>& shapes, const PickOptions& options, int process) {
  TimingRequest request = {.type = options.type,
                           .threads = options.threads,
                           .seconds_per_sample = options.seconds_per_sample,
                           .seed = static_cast<std::uint64_t>(process),
                           .shapes = {}};
  for (Shape& shape : shapes) {
    const std::vector<Candidate*> timed = timed_of(shape);
    if (timed.empty()) continue;
    TimingRequest::Shape& asked = request.shapes.emplace_back();
    asked.spec = shape.front().measured.spec;
    asked.rows = shape.front().measured.rows;
    asked.repeated = repeated_of(timed);
    for (const Candidate* each : timed) {
      const int samples =
          is_out(*each, timed) ? std::min(few_samples, options.samples) : options.samples;
      asked.candidates.push_back({each->measured.full_name(), samples});
    }
  }
  return request;
}

void add_times(std::vector<Shape>& shapes, const TimingRequest& request,
               const TimingResult& result) {
  std::size_t place = 0;
  for (Shape& shape : shapes) {
    const std::vector<Candidate*> timed = timed_of(shape);
    if (timed.empty()) continue;
    const TimingResult::Shape& times = result.shapes.at(place);
    for (std::size_t i = 0; i < timed.size(); ++i) {
      PickMeasurement& measured = timed[i]->measured;
      measured.seconds.push_back(times.seconds.at(i));
      if (i != request.shapes[place].repeated) continue;
      measured.self_ratios.push_back(times.repeated_seconds / times.seconds[i]);
    }
    ++place;
  }
}

std::vector<PickMeasurement> measurements_of(const std::vector<Shape>& shapes) {
  std::vector<PickMeasurement> all;
  for (const Shape& shape : shapes) {
    for (const Candidate& each : shape) all.push_back(each.measured);
  }
  return all;
}

double worst_noise(const std::vector<ShapeDecision>& decisions) {
  double noise = 0;
  for (const ShapeDecision& each : decisions) noise = std::max(noise, each.noise_floor);
  return noise;
}

/// Why the figures are no good; empty if they are.
std::string disturbance(double lost_share, double noise) {
  if (lost_share > most_lost) {
    return format_text(
        "other work runs: {:.0f} % of the timed seconds went without a processor; allowed: {:.0f} "
        "%",
        100 * lost_share, 100 * most_lost);
  }
  if (noise > most_noise) {
    return format_text(
        "other work runs: a backend differs from itself by {:.0f} %; allowed: {:.0f} %",
        100 * noise, 100 * most_noise);
  }
  return "";
}

/// Times processes until a backend is close enough to itself in all of them, and decides.
void time_and_decide(std::vector<Shape>& shapes, const PickOptions& options,
                     const Progress& progress, PickResult& result) {
  const int most = patience * options.processes;
  double timed_seconds = 0, lost_seconds = 0, noise = 0;
  for (int process = 0; process < most; ++process) {
    progress(static_cast<double>(process) / most,
             format_text("timing, process {} of {} to {}", process + 1, options.processes, most));
    const TimingRequest request = request_of(shapes, options, process);
    if (request.shapes.empty()) break;
    const TimingResult times =
        options.time_in_process ? options.time_in_process(request) : time_candidates(request);
    add_times(shapes, request, times);
    timed_seconds += times.timed_seconds;
    lost_seconds += times.lost_seconds;
    result.processes = process + 1;
    if (result.processes < options.processes) continue;
    result.measurements = measurements_of(shapes);
    noise = worst_noise(result.decisions = decide(result.measurements, result.budget));
    if (noise <= calm || lost_seconds > most_lost * timed_seconds) break;
  }
  if (result.measurements.empty()) {
    result.measurements = measurements_of(shapes);
    result.decisions = decide(result.measurements, result.budget);
  }
  result.disturbed = disturbance(timed_seconds > 0 ? lost_seconds / timed_seconds : 0, noise);
}

}  // namespace

std::vector<PickShape> default_pick_shapes(DataType type) {
  const EncodingSpec paper, halves = {.layout = Layout::halves, .spacing = Spacing::inclusive};
  const auto named = [](EncodingSpec spec, std::int64_t rows, std::int64_t d_model) {
    spec.d_model = d_model;
    return PickShape{format_text("{}x{}", rows, d_model), spec, {0, rows}};
  };
  std::vector<PickShape> shapes = {
      named(paper, 8, 512),      named({.layout = Layout::halves_cos_first}, 1000, 320),
      named(halves, 512, 512),   named(halves, 1024, 1024),
      named(halves, 1500, 1280), named(paper, 5000, 512),
      named(paper, 131072, 128),
  };
  // The last lies in memory, whatever the caches: up to 1 GiB.
  constexpr std::int64_t wide = 4096, most_bytes = std::int64_t{1} << 30;
  std::int64_t rows = 8192;
  const auto bytes = [&] { return rows * wide * size_of(type); };
  while (shape_class(bytes()) != ShapeClass::memory && 2 * bytes() <= most_bytes) rows *= 2;
  shapes.push_back(named(paper, rows, wide));
  return shapes;
}

PickResult pick(const PickOptions& options) {
  check(options);
  PickResult result;
  result.budget = options.budget.value_or(default_budget(options.type));
  std::vector<Shape> shapes;
  for (const PickShape& each :
       options.shapes.empty() ? default_pick_shapes(options.type) : options.shapes) {
    if (Shape planned = plan_candidates(each, options.type); !planned.empty())
      shapes.push_back(std::move(planned));
  }
  const auto part = [&](std::size_t i) {
    return accuracy_share * static_cast<double>(i) / static_cast<double>(shapes.size());
  };
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    measure_errors(shapes[i], options, result.budget, {options, part(i), part(i + 1)});
    for (Candidate& each : shapes[i]) each.encoder.reset();
  }
  time_and_decide(shapes, options, {options, accuracy_share, 1}, result);
  if (options.progress) options.progress(1, "done");
  result.profile = profile_of_this_machine();
  result.profile.classes =
      measured_classes(result.measurements, result.decisions, options.type, options.threads);
  return result;
}

}  // namespace posenc
