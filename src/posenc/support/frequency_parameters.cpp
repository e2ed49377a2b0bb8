#include "posenc/support/frequency_parameters.h"

#include "posenc/support/check.h"
#include "posenc/support/format.h"

#include <cmath>
#include <cstddef>

namespace posenc::detail {
namespace {

void check_count(std::string_view name, std::size_t count, std::int64_t d_model) {
  if (static_cast<std::int64_t>(count) == d_model / 2) return;
  throw_invalid("{} has {} values; allowed: d_model / 2, which is {}", name, count, d_model / 2);
}

/// Checks the values of OwnFrequencies, which messages call `frequencies`.
void check_own(const std::vector<double>& values, double least, double most) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double magnitude = std::fabs(values[k]);
    if (magnitude == 0 || (magnitude >= least && magnitude <= most)) continue;
    throw_invalid("frequencies[{}] is {}; allowed: 0, or a magnitude of {} to {}", k, values[k],
                  least, most);
  }
}

template <class Rule>
void check(const Rule& rule, std::int64_t d_model) {
  const auto check_one = [&]<class T>(std::string_view name, const T& value, auto least,
                                      auto most) {
    if constexpr (std::is_arithmetic_v<T>) {
      check_range<T>(name, value, least, most);
    } else {
      constexpr bool is_own = std::is_same_v<Rule, OwnFrequencies>;
      check_count(is_own ? "frequencies" : name, value.size(), d_model);
      if constexpr (is_own) return check_own(value, least, most);
      for (std::size_t k = 0; k < value.size(); ++k)
        check_range(format_text("{}[{}]", name, k), value[k], least, most);
    }
  };
  for_each_parameter(rule, check_one, d_model / 2);
}

}  // namespace

void check_rule(const FrequencyRule& rule, std::int64_t d_model) {
  std::visit([&](const auto& each) { check(each, d_model); }, rule);
}

}  // namespace posenc::detail
