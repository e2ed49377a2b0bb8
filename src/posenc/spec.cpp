#include "posenc/spec.h"

#include "posenc/support/check.h"
#include "posenc/support/enum_names.h"
#include "posenc/support/frequency_parameters.h"

#include <cmath>
#include <cstddef>
#include <iterator>

namespace posenc {
namespace {

constexpr auto layout_names =
    enum_names<Layout>("layout", "interleaved", "halves", "halves_cos_first");
constexpr auto spacing_names = enum_names<Spacing>("spacing", "paper", "inclusive");

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
void check_rule(const Rule& rule, std::int64_t d_model) {
  const auto check_one = [&]<class T>(std::string_view name, const T& value, auto least,
                                      auto most) {
    if constexpr (std::is_arithmetic_v<T>) {
      check_range<T>(name, value, least, most);
    } else {
      constexpr bool is_own = std::is_same_v<Rule, OwnFrequencies>;
      if (std::ssize(value) != d_model / 2)
        throw_invalid("{} has {} values; allowed: d_model / 2, which is {}",
                      is_own ? "frequencies" : name, value.size(), d_model / 2);
      if constexpr (is_own) return check_own(value, least, most);
      for (std::size_t k = 0; k < value.size(); ++k)
        check_range(format_text("{}[{}]", name, k), value[k], least, most);
    }
  };
  for_each_parameter(rule, check_one, d_model / 2);
}

}  // namespace

std::string_view to_string(Layout layout) noexcept { return layout_names[layout]; }
std::string_view to_string(Spacing spacing) noexcept { return spacing_names[spacing]; }
Layout parse_layout(std::string_view name) { return layout_names.parse(name); }
Spacing parse_spacing(std::string_view name) { return spacing_names.parse(name); }

void validate(Layout layout) { layout_names.check(layout); }
void validate(Spacing spacing) { spacing_names.check(spacing); }

void validate(const EncodingSpec& spec) {
  if (spec.d_model < 2 || spec.d_model > max_d_model || spec.d_model % 2 != 0)
    throw_invalid("d_model is {}; allowed: even, 2 to {}", spec.d_model, max_d_model);
  if (!std::isfinite(spec.base) || !(spec.base > 1))
    throw_invalid("base is {}; allowed: finite and greater than 1", spec.base);
  validate(spec.layout);
  validate(spec.spacing);
  std::visit([&](const auto& rule) { check_rule(rule, spec.d_model); }, spec.frequencies);
  const bool is_for_paper_only = std::holds_alternative<NtkScaling>(spec.frequencies) ||
                                 std::holds_alternative<YarnScaling>(spec.frequencies);
  if (is_for_paper_only && spec.spacing != Spacing::paper)
    throw_invalid("spacing is {}; allowed with this rule of frequencies: paper",
                  to_string(spec.spacing));
}

void validate(RowRange rows) {
  check_range("first position", rows.first, -max_position, max_position);
  if (rows.count < 0 || rows.count > max_position - rows.first + 1)
    throw_invalid("row count is {}; allowed from position {}: 0 to {}", rows.count, rows.first,
                  max_position - rows.first + 1);
}

std::int64_t table_bytes(const EncodingSpec& spec, std::int64_t count, std::int64_t element_bytes) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(spec.d_model, element_bytes, &bytes) ||
      __builtin_mul_overflow(bytes, count, &bytes)) {
    throw_invalid("row count is {}; allowed at d_model {}: at most {}", count, spec.d_model,
                  INT64_MAX / element_bytes / spec.d_model);
  }
  return bytes;
}

}  // namespace posenc
