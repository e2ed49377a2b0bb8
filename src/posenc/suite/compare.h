/// @file
/// Compares two documents of one machine, or two builds that run in turn.
#pragma once

#include "posenc/suite/measure.h"
#include "posenc/suite/measurement.h"
#include "posenc/suite/pick.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::suite {

/// One backend on one table. A row may be missing from one of the documents.
struct ComparedRow {
  const Measurement* before = nullptr;  ///< its row of the first document; null if there is none
  const Measurement* after = nullptr;   ///< its row of the second document; null if there is none
  PairedRatio time = {};  ///< time of the second over the first; 1 unless both are timed
  std::vector<std::string> changes = {};  ///< "slower", "error grew", ...
  bool is_regression = false;             ///< an error grew, or the time grew by more than a tie

  const Measurement& any() const { return before != nullptr ? *before : *after; }  ///< its row
  bool is_timed() const;        ///< true if both documents have its times
  std::string verdict() const;  ///< the changes, or "same"
};

/// The changes from one document to another.
struct Comparison {
  double noise = 0;                    ///< the floor below which times tie
  double factor = 1;                   ///< how much slower the machine was in the second document
  int common = 0;                      ///< number of rows that both documents have
  int regressions = 0;                 ///< number of rows that regressed
  int missing = 0;                     ///< rows of the first document that the second one lacks
  std::vector<ComparedRow> rows = {};  ///< one per backend and table; they point into the documents
};

/// How documents are compared.
struct CompareOptions {
  double tolerance = 0;  ///< relative growth of an error that does not count as a regression
  /// Noise floor of a session that measured both documents in turn. If it is set, the confidence of
  /// 95 % holds for all intervals together. If it is not set, the documents are from two sessions.
  /// The 95 % then holds for each interval, and the floor comes from the documents. Times are
  /// corrected by how much slower the store limits and copies were.
  std::optional<double> noise_of_session = {};
};

/// True if both documents are of one CPU with the same instruction sets. Only then can their times
/// be compared.
bool are_of_one_machine(const Measurements& one, const Measurements& other);

/// Compares the errors and the times of two documents. Times are compared by the rule of ties
/// (is_tie()). The documents must be of one machine and must outlive the result.
Comparison compare(const Measurements& before, const Measurements& after,
                   const CompareOptions& options = {});

/// The row of the same backend on the same table, whatever the table's name; null if there is none.
const Measurement* find_row(const Measurements& document, const Measurement& wanted);

/// Two builds, and how they are timed.
struct BuildsRequest {
  std::vector<Measurement> rows;  ///< backends and tables that both builds have
  /// Times rows in a process of the first build.
  std::function<Timing(const TimingRequest&)> time_before;
  /// Times rows in a process of the second build.
  std::function<Timing(const TimingRequest&)> time_after;
  int rounds = 8;                     ///< each has four processes: A, B, B, A; at least 2
  int samples = 3;                    ///< number of samples of every row in each process
  double seconds_per_sample = 0.005;  ///< approximate length of a sample
  /// Called repeatedly with the finished share of the work in [0, 1] and the current activity.
  std::function<void(double share, std::string_view doing)> progress;
};

/// The times of two builds. Each round gives one value, the geometric mean of the build's two
/// processes; the ratio of these two processes is in self_ratios.
struct BuildTimes {
  std::vector<Measurement> before;  ///< rows of the first build
  std::vector<Measurement> after;   ///< rows of the second build
  /// Noise floor: for each row, the mean ratio of a build's two processes is compared with 1. The
  /// largest distance counts, after the most extreme fifth of the rows is dropped.
  double noise = 0;
  double lost_share = 0;  ///< part of the timed seconds that other work took
};

/// Runs both builds in turn in one session, so that a change of the machine during the session
/// affects both. Throws InvalidArgument if the request is not allowed.
BuildTimes time_builds(const BuildsRequest& request);

}  // namespace posenc::suite
