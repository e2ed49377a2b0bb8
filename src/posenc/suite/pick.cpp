#include "posenc/suite/pick.h"

#include "posenc/suite/statistics.h"
#include "posenc/suite/ties.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace posenc::suite {
namespace {

/// The rows of one backend on the tables of one class.
using RowsOfBackend = std::vector<const Measurement*>;

bool is_of_a_class(const Measurement& row) {
  return row.role != Role::limit && row.table.stores == StorePolicy::automatic &&
         row.table.stride == row.table.spec.d_model;
}

/// For each process, the geometric mean over the rows of a sample divided by `divisor(row)`. A
/// process is left out if `samples` lacks it for any row.
template <class Divisor>
std::vector<double> means_by_process(const RowsOfBackend& rows,
                                     std::vector<double> Measurement::*samples, Divisor divisor) {
  std::size_t processes = std::numeric_limits<std::size_t>::max();
  for (const Measurement* row : rows) processes = std::min(processes, (row->*samples).size());
  std::vector<double> means;
  for (std::size_t process = 0; process < processes; ++process) {
    double sum = 0;
    for (const Measurement* row : rows)
      sum += std::log((row->*samples)[process] / divisor(row->table));
    means.push_back(std::exp(sum / static_cast<double>(rows.size())));
  }
  return means;
}

Candidate candidate_of(const RowsOfBackend& rows, std::size_t tables) {
  Candidate candidate;
  static_cast<MeasuredBackend&>(candidate) = *rows.front();
  candidate.promise = {0, 0, true};
  for (const Measurement* row : rows) {
    const Promise promise = row->promise.value_or(Promise{});
    candidate.promise.max_abs = std::max(candidate.promise.max_abs, promise.max_abs);
    candidate.promise.max_ulp = std::max(candidate.promise.max_ulp, promise.max_ulp);
    candidate.promise.is_correctly_rounded &= promise.is_correctly_rounded;
    candidate.keeps_promise &= row->keeps_its_promise();
    if (row->error) candidate.max_abs = worst(candidate.max_abs, row->error->max_abs);
  }
  if (rows.size() < tables) return candidate;  // documents may be merged from several builds
  candidate.seconds_per_entry =
      means_by_process(rows, &Measurement::seconds, std::mem_fn(&MeasuredTable::entries));
  if (!candidate.seconds_per_entry.empty())
    candidate.gfloats_per_second = 1e-9 / median(candidate.seconds_per_entry);
  return candidate;
}

/// The times of a candidate, divided by the median factor by which the other candidates were slower
/// than usual in each process. Pairing by process cancels this factor, so it is not noise.
std::vector<double> own_seconds(const Candidate& one, const std::vector<Candidate>& all) {
  std::vector<double> own = one.seconds_per_entry;
  for (std::size_t process = 0; process < own.size(); ++process) {
    std::vector<double> slower;
    for (const Candidate& other : all) {
      const std::vector<double>& seconds = other.seconds_per_entry;
      if (&other == &one || seconds.size() != own.size()) continue;
      slower.push_back(seconds[process] / median(seconds));
    }
    if (!slower.empty()) own[process] /= median(slower);
  }
  return own;
}

/// The noise floor from A/A ratios within every process, and from ratios of successive processes,
/// of each candidate that was timed twice.
double noise_floor(const std::vector<Candidate>& candidates,
                   const std::vector<RowsOfBackend>& rows) {
  std::vector<std::vector<double>> ratios;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    std::vector<double> within = means_by_process(rows[i], &Measurement::self_ratios,
                                                  [](const MeasuredTable&) { return 1.0; });
    if (within.empty() || candidates[i].seconds_per_entry.empty()) continue;
    ratios.push_back(std::move(within));
    const std::vector<double> seconds = own_seconds(candidates[i], candidates);
    std::vector<double>& successive = ratios.emplace_back();
    for (std::size_t process = 1; process < seconds.size(); ++process)
      successive.push_back(seconds[process] / seconds[process - 1]);
  }
  return noise_floor_of(ratios);
}

