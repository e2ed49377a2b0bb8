#include "cli/name_filter.h"

#include "posenc/spec.h"

#include <fmt/format.h>

namespace posenc::cli {

NameFilter::NameFilter(const std::string& pattern) : pattern_(pattern) {
  const std::string any = pattern.empty() ? ".*" : pattern;  // POSIX leaves the empty one undefined
  const int error = ::regcomp(&compiled_, any.c_str(), REG_EXTENDED | REG_NOSUB);
  if (error == 0) return;
  char reason[128];
  ::regerror(error, &compiled_, reason, sizeof reason);
  throw InvalidArgument(fmt::format(
      "--filter is '{}'; allowed: an extended regular expression ({})", pattern, reason));
}

NameFilter::~NameFilter() { ::regfree(&compiled_); }

bool NameFilter::takes(const std::string& name) const {
  return ::regexec(&compiled_, name.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace posenc::cli
