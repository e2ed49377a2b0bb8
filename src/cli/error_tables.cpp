#include "cli/error_tables.h"

#include "cli/table.h"
#include "cli/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace posenc::cli {

std::string position_table(const AccuracyReport& report) {
  Table table({{"positions", Align::left}, {"max |error|"}, {"max ulp"}, {"RMS"}});
  for (const PositionError& each : report.by_position) {
    table.add_row({positions_text(each.rows), error_text(each.error.max_abs),
                   ulp_text(each.error.max_ulp), error_text(each.error.rms)});
  }
  return table.text();
}

std::string channel_table(const AccuracyReport& report,
                          const std::function<std::string(std::int64_t channel)>& function_text) {
  constexpr std::size_t worst_channels_shown = 8;
  std::vector<std::size_t> order(report.by_channel.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(),
                           [&](std::size_t channel) { return report.by_channel[channel].max_abs; });
  order.resize(std::min(order.size(), worst_channels_shown));
  Table table({{"channel"}, {"holds", Align::left}, {"max |error|"}, {"max ulp"}, {"RMS"}});
  for (const std::size_t channel : order) {
    const ErrorSummary& error = report.by_channel[channel];
    table.add_row({fmt::format("{}", channel), function_text(static_cast<std::int64_t>(channel)),
                   error_text(error.max_abs), ulp_text(error.max_ulp), error_text(error.rms)});
  }
  return table.text();
}

std::string quantile_table(const AccuracyReport& report) {
  Table table({{"share of entries"}, {"|error| at most"}});
  for (const Quantile& each : report.quantiles) {
    table.add_row({fmt::format("{:g} %", 100 * each.share), error_text(each.abs_error)});
  }
  return table.text();
}

std::string worst_entry_text(const AccuracyReport& report) {
  const WorstEntry& worst = report.worst;
  return fmt::format(
      "Worst entry, at position {}, channel {}\n"
      "  got    {:.{}g}\n  exact  {:.17g}\n  error  {}\n",
      worst.position, worst.channel, worst.got, report.type == DataType::float64 ? 17 : 9,
      worst.expected, error_text(std::abs(worst.got - worst.expected)));
}

}  // namespace posenc::cli