/// Makes a class from the rows of a group.
MeasuredClass class_of(const RowsOfBackend& rows, ShapeClass shape, Grouping grouping) {
  MeasuredClass made = {.grouping = grouping,
                        .shape = shape,
                        .type = rows.front()->table.type,
                        .threads = rows.front()->table.threads};
  std::vector<RowsOfBackend> by_backend;
  std::map<std::string, std::size_t> places, methods;  // indices, in order of appearance
  for (const Measurement* row : rows) {
    if (std::ranges::count(made.tables, row->table) == 0) made.tables.push_back(row->table);
    const auto [place, is_new] = places.try_emplace(row->full_name(), by_backend.size());
    (is_new ? by_backend.emplace_back() : by_backend[place->second]).push_back(row);
  }
  for (const RowsOfBackend& each : by_backend) {
    made.candidates.push_back(candidate_of(each, made.tables.size()));
    made.candidates.back().method =
        methods.try_emplace(each.front()->backend, methods.size()).first->second;
  }
  made.noise_floor = noise_floor(made.candidates, by_backend);
  return made;
}

bool may_be_picked(const Candidate& each) { return each.compared && each.role == Role::backend; }

Verdict verdict_of(MeasuredClass measured, const Accuracy& accuracy) {
  std::vector<Candidate> all = measured.candidates;
  std::vector<const Candidate*> eligible;
  for (Candidate& each : all) {
    each.compared =
        each.keeps_promise && accuracy.is_kept_by(each.promise) && !each.seconds_per_entry.empty();
    if (may_be_picked(each)) eligible.push_back(&each);
  }
  std::optional<Candidate> pick;
  if (!eligible.empty()) {
    const auto [fastest, preferred] = choose(eligible, measured.noise_floor);
    for (Candidate& each : all) {
      if (!each.compared) continue;
      const auto time_over = [&](const Candidate& other) {
        return paired_ratio(each.seconds_per_entry, other.seconds_per_entry);
      };
      each.time = time_over(*preferred);
      each.tied = may_be_picked(each) && is_tie(time_over(*fastest), measured.noise_floor);
    }
    pick = *preferred;
    all.erase(all.begin() + (preferred - all.data()));
    pick->tied = std::ranges::count(all, true, &Candidate::tied) > 0;
  }
  std::ranges::stable_sort(
      all, {}, [](const Candidate& each) { return std::pair(!each.compared, each.time.ratio); });
  return {std::move(measured), std::move(pick), std::move(all)};
}

}  // namespace

std::string MeasuredClass::text() const {
  if (grouping == Grouping::tables) return tables.front().text();
  return format_text("{}, {}, {} {}", to_string(shape), to_string(type), threads,
                     threads == 1 ? "thread" : "threads");
}

std::vector<MeasuredClass> classes_of(const Measurements& document, Grouping grouping) {
  std::vector<MeasuredTable> tables;
  /// The place of the table, if each table is a group, and the properties that the tables of a
  /// level share.
  using Key = std::tuple<std::ptrdiff_t, ShapeClass, DataType, int>;
  std::map<Key, RowsOfBackend> grouped;
  for (const Measurement& row : document.all) {
    if (!is_of_a_class(row)) continue;
    std::ptrdiff_t place = 0;
    if (grouping == Grouping::tables) {
      place = std::ranges::find(tables, row.table) - tables.begin();
      if (place == std::ssize(tables)) tables.push_back(row.table);
    }
    grouped[{place, shape_class(row.table.bytes(), document.machine), row.table.type,
             row.table.threads}]
        .push_back(&row);
  }
  std::vector<MeasuredClass> classes;
  for (const auto& [key, rows] : grouped)
    classes.push_back(class_of(rows, std::get<ShapeClass>(key), grouping));
  return classes;
}

double noise_floor_of(const Measurements& document) {
  double noise = 0;
  for (const MeasuredClass& each : classes_of(document)) noise = std::max(noise, each.noise_floor);
  return noise;
}

const Candidate* Verdict::next() const noexcept {
  const auto found = std::ranges::find_if(others, may_be_picked);
  return found == others.end() ? nullptr : &*found;
}

std::vector<Verdict> pick(const Measurements& document, const Accuracy& accuracy, Grouping grouping,
                          const std::function<bool(const MeasuredBackend&)>& counts) {
  std::vector<Verdict> verdicts;
  for (MeasuredClass& each : classes_of(document, grouping)) {
    if (counts) std::erase_if(each.candidates, std::not_fn(counts));
    if (!each.candidates.empty()) verdicts.push_back(verdict_of(std::move(each), accuracy));
  }
  return verdicts;
}

}  // namespace posenc::suite
