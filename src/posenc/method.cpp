#include "posenc/method.h"

#include "posenc/support/format.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace posenc {

bool supports(const Method& method, DataType type) noexcept {
  return std::ranges::count(method.types, type) > 0;
}

void check_supports(const Method& method, DataType type) {
  if (supports(method, type)) return;
  std::vector<std::string_view> allowed;
  for (const DataType each : method.types) allowed.push_back(to_string(each));
  throw_invalid("dtype is {}; allowed for backend {}: {}", to_string(type), method.name,
                join(allowed, ", "));
}

}  // namespace posenc
