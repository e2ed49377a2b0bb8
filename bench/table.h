// What a benchmark binary shows to people: one aligned line a benchmark, medians over the
// repetitions and their relative interquartile range.
#pragma once

#include "groups.h"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace posenc::bench {

/// The aggregate that stands beside the median: half the interquartile range over the median.
inline constexpr const char* relative_iqr_name = "relative_iqr";

/// Prints the lines of each group when it is done, in the order of registration. Titles are printed
/// again only if the columns have changed.
class TableOutput : public Output {
 public:
  /// The header is printed before the first benchmark runs.
  explicit TableOutput(std::string header) : header_(std::move(header)), width_(longest_name()) {}

  void begin(const benchmark::BenchmarkReporter::Context&) override;
  void add_group(const Results& results) override;

 private:
  struct Line {
    std::string name;
    std::string error;                         ///< empty if there are figures
    std::map<std::string, std::string> cells;  ///< by the column's title
  };
  using Titles = std::vector<std::string>;
  static Line heading_of(const Titles& titles);
  static Line line_of(const Runs& runs);
  std::string text_of(const Line& line, const Titles& titles) const;

  std::string header_;
  std::size_t width_;  ///< of names
  Titles shown_;       ///< of the groups so far: none before the first
};

}  // namespace posenc::bench
