// Times backends in one process. A pick uses several processes, because addresses, and times with
// them, differ from one process to the next.
#pragma once

#include "posenc/data_type.h"
#include "posenc/encode_options.h"
#include "posenc/export.h"
#include "posenc/spec.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace POSENC_API posenc {

struct TimingRequest {
  struct Candidate {
    std::string backend;  ///< full name: "rotation:avx2"
    int samples = 1;
    StorePolicy stores = StorePolicy::automatic;  ///< automatic: as for the whole table
  };
  /// A table, and the candidates that encode it in turn, in random order.
  struct Table {
    EncodingSpec spec;
    RowRange rows;
    std::vector<Candidate> candidates;
    std::size_t repeated = 0;  ///< the candidate that is timed as if it were two (A/A)
  };
  DataType type = DataType::float32;
  int threads = 1;
  double seconds_per_sample = 0.005;
  std::uint64_t seed = 0;  ///< of the order
  std::vector<Table> tables;
};

struct TimingResult {
  struct Table {
    std::vector<double> seconds;  ///< per table: the median of each candidate's samples
    double repeated_seconds = 0;  ///< the same for the second half of the repeated candidate
  };
  std::vector<Table> tables;
  double timed_seconds = 0;  ///< wall time of the samples
  double lost_seconds = 0;   ///< the part that other work or the hypervisor took
};

/// Throws InvalidArgument if the request is not allowed.
TimingResult time_candidates(const TimingRequest& request);

}  // namespace posenc
