#include "posenc/pick.h"

#include "posenc/accuracy.h"
#include "posenc/pick_decision.h"
#include "posenc/statistics.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <utility>

namespace posenc {
namespace {

/// Entries of a shape that are checked against the reference, in runs spread over its rows: enough for every channel
/// and the whole span of positions, in a fraction of a second. Between the runs the encoder's proven bound stands.
constexpr std::int64_t max_checked_entries = std::int64_t{1} << 19;
constexpr std::int64_t checked_runs = 16;

/// At this multiple of the fastest's time no noise turns the order, and few samples are enough to show the figure.
constexpr double hopeless = 4.0;
constexpr int hopeless_repetitions = 3;

/// A shape is timed on, for so many times the repetitions, while a backend differs from itself by more than this.
constexpr double calm = 0.03;
constexpr int patience = 3;

/// Shares of the work, for the progress.
constexpr double accuracy_share = 0.4;

/// One backend on one shape.
struct Candidate {
  PickMeasurement measured;
  std::unique_ptr<const Encoder> encoder;
  std::vector<double> repeated;  ///< seconds per table of the fastest, timed once more in every repetition
  std::int64_t tables_per_sample = 1;
  int repetitions = 0;
};

/// All candidates of one preset.
using Shape = std::vector<Candidate>;

void check(const PickOptions& options) {
  const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
  validate(options.budget);
  if (options.presets.empty()) throw InvalidArgument("presets is empty; allowed: at least one shape to time");
  if (options.threads < 1) throw InvalidArgument(format_text("threads is {}; allowed: at least 1", options.threads));
  if (options.repetitions < 1) {
    throw InvalidArgument(format_text("repetitions is {}; allowed: at least 1", options.repetitions));
  }
  if (!positive(options.seconds_per_sample)) {
    throw InvalidArgument(
        format_text("seconds_per_sample is {}; allowed: finite and greater than 0", options.seconds_per_sample));
  }
  for (const Preset& each : options.presets) {
    validate(each.spec);
    validate(each.rows);
    if (each.rows.count == 0)
      throw InvalidArgument(format_text("preset {} has 0 rows; allowed: at least 1", each.name));
  }
}

/// Backends for comparison only are measured as well, at their best ISA alone: they win nothing.
bool is_measured(const Backend& backend) {
  return backend.runs_here() && (backend.can_be_picked() || &posenc::backend(backend.name()) == &backend);
}

Shape plan_candidates(const Preset& preset, DataType type) {
  Shape shape;
  for (const Backend* each : backends()) {
    if (!is_measured(*each)) continue;
    auto encoder = each->plan(preset.spec);
    if (!encoder->writes(type)) continue;
    Candidate& added = shape.emplace_back();
    added.encoder = std::move(encoder);
    added.measured.backend = each->name();
    added.measured.isa = each->isa();
    added.measured.is_peer = !each->can_be_picked();
    added.measured.preset = preset.name;
    added.measured.spec = preset.spec;
    added.measured.rows = preset.rows;
    added.measured.shape = shape_class(table_bytes(preset.spec, preset.rows.count, size_of(type)));
    added.measured.error_bound = added.encoder->error_bound(preset.rows, type);
  }
  return shape;
}

/// All rows where they are few, else runs of equal length, evenly spread, the first and the last row among them.
std::vector<RowRange> rows_to_check(const EncodingSpec& spec, RowRange rows) {
  const std::int64_t affordable = std::max<std::int64_t>(max_checked_entries / spec.d_model, checked_runs);
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
  Progress(const PickOptions& options, double from, double to) : report_(options.progress), from_(from), to_(to) {}
  void operator()(double share, std::string_view doing) const {
    if (report_) report_(from_ + (to_ - from_) * share, doing);
  }

 private:
  const std::function<void(double, std::string_view)>& report_;
  double from_;
  double to_;
};

void measure_errors(Shape& shape, const PickOptions& options, const Progress& progress) {
  const PickMeasurement& any = shape.front().measured;
  std::vector<const Encoder*> encoders;
  for (const Candidate& each : shape) encoders.push_back(each.encoder.get());
  const std::vector<RowRange> runs = rows_to_check(any.spec, any.rows);
  const std::string doing = format_text("checking {}", any.preset);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const auto report = [&](double share) {
      progress((static_cast<double>(run) + share) / static_cast<double>(runs.size()), doing);
    };
    const auto reports =
        measure_accuracy(encoders, runs[run], {.threads = options.threads, .type = options.type, .progress = report});
    for (std::size_t i = 0; i < shape.size(); ++i) {
      PickMeasurement& measured = shape[i].measured;
      measured.max_abs = worst(measured.max_abs, reports[i].error.max_abs);
      measured.max_ulp = worst(measured.max_ulp, reports[i].error.max_ulp);
    }
  }
  for (Candidate& each : shape) each.measured.within_budget = is_within(options.budget, each.measured);
}

/// Seconds a table over so many tables one after the other.
double time_tables(const Candidate& candidate, std::int64_t tables, const OutputView& out, int threads) {
  using Clock = std::chrono::steady_clock;
  const RowRange rows = candidate.measured.rows;
  const auto start = Clock::now();
  for (std::int64_t table = 0; table < tables; ++table) candidate.encoder->encode(rows, out, threads);
  return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(tables);
}

/// Warms caches, page tables, threads and clocks, and finds how many tables fill a sample. Returns seconds per table.
double warm_up(Candidate& candidate, const PickOptions& options, const OutputView& out) {
  double seconds = time_tables(candidate, 1, out, options.threads);
  std::int64_t tables = 1;
  while (seconds * static_cast<double>(tables) < options.seconds_per_sample) {
    tables *= 2;
    seconds = time_tables(candidate, tables, out, options.threads);
  }
  const double wanted = options.seconds_per_sample / seconds;
  candidate.tables_per_sample = std::max<std::int64_t>(1, std::llround(wanted));
  return seconds;
}

/// Memory for a table of the shape, touched: the first touch is not any candidate's to pay.
class Table {
 public:
  Table(const PickMeasurement& shape, DataType type)
      : memory_(table_bytes(shape.spec, shape.rows.count, size_of(type)) / size_of(DataType::float32) + 1, 1) {
    std::fill_n(memory_.data(), memory_.rows(), 0.0f);
    view_ = with_type(type, [&]<class T>(T) {
      return OutputView(reinterpret_cast<T*>(memory_.data()), shape.rows.count, shape.spec.d_model, shape.spec.d_model);
    });
  }
  const OutputView& view() const { return *view_; }

