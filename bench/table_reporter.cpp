#include "table_reporter.h"

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

/// Three significant digits, which is as many as the noise leaves: "9.87", "98.7", "987".
std::string three_digits(double value) {
  return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

std::string duration(double seconds) {
  using Unit = std::pair<double, const char*>;
  constexpr std::array units = {Unit{1, "s "}, Unit{1e-3, "ms"}, Unit{1e-6, "us"},
                                Unit{1e-9, "ns"}};
  const auto fits = [seconds](const Unit& unit) { return seconds >= 0.9995 * unit.first; };
  const auto unit = std::ranges::find_if(units.begin(), units.end() - 1, fits);
  return fmt::format("{} {}", three_digits(seconds / unit->first), unit->second);
}

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string two_decimals(double value) { return fmt::format("{:.2f}", value); }

/// A counter that a benchmark may have, and its column.
struct CounterColumn {
  const char* counter;
  const char* title;
  std::string (*text)(double value);
};

constexpr CounterColumn counter_columns[] = {
    {"seconds_per_row", "a row", duration},
    {"items_per_second", "Gfloat/s",
     [](double value) { return fmt::format("{:.3f}", value * 1e-9); }},
    {"bytes_per_second", "GB/s", [](double value) { return fmt::format("{:.2f}", value * 1e-9); }},
    {"share_of_limit", "of limit", percent},
    {"times_naive", "times naive", three_digits},
    {"naive_rows", "naive rows", three_digits},
    {"speed_up", "speed-up", two_decimals},
    {"over_base", "x base", two_decimals},
    {"over_table", "x table", two_decimals},
    {"over_scaling", "x scaling", two_decimals},
    {"over_in_turn", "x in turn", two_decimals},
    {"over_undropped", "x undropped", two_decimals},
};

/// Which clock the figures are of, and the name without it, which the header tells.
bool is_wall_time(const benchmark::BenchmarkReporter::Run& run) {
  return run.run_name.time_type == "real_time";
}

std::string name_of(const benchmark::BenchmarkReporter::Run& run) {
  benchmark::BenchmarkName name = run.run_name;
  name.time_type.clear();
  return name.str();
}

/// Whether a blank line stands before each benchmark: where the kinds above it, such as "encode"
/// and "copy", are done with.
std::vector<bool> paragraphs(const std::vector<std::string>& names) {
  std::map<std::string, std::size_t> last_of_kind;
  const auto kind = [](const std::string& name) { return name.substr(0, name.find('/')); };
  for (std::size_t i = 0; i < names.size(); ++i) last_of_kind[kind(names[i])] = i;
  std::vector<bool> begins(names.size(), false);
  std::size_t last = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    begins[i] = i > last;
    last = std::max(last, last_of_kind[kind(names[i])]);
  }
  return begins;
}

/// Wide enough for most figures, so that the columns of later groups seldom need more.
constexpr std::size_t least_width = 8;

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
  GetOutputStream() << std::exchange(header_, "") << std::flush;
  return true;
}

void TableReporter::ReportRuns(const std::vector<Run>& runs) {
  if (runs.empty()) return;
  Line line;
  for (const Run& run : runs) {
    if (const std::string error = error_of(run); !error.empty()) line.error = error;
    // Without repetitions there are no aggregates, and the one run stands for its own median.
    if (run.run_type == Run::RT_Aggregate && run.aggregate_name == relative_iqr_name) {
      line.relative_iqr = is_wall_time(run) ? run.real_accumulated_time : run.cpu_accumulated_time;
    }
    if (run.run_type == Run::RT_Aggregate && run.aggregate_name != "median") continue;
    line.order = run.family_index;
    line.name = name_of(run);
    const double time = is_wall_time(run) ? run.GetAdjustedRealTime() : run.GetAdjustedCPUTime();
    line.seconds = time / benchmark::GetTimeUnitMultiplier(run.time_unit);
    for (const auto& [name, counter] : run.counters) line.counters[name] = counter.value;
  }
  lines_.push_back(std::move(line));
}

std::vector<TableReporter::Column> TableReporter::columns() const {
  const auto cells = [this](std::string title, const auto& text) {
    Column column = {std::move(title), false, {}};
    for (const Line& line : lines_)
      column.cells.push_back(line.error.empty() ? text(line) : std::string());
    return column;
  };
  std::vector<Column> columns = {{"benchmark", true, {}}};
  for (const Line& line : lines_) columns[0].cells.push_back(line.name);
  columns.push_back(cells("time", [](const Line& line) { return duration(line.seconds); }));
  for (const CounterColumn& shown : counter_columns) {
    columns.push_back(cells(shown.title, [&shown](const Line& line) {
      const auto found = line.counters.find(shown.counter);
      return found == line.counters.end() ? std::string() : shown.text(found->second);
    }));
  }
  columns.push_back(cells("IQR/2", [](const Line& line) {
    return line.relative_iqr < 0 ? std::string() : percent(line.relative_iqr);
  }));
  const auto is_empty = [](const Column& column) {
    return std::ranges::all_of(column.cells, &std::string::empty);
  };
  std::erase_if(columns, is_empty);
  return columns;
}

bool TableReporter::widen(const std::vector<Column>& columns) {
  bool has_changed = columns.size() != widths_.size();
  std::map<std::string, std::size_t> widths;
  for (const Column& column : columns) {
    const auto before = widths_.find(column.title);
    has_changed |= before == widths_.end();
    std::size_t width = std::max(column.title.size(), column.on_the_left ? 0 : least_width);
    if (before != widths_.end()) width = before->second;
    for (const std::string& cell : column.cells) width = std::max(width, cell.size());
    has_changed |= before != widths_.end() && width > before->second;
    widths[column.title] = width;
  }
  widths_ = std::move(widths);
  return has_changed;
}

std::vector<std::string> TableReporter::texts(const std::vector<Column>& columns) const {
  std::vector<std::string> lines(lines_.size() + 1);
  for (const Column& column : columns) {
    const std::size_t width = widths_.at(column.title);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string& cell = i == 0 ? column.title : column.cells[i - 1];
      lines[i] += column.on_the_left ? fmt::format("{:<{}}", cell, width)
                                     : fmt::format("{:>{}}", cell, width + 2);
    }
  }
  for (std::string& line : lines) line.erase(line.find_last_not_of(' ') + 1);
  return lines;
}

void TableReporter::Finalize() {
  show_progress("");
  if (lines_.empty()) return;
  std::ranges::sort(lines_, {}, &Line::order);
  std::ostream& out = GetOutputStream();
  const std::vector<Column> shown = columns();
  const bool is_first = widths_.empty();
  const bool has_titles = widen(shown);
  const std::vector<std::string> printed = texts(shown);
  const std::vector<bool> begins = paragraphs(shown.front().cells);
  if (!is_first) out << '\n';
  for (std::size_t i = has_titles ? 0 : 1; i < printed.size(); ++i) {
    out << (i > 0 && begins[i - 1] ? "\n" : "") << printed[i] << '\n';
  }
  for (const Line& line : lines_) {
    if (!line.error.empty()) out << "\nnot timed: " << line.name << ": " << line.error << '\n';
  }
  out.flush();
  lines_.clear();
}

}  // namespace posenc::bench
