// What bench_driver can be told to time: work of this library that scripts compare with other
// programs.
#pragma once

#include "posenc/layers/positional_encoding.h"
#include "posenc/layers/sequence_view.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace posenc::bench {

struct CaseOptions {
  std::int64_t rows = 0;
  std::int64_t d_model = 0;
  std::int64_t batch = 1;
  BatchOrder order = BatchOrder::batch_first;
  EncodingSource source = EncodingSource::automatic;
  int threads = 1;
  std::string input;  ///< raw float32 file that holds x: batch * rows * d_model values
};

/// Work that can be done again and again in warm memory.
class Case {
 public:
  virtual ~Case() = default;
  virtual void run() = 0;
  virtual std::span<const float> output() const = 0;  ///< what the last run computed
};

/// The names of the kinds, for messages and help.
std::vector<std::string> case_kinds();

/// Throws InvalidArgument where the kind is unknown or the options do not fit it.
std::unique_ptr<Case> make_case(const std::string& kind, const CaseOptions& options);

}  // namespace posenc::bench
