/// @file
/// What changed between two documents of one machine, or between two builds that run in turn.
#pragma once

#include "posenc/suite/measuring/measure.h"
#include "posenc/suite/measuring/measurement.h"
#include "posenc/suite/pick.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::suite {

/// A backend on a table. One of the documents may lack it.
struct ComparedRow {
  const Measurement* before = nullptr;    ///< its row of the first document; null if there is none
  const Measurement* after = nullptr;     ///< its row of the second document; null if there is none
  PairedRatio time = {};                  ///< of the second over the first; 1 unless both are timed
  std::vector<std::string> changes = {};  ///< "slower", "error grew", ...
  bool is_regression = false;             ///< an error grew, or the time by more than a tie

  const Measurement& any() const { return before != nullptr ? *before : *after; }  ///< its row
  bool is_timed() const;        ///< in both documents
  std::string verdict() const;  ///< the changes, or "same"
};

/// The changes from one document to another.
struct Comparison {
  double noise = 0;                    ///< the floor below which times tie
  double factor = 1;                   ///< how much slower the machine was in the second document
  int common = 0;                      ///< rows that both have
  int regressions = 0;                 ///< rows
  int missing = 0;                     ///< rows of the first document that the second one lacks
  std::vector<ComparedRow> rows = {};  ///< of backends; they point into the documents
};

/// How documents are compared.
struct CompareOptions {
  double tolerance = 0;  ///< relative growth of an error that is no regression
  /// The floor of a session in which both were measured in turn: all intervals together then hold
  /// with 95 %. If it is not given, the documents are of two sessions: each interval holds with
  /// 95 %, the documents' own noise is the floor, and what the store limits and copies show of a
  /// slower machine is taken out of the times.
  std::optional<double> noise_of_session = {};
};

/// True if both are of one CPU with the same instruction sets. Only then are times comparable.
bool are_of_one_machine(const Measurements& one, const Measurements& other);

/// The documents must be of one machine and must outlive the result. Errors and times are judged,
/// times by the rule of ties (is_tie()).
Comparison compare(const Measurements& before, const Measurements& after,
                   const CompareOptions& options = {});

/// The row of the same backend on the same table, whatever the table's name; null if there is none.
const Measurement* find_row(const Measurements& document, const Measurement& wanted);

/// Two builds, and how they are timed.
struct BuildsRequest {
  std::vector<Measurement> rows;  ///< backends and tables that both builds have
  /// Each times rows in a process of its build.
  std::function<Timing(const TimingRequest&)> time_before, time_after;
  int rounds = 8;                     ///< each has four processes: A, B, B, A; at least 2
  int samples = 3;                    ///< of every row in each process
  double seconds_per_sample = 0.005;  ///< about this long
  /// Called repeatedly, with the finished share of the work in [0, 1] and what is done.
  std::function<void(double share, std::string_view doing)> progress;
};

/// The times of two builds, with one value for each round: the geometric mean of both processes.
/// Their ratio is in self_ratios.
struct BuildTimes {
  std::vector<Measurement> before, after;
  /// How far a build seems to differ from itself: the distance from 1 of the mean ratio of a row's
  /// two processes of each round, with the fifth of the rows that is furthest from it ignored.
  double noise = 0;
  double lost_share = 0;  ///< part of the timed seconds that other work took
};

/// Runs both builds in turn, in one session, so that what changes on the machine meanwhile changes
/// both. Throws InvalidArgument if the request is not allowed.
BuildTimes time_builds(const BuildsRequest& request);

}  // namespace posenc::suite