 private:
  Matrix memory_;
  std::optional<OutputView> view_;
};

/// One place in the turns of a repetition: a candidate, and where its samples go.
struct Turn {
  Candidate* candidate;
  std::vector<double>* samples;
};

/// Every candidate once a repetition, and the fastest twice, as if it were two: what differs between these is noise.
std::vector<Turn> turns_of(std::vector<Candidate*>& order, const PickOptions& options, const OutputView& out) {
  std::vector<double> warm_seconds;
  std::size_t fastest = 0;  // of those that may win, where there is one
  for (std::size_t i = 0; i < order.size(); ++i) {
    warm_seconds.push_back(warm_up(*order[i], options, out));
    const bool is_peer = order[i]->measured.is_peer, was_peer = order[fastest]->measured.is_peer;
    if (is_peer == was_peer ? warm_seconds[i] < warm_seconds[fastest] : was_peer) fastest = i;
  }
  std::vector<Turn> turns;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool is_hopeless = warm_seconds[i] > hopeless * warm_seconds[fastest];
    order[i]->repetitions =
        is_hopeless ? std::min(hopeless_repetitions, options.repetitions) : patience * options.repetitions;
    turns.push_back({order[i], &order[i]->measured.seconds});
  }
  Candidate* first = order[fastest];
  turns.push_back({first, &first->repeated});
  return turns;
}

std::vector<double> self_ratios(const Candidate& candidate) {
  std::vector<double> ratios;
  std::ranges::transform(candidate.repeated, candidate.measured.seconds, std::back_inserter(ratios), std::divides());
  return ratios;
}

bool is_calm(const std::vector<Candidate*>& order) {
  return std::ranges::all_of(
      order, [](const Candidate* each) { return each->repeated.empty() || self_noise(self_ratios(*each)) <= calm; });
}

/// All candidates of a shape in turns, in a new random order every time: a slow phase of the machine hits all alike.
void time_candidates(Shape& shape, const PickOptions& options, const Progress& progress) {
  std::vector<Candidate*> order;
  for (Candidate& each : shape) {
    if (each.measured.within_budget) order.push_back(&each);
  }
  if (order.empty()) return;
  const Table table(order.front()->measured, options.type);
  const std::string doing = format_text("timing {}", order.front()->measured.preset);
  progress(0, doing);
  std::vector<Turn> turns = turns_of(order, options, table.view());
  std::mt19937 random(20170612);  // any fixed number: runs are repeatable
  const int most = patience * options.repetitions;
  for (int repetition = 0; repetition < most; ++repetition) {
    if (repetition >= options.repetitions && is_calm(order)) break;
    std::shuffle(turns.begin(), turns.end(), random);
    for (const Turn& turn : turns) {
      const Candidate& timed = *turn.candidate;
      if (repetition >= timed.repetitions) continue;
      turn.samples->push_back(time_tables(timed, timed.tables_per_sample, table.view(), options.threads));
    }
    progress((repetition + 1.0) / most, doing);
  }
  for (Candidate* each : order) each->measured.self_ratios = self_ratios(*each);
}

}  // namespace

PickResult pick(const PickOptions& options) {
  check(options);
  std::vector<Shape> shapes;
  for (const Preset& each : options.presets) {
    if (Shape planned = plan_candidates(each, options.type); !planned.empty()) shapes.push_back(std::move(planned));
  }
  const auto part = [&](std::size_t i) { return static_cast<double>(i) / static_cast<double>(shapes.size()); };
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    measure_errors(shapes[i], options, {options, accuracy_share * part(i), accuracy_share * part(i + 1)});
  }
  const auto timing_part = [&](std::size_t i) { return accuracy_share + (1 - accuracy_share) * part(i); };
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    time_candidates(shapes[i], options, {options, timing_part(i), timing_part(i + 1)});
  }

  PickResult result;
  result.profile = profile_of_this_machine();
  for (Shape& shape : shapes) {
    for (Candidate& each : shape) result.measurements.push_back(std::move(each.measured));
  }
  result.decisions = decide(result.measurements, options.budget, options.type, options.threads);
  result.profile.picks = picks_of(result.decisions);
  return result;
}

}  // namespace posenc
