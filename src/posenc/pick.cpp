#include "posenc/pick.h"

#include "posenc/accuracy.h"
#include "posenc/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <utility>

namespace posenc {
namespace {

/// Entries of a shape that are checked against the reference, in runs spread over its rows: enough for every channel
/// and the whole span of positions, in a fraction of a second. Between the runs the encoder's proven bound stands.
constexpr std::int64_t max_checked_entries = std::int64_t{1} << 19;
constexpr std::int64_t checked_runs = 16;

/// Medians closer than this are a tie whatever the samples say: smaller than what code placement alone moves.
constexpr double indistinguishable = 1.02;

/// The price that simplicity may have, at the far end of the confidence interval: where noise hides more than that,
/// being simpler is no reason to be picked over the fastest.
constexpr double acceptable = 1.1;

/// At this multiple of the fastest's time no noise turns the order, and few samples are enough to show the figure.
constexpr double hopeless = 4.0;
constexpr int hopeless_repetitions = 3;

/// Shares of the work, for the progress.
constexpr double accuracy_share = 0.4;

/// One backend on one shape.
struct Candidate {
  PickMeasurement measured;
  std::unique_ptr<const Encoder> encoder;
  std::int64_t tables_per_sample = 1;
  int repetitions = 0;
};

/// All candidates of one preset.
using Shape = std::vector<Candidate>;

void check(const PickOptions& options) {
  const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
  if (!positive(options.max_error)) {
    throw InvalidArgument(fmt::format("max_error is {}; allowed: finite and greater than 0", options.max_error));
  }
  if (options.presets.empty()) throw InvalidArgument("presets is empty; allowed: at least one shape to time");
  if (options.threads < 1) throw InvalidArgument(fmt::format("threads is {}; allowed: at least 1", options.threads));
  if (options.repetitions < 1) {
    throw InvalidArgument(fmt::format("repetitions is {}; allowed: at least 1", options.repetitions));
  }
  if (!positive(options.seconds_per_sample)) {
    throw InvalidArgument(
        fmt::format("seconds_per_sample is {}; allowed: finite and greater than 0", options.seconds_per_sample));
  }
  for (const Preset& each : options.presets) {
    validate(each.spec);
    validate(each.rows);
    if (each.rows.count == 0)
      throw InvalidArgument(fmt::format("preset {} has 0 rows; allowed: at least 1", each.name));
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
    added.measured.backend = each;
    added.measured.preset = preset;
    added.measured.shape = shape_class(table_bytes(preset.spec, preset.rows.count, size_of(type)));
    added.measured.error_bound = added.encoder->error_bound(preset.rows, type);
  }
  return shape;
}

/// All rows where they are few, else runs of equal length, evenly spread, the first and the last row among them.
std::vector<RowRange> rows_to_check(const Preset& preset) {
  const RowRange rows = preset.rows;
  const std::int64_t affordable = std::max<std::int64_t>(max_checked_entries / preset.spec.d_model, checked_runs);
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
  const Preset& preset = shape.front().measured.preset;
  std::vector<const Encoder*> encoders;
  for (const Candidate& each : shape) encoders.push_back(each.encoder.get());
  const std::vector<RowRange> runs = rows_to_check(preset);
  const std::string doing = fmt::format("checking {}", preset.name);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const auto report = [&](double share) {
      progress((static_cast<double>(run) + share) / static_cast<double>(runs.size()), doing);
    };
    const auto reports =
        measure_accuracy(encoders, runs[run], {.threads = options.threads, .type = options.type, .progress = report});
    for (std::size_t i = 0; i < shape.size(); ++i) {
      double& worst = shape[i].measured.max_abs;
      const double found = reports[i].error.max_abs;
      if (found > worst || std::isnan(found)) worst = found;  // a NaN stays, and fails every budget
    }
  }
  for (Candidate& each : shape) {
    PickMeasurement& measured = each.measured;
    measured.within_budget = measured.max_abs <= measured.error_bound && measured.error_bound <= options.max_error;
  }
}

/// Seconds a table over so many tables one after the other.
double time_tables(const Candidate& candidate, std::int64_t tables, const OutputView& out, int threads) {
  using Clock = std::chrono::steady_clock;
  const RowRange rows = candidate.measured.preset.rows;
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

/// All candidates of a shape in turns, in a new random order every time: a slow phase of the machine hits all alike.
void time_candidates(Shape& shape, const PickOptions& options, const Progress& progress) {
  std::vector<Candidate*> order;
  for (Candidate& each : shape) {
    if (each.measured.within_budget) order.push_back(&each);
  }
  if (order.empty()) return;
  const Preset& preset = order.front()->measured.preset;
  Matrix memory(table_bytes(preset.spec, preset.rows.count, size_of(options.type)) / size_of(DataType::float32) + 1, 1);
  std::fill_n(memory.data(), memory.rows(), 0.0f);  // the first touch is not any candidate's to pay
  const OutputView table = with_type(options.type, [&]<class T>(T) {
    return OutputView(reinterpret_cast<T*>(memory.data()), preset.rows.count, preset.spec.d_model, preset.spec.d_model);
  });

  const std::string doing = fmt::format("timing {}", preset.name);
  progress(0, doing);
  double fastest = std::numeric_limits<double>::infinity();
  std::vector<double> warm_seconds;
  for (Candidate* each : order) {
    warm_seconds.push_back(warm_up(*each, options, table));
    if (each->measured.backend->can_be_picked()) fastest = std::min(fastest, warm_seconds.back());
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool is_hopeless = warm_seconds[i] > hopeless * fastest;
    order[i]->repetitions = is_hopeless ? std::min(hopeless_repetitions, options.repetitions) : options.repetitions;
  }

  std::mt19937 random(20170612);  // any fixed number: runs are repeatable
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    std::shuffle(order.begin(), order.end(), random);
    for (Candidate* each : order) {
      if (repetition >= each->repetitions) continue;
      each->measured.seconds.push_back(time_tables(*each, each->tables_per_sample, table, options.threads));
    }
    progress((repetition + 1.0) / options.repetitions, doing);
  }
  for (Candidate* each : order) {
    each->measured.median_seconds = median(each->measured.seconds);
    each->measured.spread = relative_spread(each->measured.seconds);
  }
}

/// One backend over all shapes of a class.
struct Contender {
  std::vector<PickMeasurement*> measurements;
  std::vector<double> scores;  ///< per repetition: geometric mean over the shapes of seconds per entry
  double score = 0;            ///< their median

