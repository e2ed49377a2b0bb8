// The names that posenc compare --filter selects.
#pragma once

#include <regex.h>

#include <string>

namespace posenc::cli {

/// A POSIX extended regular expression that is searched in names.
class NameFilter {
 public:
  /// Throws InvalidArgument if the pattern is not such an expression. An empty one takes every
  /// name.
  explicit NameFilter(const std::string& pattern);
  ~NameFilter();
  NameFilter(const NameFilter&) = delete;
  NameFilter& operator=(const NameFilter&) = delete;

  bool takes(const std::string& name) const;
  const std::string& pattern() const { return pattern_; }

 private:
  std::string pattern_;
  regex_t compiled_{};
};

}  // namespace posenc::cli
