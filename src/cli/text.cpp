#include "cli/text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>

namespace posenc::cli {

std::string error_text(double error) { return error == 0 ? "0" : fmt::format("{:.2e}", error); }

std::string ulp_text(double ulp) {
  if (!(ulp < 1e4)) return fmt::format("{:.2e}", ulp);
  return fmt::format("{:.{}f}", ulp, ulp < 100 ? 3 : 1);
}

std::string percent_text(double share) {
  std::string text = fmt::format("{:.4f}", 100 * share);
  if (share < 1 && text == "100.0000") text = ">99.9999";
  return text + " %";
}

std::string count_text(std::int64_t count) {
  std::string text = fmt::format("{}", count);
  const std::size_t first_digit = count < 0 ? 1 : 0;
  for (std::size_t end = text.size(); end > first_digit + 3; end -= 3) text.insert(end - 3, 1, ' ');
  return text;
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array units =
      std::to_array<std::string_view>({"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"});
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  const bool whole = value == std::floor(value) || value >= 100;
  return fmt::format("{:.{}f} {}", value, whole ? 0 : 1, units[unit]);
}

std::string stores_text(std::int64_t most_cached_bytes) {
  return fmt::format("plain up to {}, then non-temporal", bytes_text(most_cached_bytes));
}

std::string seconds_text(double seconds) {
  const auto text = [](double value, std::string_view unit) {
    return fmt::format("{:.{}f} {}", value, value >= 100 ? 0 : value >= 10 ? 1 : 2, unit);
  };
  if (seconds < 1e-6) return text(seconds * 1e9, "ns");
  if (seconds < 1e-3) return text(seconds * 1e6, "us");
  if (seconds < 1) return text(seconds * 1e3, "ms");
  return text(seconds, "s");
}

std::string threads_text(int threads) {
  return fmt::format("{} {}", threads, threads == 1 ? "thread" : "threads");
}

std::string shape_text(const EncodingSpec& spec, RowRange rows) {
  return fmt::format("{} x {}", rows.count, spec.d_model);
}

std::string spec_text(const EncodingSpec& spec) {
  return fmt::format(
      "base {}, layout {}, spacing {}{}", spec.base, to_string(spec.layout),
      to_string(spec.spacing),
      !is_base(spec.frequencies) ? ", frequencies " + to_string(spec.frequencies) : std::string());
}

std::string positions_text(RowRange rows) {
  if (rows.count == 1) return fmt::format("{}", rows.first);
  return fmt::format("{} .. {}", rows.first, rows.first + rows.count - 1);
}

std::string marked_name(std::string_view backend, bool is_peer) {
  return fmt::format("{}{}", backend, is_peer ? "*" : "");
}

std::string with_mark_explained(std::string table) {
  if (table.find('*') != std::string::npos)
    table += "* not part of the library, cannot be picked\n";
  return table;
}

}  // namespace posenc::cli
