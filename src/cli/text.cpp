#include "cli/text.h"

#include "posenc/support/edit_distance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace posenc::cli {
namespace {

constexpr const char* byte_units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
constexpr const char* time_units[] = {"ns", "us", "ms", "s"};

/// In the largest unit of which it is at least 1.
std::string with_unit(double value, double step, std::span<const char* const> units) {
  std::size_t unit = 0;
  for (; value >= step && unit + 1 < units.size(); ++unit) value /= step;
  const int digits = value == std::floor(value) || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, digits, units[unit]);
}

}  // namespace

std::string error_text(double error) { return error == 0 ? "0" : fmt::format("{:.2e}", error); }

std::string ulp_text(double ulp) {
  if (!(ulp < 1e4)) return fmt::format("{:.2e}", ulp);
  return fmt::format("{:.{}f}", ulp, ulp < 100 ? 3 : 1);
}

std::string percent_text(double share) {
  const std::string text = fmt::format("{:.4f} %", 100 * share);
  return share < 1 && text == "100.0000 %" ? ">99.9999 %" : text;
}

std::string count_text(double count) {
  std::string text = fmt::format("{:.0f}", count);
  for (std::size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, 1, ' ');
  return text;
}

std::string bytes_text(double bytes) { return with_unit(bytes, 1024, byte_units); }
std::string seconds_text(double seconds) { return with_unit(1e9 * seconds, 1000, time_units); }

std::string positions_text(RowRange rows) {
  const std::string first = fmt::to_string(rows.first);
  return rows.count == 1 ? first : fmt::format("{} .. {}", first, rows.first + rows.count - 1);
}

std::string spec_text(const EncodingSpec& spec) {
  const std::string rule = to_string(spec.frequencies);
  return fmt::format("base {}, layout {}, spacing {}{}", spec.base, to_string(spec.layout),
                     to_string(spec.spacing),
                     is_base(spec.frequencies) ? "" : ", frequencies " + rule);
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& known) {
  // One edit per three letters, and at most two: two edits turn a short name into nearly any other.
  const std::size_t most_edits = std::min<std::size_t>(2, given.size() / 3);
  const auto distance = [given](const std::string& name) { return edit_distance(given, name); };
  const auto nearest = std::ranges::min_element(known, {}, distance);
  if (nearest == known.end() || *nearest == given || distance(*nearest) > most_edits) return "";
  return "; did you mean '" + *nearest + "'?";
}

}  // namespace posenc::cli