  const Backend& backend() const { return *measurements.front()->backend; }
  bool may_win() const {
    return backend().can_be_picked() &&
           std::ranges::all_of(measurements, [](const PickMeasurement* each) { return each->within_budget; });
  }
};

double entries(const PickMeasurement& measured) {
  return static_cast<double>(measured.preset.rows.count) * static_cast<double>(measured.preset.spec.d_model);
}

template <class Value>
double geometric_mean(const std::vector<PickMeasurement*>& measurements, Value value) {
  double sum = 0;
  for (const PickMeasurement* each : measurements) sum += std::log(value(*each));
  return std::exp(sum / static_cast<double>(measurements.size()));
}

void score(Contender& contender) {
  std::size_t repetitions = std::numeric_limits<std::size_t>::max();
  for (const PickMeasurement* each : contender.measurements) repetitions = std::min(repetitions, each->seconds.size());
  for (std::size_t r = 0; r < repetitions; ++r) {
    const auto seconds_per_entry = [r](const PickMeasurement& each) { return each.seconds[r] / entries(each); };
    contender.scores.push_back(geometric_mean(contender.measurements, seconds_per_entry));
  }
  contender.score = median(contender.scores);
}

/// How many times slower than the fastest, paired by repetition, where both met the same noise.
struct Slowdown {
  double ratio = 1;         ///< the median
  Interval interval{1, 1};  ///< of the median, 95 %

  /// A tie unless surely, and noticeably, slower.
  bool is_tie() const { return ratio <= indistinguishable || interval.low <= 1; }
  bool costs_little() const { return ratio <= indistinguishable || interval.high <= acceptable; }
};

Slowdown slowdown(const Contender& slower, const Contender& fastest) {
  std::vector<double> ratios;
  for (std::size_t r = 0; r < std::min(slower.scores.size(), fastest.scores.size()); ++r) {
    ratios.push_back(slower.scores[r] / fastest.scores[r]);
  }
  return {median(ratios), median_interval(ratios)};
}

/// Contenders of a class in order of registration, those that may not win left out.
std::vector<Contender> contenders_of(ShapeClass shape, std::vector<PickMeasurement>& measurements) {
  std::vector<Contender> all;
  for (PickMeasurement& each : measurements) {
    if (each.shape != shape) continue;
    const auto same = [&](const Contender& other) { return &other.backend() == each.backend; };
    const auto found = std::ranges::find_if(all, same);
    (found == all.end() ? all.emplace_back() : *found).measurements.push_back(&each);
  }
  std::erase_if(all, [](const Contender& each) { return !each.may_win(); });
  for (Contender& each : all) score(each);
  return all;
}

ProfilePick describe(const Contender& picked, const std::vector<const Contender*>& tied, const PickOptions& options) {
  ProfilePick pick;
  pick.shape = picked.measurements.front()->shape;
  pick.type = options.type;
  pick.threads = options.threads;
  pick.backend = picked.backend().name();
  pick.isa = picked.backend().isa();
  for (const Contender* each : tied) {
    if (each != &picked) pick.ties.push_back(each->backend().full_name());
  }
  const auto rate = [](const PickMeasurement& each) { return entries(each) / each.median_seconds; };
  pick.gfloats_per_second = geometric_mean(picked.measurements, rate) / 1e9;
  for (const PickMeasurement* each : picked.measurements) {
    pick.spread = std::max(pick.spread, each->spread);
    pick.max_abs = std::max(pick.max_abs, each->max_abs);
    pick.shapes.emplace_back(each->preset.name);
  }
  pick.max_error = options.max_error;
  return pick;
}

/// Among the tied, the simplest method (the first registered) that costs little, and of that the fastest ISA. Nothing
/// where none may win.
void decide(ShapeClass shape, PickResult& result, const PickOptions& options) {
  const std::vector<Contender> all = contenders_of(shape, result.measurements);
  if (all.empty()) return;
  const Contender& fastest = *std::ranges::min_element(all, {}, &Contender::score);
  std::vector<const Contender*> tied;
  const Contender* picked = nullptr;
  for (const Contender& each : all) {
    const Slowdown slower = &each == &fastest ? Slowdown{} : slowdown(each, fastest);
    if (!slower.is_tie()) continue;
    tied.push_back(&each);
    if (picked == nullptr && slower.costs_little()) picked = &each;
  }
  for (const Contender* each : tied) {
    if (each->backend().name() == picked->backend().name() && each->score < picked->score) picked = each;
  }
  for (const Contender* each : tied) {
    for (PickMeasurement* measured : each->measurements) measured->tied = tied.size() > 1;
  }
  for (PickMeasurement* measured : picked->measurements) measured->picked = true;
  result.profile.picks.push_back(describe(*picked, tied, options));
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
  for (const ShapeClass shape : {ShapeClass::l1, ShapeClass::l2, ShapeClass::l3, ShapeClass::memory}) {
    decide(shape, result, options);
  }
  return result;
}

}  // namespace posenc
