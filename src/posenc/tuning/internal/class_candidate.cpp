#include "posenc/tuning/internal/class_candidate.h"

#include "posenc/support/statistics.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <utility>

namespace posenc {
namespace {

/// For each process, the geometric mean of value(measurement, process) over the shapes. Processes
/// that `samples` lacks for a shape are left out.
template <class Value>
std::vector<double> means_by_process(const std::vector<const PickMeasurement*>& measurements,
                                     std::vector<double> PickMeasurement::*samples, Value value) {
  std::size_t processes = std::numeric_limits<std::size_t>::max();
  for (const PickMeasurement* each : measurements) {
    processes = std::min(processes, (each->*samples).size());
  }
  std::vector<double> means;
  for (std::size_t process = 0; process < processes; ++process) {
    double sum = 0;
    for (const PickMeasurement* each : measurements) sum += std::log(value(*each, process));
    means.push_back(std::exp(sum / static_cast<double>(measurements.size())));
  }
  return means;
}

std::vector<double> seconds_per_entry(const std::vector<const PickMeasurement*>& measurements) {
  return means_by_process(measurements, &PickMeasurement::seconds,
                          [](const PickMeasurement& each, std::size_t process) {
                            return each.seconds[process] / (static_cast<double>(each.rows.count) *
                                                            static_cast<double>(each.spec.d_model));
                          });
}

std::vector<double> self_ratios(const std::vector<const PickMeasurement*>& measurements) {
  return means_by_process(
      measurements, &PickMeasurement::self_ratios,
      [](const PickMeasurement& each, std::size_t process) { return each.self_ratios[process]; });
}

/// For each process, the median factor by which the other candidates were slower than usual.
/// Pairing by process cancels this factor, so that it is not noise.
std::vector<double> common_factors(const ClassCandidate& one,
                                   const std::vector<ClassCandidate>& all) {
  std::vector<double> factors(one.seconds_per_entry.size(), 1.0);
  for (std::size_t process = 0; process < factors.size(); ++process) {
    std::vector<double> slower;
    for (const ClassCandidate& other : all) {
      const std::vector<double>& seconds = other.seconds_per_entry;
      if (&other == &one || seconds.size() != factors.size()) continue;
      slower.push_back(seconds[process] / median(seconds));
    }
    if (!slower.empty()) factors[process] = median(slower);
  }
  return factors;
}

MeasuredBackend measured_backend(const ClassCandidate& candidate) {
  MeasuredBackend measured = {.backend = candidate.any().backend,
                              .isa = candidate.any().isa,
                              .seconds_per_entry = candidate.seconds_per_entry};
  for (const PickMeasurement* each : candidate.measurements) {
    measured.max_abs = worst(measured.max_abs, each->max_abs);
    measured.max_ulp = worst(measured.max_ulp, each->max_ulp);
    measured.error_bound = worst(measured.error_bound, each->error_bound);
  }
  return measured;
}

/// The time now in UTC, as ISO 8601.
std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&seconds, &parts);
  char text[sizeof "2017-06-12T17:57:34Z"];
  std::strftime(text, sizeof text, "%FT%TZ", &parts);
  return text;
}

}  // namespace

bool ClassCandidate::within_budget() const {
  return std::ranges::all_of(measurements, [](const auto* each) { return each->within_budget; });
}

std::vector<ClassCandidate> candidates_of(ShapeClass shape,
                                          const std::vector<PickMeasurement>& measurements) {
  std::vector<ClassCandidate> all;
  for (const PickMeasurement& each : measurements) {
    if (each.shape != shape) continue;
    const auto same = [&](const ClassCandidate& other) {
      return other.any().full_name() == each.full_name();
    };
    const auto found = std::ranges::find_if(all, same);
    (found == all.end() ? all.emplace_back() : *found).measurements.push_back(&each);
  }
  // If results of several builds are combined, a backend may lack some shapes.
  std::size_t shapes = 0;
  for (const ClassCandidate& each : all) shapes = std::max(shapes, each.measurements.size());
  for (ClassCandidate& each : all) {
    const auto same_method = [&](const ClassCandidate& other) {
      return other.any().backend == each.any().backend;
    };
    each.method = static_cast<std::size_t>(std::ranges::find_if(all, same_method) - all.begin());
    if (each.measurements.size() < shapes) continue;
    each.seconds_per_entry = seconds_per_entry(each.measurements);
    each.may_be_picked =
        !each.seconds_per_entry.empty() && each.within_budget() && !each.any().is_peer;
  }
  return all;
}

double noise_floor_of(const std::vector<ClassCandidate>& candidates) {
  std::vector<std::vector<double>> ratios;
  for (const ClassCandidate& each : candidates) {
    if (each.seconds_per_entry.empty() || each.any().self_ratios.empty()) continue;
    ratios.push_back(self_ratios(each.measurements));
    std::vector<double> seconds = each.seconds_per_entry;
    const std::vector<double> common = common_factors(each, candidates);
    for (std::size_t process = 0; process < seconds.size(); ++process) {
      seconds[process] /= common[process];
    }
    ratios.push_back(ratios_of_successive(seconds));
  }
  return noise_floor_of(ratios);
}

std::vector<MeasuredClass> measured_classes(const std::vector<PickMeasurement>& measurements,
                                            const std::vector<ClassDecision>& decisions,
                                            DataType type, int threads) {
  std::vector<MeasuredClass> classes;
  for (const ClassDecision& decision : decisions) {
    MeasuredClass measured = {.shape = decision.shape,
                              .type = type,
                              .threads = threads,
                              .measured_at = now(),
                              .shapes = {},
                              .noise_floor = decision.noise_floor,
                              .backends = {}};
    for (const ClassCandidate& each : candidates_of(decision.shape, measurements)) {
      if (each.seconds_per_entry.empty() || each.any().is_peer) continue;
      if (measured.backends.empty()) {
        for (const PickMeasurement* one : each.measurements) measured.shapes.push_back(one->name);
      }
      measured.backends.push_back(measured_backend(each));
    }
    if (!measured.backends.empty()) classes.push_back(std::move(measured));
  }
  return classes;
}

}  // namespace posenc
