// Figures that compare a benchmark with others of its group. They are computed from the results of
// the run, and not by the benchmarks themselves.
#pragma once

#include "runs.h"

#include <map>
#include <string>
#include <vector>

namespace posenc::bench {

enum class Quantity {
  speed,  ///< a baseline's time over this one's: 2 is twice as fast
  time,   ///< this one's time over a baseline's: 2 takes twice as long
};

/// A benchmark names its baselines, and the ratio to the fastest of them becomes a column of the
/// table and a counter in the JSON.
struct Ratio {
  std::string counter;                 ///< "share_of_limit"
  std::vector<std::string> baselines;  ///< names of benchmarks of the same group
  double work = 1;  ///< how many times a baseline's work an iteration of this benchmark does
  Quantity quantity = Quantity::speed;
};

/// The ratios of benchmarks, by their names.
using RatiosByName = std::map<std::string, std::vector<Ratio>>;

/// Adds the counters to every repetition and, computed over the repetitions, to every aggregate.
/// The baseline's time is the median over its repetitions. A benchmark that is its own baseline has
/// the ratio 1; if no baseline has figures, there is no counter.
void add_ratios(Results& results, const RatiosByName& ratios);

}  // namespace posenc::bench
