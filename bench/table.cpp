#include "table.h"

#include "cli/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

namespace posenc::bench {
namespace {

/// Three significant digits, which is as many as the noise leaves: "9.87", "98.7", "987".
std::string three_digits(double value) {
  return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }
std::string two_decimals(double value) { return fmt::format("{:.2f}", value); }
std::string giga_two_decimals(double value) { return fmt::format("{:.2f}", value * 1e-9); }
std::string giga_three_decimals(double value) { return fmt::format("{:.3f}", value * 1e-9); }

constexpr const char* time_title = "time";
constexpr const char* noise_title = "IQR/2";

/// A counter that a benchmark may have, and its column.
struct CounterColumn {
  const char* counter;
  const char* title;
  std::string (*text)(double value);
};

constexpr CounterColumn counter_columns[] = {
    {"seconds_per_row", "a row", cli::seconds_text},
    {"items_per_second", "Gfloat/s", giga_three_decimals},
    {"bytes_per_second", "GB/s", giga_two_decimals},
    {"share_of_limit", "of limit", percent},
    {"times_naive", "times naive", three_digits},
    {"naive_rows", "naive rows", three_digits},
    {"speed_up", "speed-up", two_decimals},
    {"time_over_base", "time/base", two_decimals},
    {"speed_over_table", "x table", two_decimals},
    {"speed_over_scaling", "x scaling", two_decimals},
    {"speed_over_in_turn", "x in turn", two_decimals},
    {"time_over_undropped", "time/undropped", two_decimals},
};

/// The columns that any of the lines has, in the order of all columns.
template <class Line>
std::vector<std::string> titles_of(const std::vector<Line>& lines) {
  std::vector<std::string> titles = {time_title};
  for (const CounterColumn& each : counter_columns) titles.emplace_back(each.title);
  titles.emplace_back(noise_title);
  std::erase_if(titles, [&](const std::string& title) {
    const auto has_it = [&](const Line& line) { return line.cells.contains(title); };
    return std::ranges::none_of(lines, has_it);
  });
  return titles;
}

/// The width of a figure and the gap before it: enough for all but freak figures, so that the
/// columns of all groups are aligned.
std::size_t width_of(const std::string& title) {
  constexpr std::size_t least = 8, gap = 2;
  return std::max(title.size(), least) + gap;
}

/// Whether a blank line stands before line i: where one kind of benchmark, such as "encode", ends
/// and another begins, unless both have one line.
template <class Line>
bool begins_paragraph(const std::vector<Line>& lines, std::size_t i) {
  const auto are_alike = [&](std::size_t a, std::size_t b) {
    const auto kind = [&](std::size_t j) {
      return lines[j].name.substr(0, lines[j].name.find('/'));
    };
    return b < lines.size() && kind(a) == kind(b);
  };
  if (i == 0 || are_alike(i - 1, i)) return false;
  return are_alike(i, i + 1) || (i > 1 && are_alike(i - 2, i - 1));
}

void print_line(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  std::cout << line << '\n';
}

}  // namespace

void TableOutput::begin(const benchmark::BenchmarkReporter::Context&) {
  std::cout << header_ << std::flush;
}

TableOutput::Line TableOutput::heading_of(const Titles& titles) {
  Line heading = {"benchmark", "", {}};
  for (const std::string& title : titles) heading.cells[title] = title;
  return heading;
}

TableOutput::Line TableOutput::line_of(const Runs& runs) {
  Line line = {name_of(runs.front()), error_of(runs.front()), {}};
  if (!line.error.empty()) return line;
  for (const Run& run : runs) {
    if (run.aggregate_name == relative_iqr_name) {
      const bool is_wall = is_wall_time(run);
      line.cells[noise_title] =
          percent(is_wall ? run.real_accumulated_time : run.cpu_accumulated_time);
    }
    // Without repetitions there are no aggregates, and the one run stands for its own median.
    if (run.aggregate_name != "median" && runs.size() > 1) continue;
    line.cells[time_title] = cli::seconds_text(seconds_of(run));
    for (const CounterColumn& column : counter_columns) {
      const auto found = run.counters.find(column.counter);
      if (found != run.counters.end()) line.cells[column.title] = column.text(found->second.value);
    }
  }
  return line;
}

std::string TableOutput::text_of(const Line& line, const Titles& titles) const {
  std::string text = fmt::format("{:<{}}", line.name, width_);
  for (const std::string& title : titles) {
    const auto cell = line.cells.find(title);
    text += fmt::format("{:>{}}", cell == line.cells.end() ? "" : cell->second, width_of(title));
  }
  return text;
}

void TableOutput::add_group(const Results& results) {
  show_progress("");
  std::vector<Line> lines;
  for (const auto& [place, runs] : results) lines.push_back(line_of(runs));
  const Titles titles = titles_of(lines);
  if (!shown_.empty()) std::cout << '\n';
  if (titles != shown_) print_line(text_of(heading_of(titles), titles));
  shown_ = titles;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (begins_paragraph(lines, i)) std::cout << '\n';
    print_line(text_of(lines[i], titles));
  }
  for (const Line& line : lines) {
    if (!line.error.empty())
      std::cout << "\nnot timed: " << line.name << ": " << line.error << '\n';
  }
  std::cout << std::flush;
}

}  // namespace posenc::bench
