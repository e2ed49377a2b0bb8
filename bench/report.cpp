#include "report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <ostream>
#include <string>
#include <utility>

namespace posenc::bench {
namespace {

struct Column {
  std::string title;
  bool on_the_left;
  std::vector<std::string> cells;
};

/// Three significant digits, which is as many as the noise leaves: "9.87 us", "98.7 us", "987 us".
std::string duration(double seconds) {
  using Unit = std::pair<double, const char*>;
  constexpr std::array units = {Unit{1, "s "}, Unit{1e-3, "ms"}, Unit{1e-6, "us"}, Unit{1e-9, "ns"}};
  const auto fits = [seconds](const Unit& unit) { return seconds >= 0.9995 * unit.first; };
  const auto unit = std::ranges::find_if(units.begin(), units.end() - 1, fits);
  const double value = seconds / unit->first;
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit->second);
}

/// Empty columns are left out.
void print(std::ostream& out, const std::vector<Column>& columns, std::size_t line_count) {
  std::vector<std::string> lines(line_count + 1);
  for (const Column& column : columns) {
    std::size_t widest = 0;
    for (const std::string& cell : column.cells) widest = std::max(widest, cell.size());
    if (widest == 0) continue;
    const std::size_t width = std::max(widest, column.title.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string& cell = i == 0 ? column.title : column.cells[i - 1];
      lines[i] += column.on_the_left ? fmt::format("{:<{}}", cell, width) : fmt::format("{:>{}}", cell, width + 2);
    }
  }
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

/// Why a run has no figures, or nothing. Google Benchmark 1.8 has another name for it.
template <class Run>
std::string error_of(const Run& run) {
  if constexpr (requires { run.error_occurred; }) {
    return run.error_occurred ? run.error_message : std::string();
  } else {
    return run.skip_message;
  }
}

}  // namespace

void show_progress(std::string_view name) {
  static const bool is_terminal = isatty(STDERR_FILENO) != 0;
  if (!is_terminal) return;
  constexpr std::string_view clear_line = "\r\x1b[K";
  fmt::print(stderr, "{}{}{:.70}", clear_line, name.empty() ? "" : "timing ", name);
  std::fflush(stderr);
}

bool TableReporter::ReportContext(const Context&) {
  GetOutputStream() << header_ << std::flush;
  return true;
}

void TableReporter::ReportRuns(const std::vector<Run>& runs) {
  const auto counter = [](const Run& run, const char* name) {
    const auto found = run.counters.find(name);
    return found == run.counters.end() ? 0.0 : found->second.value;
  };
  if (runs.empty()) return;
  Line line;
  for (const Run& run : runs) {
    if (const std::string error = error_of(run); !error.empty()) line.error = error;
    // Without repetitions there are no aggregates, and the one run stands for its own median.
    if (run.run_type == Run::RT_Aggregate && run.aggregate_name == spread_name) line.spread = run.cpu_accumulated_time;
    if (run.run_type == Run::RT_Aggregate && run.aggregate_name != "median") continue;
    line.order = run.family_index;
    line.name = run.run_name.str();
    line.seconds = run.GetAdjustedCPUTime() / benchmark::GetTimeUnitMultiplier(run.time_unit);
    line.items_per_second = counter(run, "items_per_second");
    line.bytes_per_second = counter(run, "bytes_per_second");
    line.share_of_limit = counter(run, "share_of_limit");
  }
  lines_.push_back(std::move(line));
}

void TableReporter::Finalize() {
  show_progress("");
  if (lines_.empty()) return;
  std::ranges::sort(lines_, {}, &Line::order);
  std::vector<Column> columns = {{"benchmark", true, {}}, {"time", false, {}},     {"Gfloat/s", false, {}},
                                 {"GB/s", false, {}},     {"of limit", false, {}}, {"spread", false, {}}};
  for (const Line& line : lines_) {
    const auto cell = [&line](double value, const std::string& text) {
      return line.error.empty() && value > 0 ? text : std::string();
    };
    columns[0].cells.push_back(line.name);
    columns[1].cells.push_back(cell(line.seconds, duration(line.seconds)));
    columns[2].cells.push_back(cell(line.items_per_second, fmt::format("{:.3f}", line.items_per_second * 1e-9)));
    columns[3].cells.push_back(cell(line.bytes_per_second, fmt::format("{:.2f}", line.bytes_per_second * 1e-9)));
    columns[4].cells.push_back(cell(line.share_of_limit, fmt::format("{:.1f} %", line.share_of_limit * 100)));
    columns[5].cells.push_back(line.spread < 0 ? "" : cell(1, fmt::format("{:.1f} %", line.spread * 100)));
  }
  print(GetOutputStream(), columns, lines_.size());
  for (const Line& line : lines_) {
    if (!line.error.empty()) GetOutputStream() << "\nnot timed: " << line.name << ": " << line.error << '\n';
  }
  GetOutputStream().flush();
}

}  // namespace posenc::bench
