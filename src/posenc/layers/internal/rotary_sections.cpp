#include "posenc/layers/internal/rotary_sections.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace posenc {
namespace {

/// The number of pairs on each axis, in the order of the configuration.
struct Sections {
  std::string name;  ///< the path of their key
  std::vector<std::int64_t> pairs;
};

/// Those on time take `freq_allocation` pairs, those on height and width half of the others each.
Sections ernie_sections(const EncodingSpec& spec, const ConfigKeys& config) {
  const std::string_view key = "freq_allocation";
  const std::int64_t of_time = config.integer(key, 0).value_or(20);
  const std::int64_t of_others = spec.d_model / 2 - of_time;
  if (of_others < 0 || of_others % 2 != 0)
    config.refuse(key, format_text("up to {}, with an even rest", spec.d_model / 2));
  return {config.path(key), {of_others / 2, of_others / 2, of_time}};
}

void check_order(const RotaryFamily& family, const ConfigKeys& rule) {
  const bool is_interleaved = family.sections == SectionOrder::interleaved;
  for (const std::string_view flag : {"mrope_interleaved", "interleaved"}) {
    if (rule.has(flag) && rule.boolean(flag, is_interleaved) != is_interleaved)
      rule.refuse(flag, is_interleaved ? "true" : "false");
  }
}

Sections read_sections(const RotaryFamily& family, const ConfigKeys& rule) {
  check_order(family, rule);
  const std::string_view key = family.rules == rule_xdrope ? "xdrope_section" : "mrope_section";
  if (rule.has(key)) return {rule.path(key), rule.integers(key)};
  const auto& by_default = family.default_sections;
  if (by_default[0] == 0) refuse_absence(rule.path(key));
  return {rule.path(key), {by_default.begin(), by_default.end()}};
}

/// M-RoPE's are of time, height and width, XD-RoPE's also of the position.
void check_count(const RotaryFamily& family, const Sections& sections) {
  const bool is_xdrope = family.rules == rule_xdrope;
  if (sections.pairs.size() == (is_xdrope ? 4 : 3)) return;
  refuse(sections.name, ConfigJson(sections.pairs), is_xdrope ? "four sections" : "three sections");
}

void check_sum(const Sections& sections, std::int64_t pairs) {
  std::int64_t sum = 0;
  for (const std::int64_t each : sections.pairs) sum = std::min(sum + each, 2 * pairs);
  if (sum == pairs) return;
  refuse(sections.name, ConfigJson(sections.pairs),
         format_text("a list whose sum is {}, the number of pairs", pairs));
}

}  // namespace

AxesSpec read_axes(const EncodingSpec& spec, const RotaryFamily& family, const ConfigKeys& config,
                   const ConfigKeys& rule) {
  if (family.sections == SectionOrder::none) return one_axis(spec);
  const Sections sections =
      family.quirk == Quirk::ernie_vl ? ernie_sections(spec, config) : read_sections(family, rule);
  const std::vector<std::int64_t>& pairs = sections.pairs;
  check_sum(sections, spec.d_model / 2);
  check_count(family, sections);
  if (family.sections == SectionOrder::in_sections) return axes_in_sections(pairs, spec);
  if (family.sections == SectionOrder::interleaved) return axes_interleaved(pairs, spec);
  // ERNIE's are of height, width and time.
  if (pairs[0] != pairs[1]) {
    refuse(sections.name, ConfigJson(pairs),
           "equal sections of height and width, then that of time");
  }
  const std::int64_t in_order[] = {pairs[2], pairs[0], pairs[1]};
  return axes_alternating(in_order, spec);
}

}  // namespace posenc
