#include "posenc/tuning/pick.h"

#include "posenc/encoder.h"
#include "posenc/registry.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"
#include "posenc/support/statistics.h"
#include "posenc/tuning/accuracy.h"
#include "posenc/tuning/internal/class_candidate.h"
#include "posenc/tuning/internal/process_times.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace posenc {
namespace {

/// Entries of a shape that are compared with the reference, in runs spread over its rows. They
/// cover every channel and the whole range of positions in a fraction of a second. Between the
/// runs, the encoder's error bound is proven.
constexpr std::int64_t max_checked_entries = std::int64_t{1} << 19;
constexpr std::int64_t checked_runs = 16;

/// Share of the progress that measuring the errors takes.
constexpr double accuracy_share = 0.3;

using ReportProgress = std::function<void(double share, std::string_view doing)>;

/// Reports the progress of a part of the work, from share `from` to share `to`.
ReportProgress part_of(const ReportProgress& whole, double from, double to) {
  return [&whole, from, to](double share, std::string_view doing) {
    if (whole) whole(from + (to - from) * share, doing);
  };
}

void check_store_sizes(const PickOptions& options) {
  constexpr std::int64_t least = MeasuredStores::least_bytes, most = MeasuredStores::most_bytes;
  for (const std::int64_t bytes : options.store_sizes) {
    if (bytes >= least && bytes <= most) continue;
    throw InvalidArgument(format_text("store_sizes has {}; allowed: {} to {}", bytes, least, most));
  }
  const bool allows_any = options.type == DataType::float32 && options.threads == 1;
  if (allows_any || options.store_sizes.empty()) return;
  throw InvalidArgument(
      format_text("store_sizes has {} sizes; allowed with {} and threads {}: none",
                  options.store_sizes.size(), to_string(options.type), options.threads));
}

void check(const PickOptions& options) {
  if (options.budget) validate(*options.budget);
  check_threads(options.threads);
  check_at_least_one("processes", options.processes);
  check_at_least_one("samples", options.samples);
  check_positive("seconds_per_sample", options.seconds_per_sample);
  check_store_sizes(options);
  for (const PickShape& each : options.shapes) {
    validate(each.spec);
    validate(each.rows);
    if (each.rows.count == 0)
      throw InvalidArgument(format_text("{} has 0 rows; allowed: at least 1", each.name));
  }
}

/// The methods that selection takes without measurements, each at its best ISA.
std::vector<MeasuredStores> stores_to_compare(const std::vector<std::int64_t>& sizes) {
  std::vector<MeasuredStores> stores;
  for (const std::int64_t bytes : sizes) {
    for (const char* const method : {"rotation", "rotation32"}) {
      MeasuredStores& each = stores.emplace_back();
      each.backend = backend(method).full_name();
      each.bytes = bytes;
    }
  }
  return stores;
}

/// True if the backend runs here. Peers are measured only at their best ISA.
bool is_measured(const Backend& backend) {
  return backend.runs_here() &&
         (backend.can_be_picked() || &posenc::backend(backend.name()) == &backend);
}

/// All rows if they are few; else evenly spread runs of equal length, which include the first and
/// the last row.
std::vector<RowRange> rows_to_check(const EncodingSpec& spec, RowRange rows) {
  const std::int64_t affordable =
      std::max<std::int64_t>(max_checked_entries / spec.d_model, checked_runs);
  if (rows.count <= affordable) return {rows};
  const std::int64_t length = affordable / checked_runs;
  std::vector<RowRange> runs;
  for (std::int64_t run = 0; run < checked_runs; ++run) {
    static_assert(checked_runs <= std::numeric_limits<std::int64_t>::max() / (max_position + 1));
    const std::int64_t offset = (rows.count - length) * run / (checked_runs - 1);
    runs.push_back({rows.first + offset, length});
  }
  return runs;
}

PickMeasurement unmeasured(const Encoder& encoder, bool is_peer, const PickShape& shape,
                           DataType type) {
  PickMeasurement added;
  added.backend = encoder.backend();
  added.isa = encoder.isa();
  added.is_peer = is_peer;
  added.name = shape.name;
  added.spec = shape.spec;
  added.rows = shape.rows;
  added.shape = shape_class(table_bytes(shape.spec, shape.rows.count, size_of(type)));
  added.error_bound = encoder.error_bound(shape.rows, type);
  return added;
}

/// The errors of every backend that can write the type, not timed yet.
std::vector<PickMeasurement> measure_errors(const PickShape& shape, const PickOptions& options,
                                            const ErrorBudget& budget,
                                            const ReportProgress& progress) {
  std::vector<std::unique_ptr<const Encoder>> planned;
  std::vector<const Encoder*> encoders;
  std::vector<PickMeasurement> measurements;
  for (const Backend* each : backends()) {
    if (!is_measured(*each)) continue;
    auto encoder = each->plan(shape.spec);
    if (!encoder->supports(options.type)) continue;
    measurements.push_back(unmeasured(*encoder, !each->can_be_picked(), shape, options.type));
    encoders.push_back(planned.emplace_back(std::move(encoder)).get());
  }
  const std::vector<RowRange> runs = rows_to_check(shape.spec, shape.rows);
  const std::string doing = format_text("checking {}", shape.name);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const auto report = [&](double share) {
      progress((static_cast<double>(run) + share) / static_cast<double>(runs.size()), doing);
    };
    const auto reports =
        measure_accuracy(encoders, runs[run],
                         {.threads = options.threads, .type = options.type, .progress = report});
    for (std::size_t i = 0; i < measurements.size(); ++i) {
      measurements[i].max_abs = worst(measurements[i].max_abs, reports[i].error.max_abs);
      measurements[i].max_ulp = worst(measurements[i].max_ulp, reports[i].error.max_ulp);
    }
  }
  for (PickMeasurement& each : measurements) each.within_budget = is_within(budget, each);
  return measurements;
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
  // The last table is larger than the caches, but at most 1 GiB.
  constexpr std::int64_t wide = 4096, most_bytes = std::int64_t{1} << 30;
  std::int64_t rows = 8192;
  const auto bytes = [&] { return rows * wide * size_of(type); };
  while (shape_class(bytes()) != ShapeClass::memory && 2 * bytes() <= most_bytes) rows *= 2;
  shapes.push_back(named(paper, rows, wide));
  return shapes;
}

std::vector<std::int64_t> default_store_sizes() {
  constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
  return {1 * mebibyte,  2 * mebibyte,  4 * mebibyte,  8 * mebibyte,
          12 * mebibyte, 16 * mebibyte, 24 * mebibyte, 32 * mebibyte};
}

PickResult pick(const PickOptions& options) {
  check(options);
  PickResult result;
  result.budget = options.budget.value_or(default_budget(options.type));
  const std::vector<PickShape> shapes =
      options.shapes.empty() ? default_pick_shapes(options.type) : options.shapes;
  const auto share = [&](std::size_t i) {
    return accuracy_share * static_cast<double>(i) / static_cast<double>(shapes.size());
  };
  std::vector<std::vector<PickMeasurement>> measurements;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    measurements.push_back(measure_errors(shapes[i], options, result.budget,
                                          part_of(options.progress, share(i), share(i + 1))));
  }
  result.stores = stores_to_compare(options.store_sizes);
  time_and_decide(measurements, options, part_of(options.progress, accuracy_share, 1), result);
  if (options.progress) options.progress(1, "done");
  result.profile = profile_of_this_machine();
  result.profile.classes =
      measured_classes(result.measurements, result.decisions, options.type, options.threads);
  result.profile.stores = result.stores;
  return result;
}

}  // namespace posenc
