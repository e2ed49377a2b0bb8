// posenc accuracy: the accuracy report of some or all backends.
#include "posenc/suite/accuracy_report.h"

#include "cli/commands.h"
#include "cli/error_tables.h"
#include "cli/isa_rows.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/text.h"

#include "posenc/cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace posenc::cli {

using namespace suite;
namespace {

using Reports = std::vector<AccuracyReport>;

Reports measure(const CommonOptions& options) {
  const TableShape shape = shape_of(options);
  std::vector<std::unique_ptr<const Encoder>> planned;
  std::vector<const Encoder*> encoders;
  for (const Backend* each : backends_of(options)) {
    auto encoder = each->plan(shape.spec);
    if (options.backends.empty() && !encoder->backend().supports(options.type)) continue;
    encoders.push_back(planned.emplace_back(std::move(encoder)).get());
  }
  Progress progress;
  return measure_accuracy(encoders, shape.rows,
                          {.threads = options.threads.value_or(cpu().logical_cores),
                           .type = options.type,
                           .progress = [&](double share) { progress(share, "measuring"); }});
}

/// True for a NaN too.
bool breaks_its_bound(const AccuracyReport& report) {
  return !(report.error.max_abs <= report.promise.max_abs);
}

double quantile_at(const AccuracyReport& report, double share) {
  const auto found = std::ranges::find(report.quantiles, share, &Quantile::share);
  return found == report.quantiles.end() ? std::nan("") : found->abs_error;
}

std::string title(const AccuracyReport& report) {
  return wrapped(fmt::format(
      "Accuracy of a {} table of {}, positions {}, {}\n"
      "{} entries against their exact values, computed in {}; 1 ulp is the spacing of {} there\n"
      "correct, wrong: entries that are, or are not, the {} nearest to the exact value\n"
      "to div_term: largest difference from the float32 formula of PyTorch's tutorial\n",
      shape_text(report.spec, report.rows), to_string(report.type), positions_text(report.rows),
      spec_text(report.spec), count_text(report.entries), report.reference, to_string(report.type),
      to_string(report.type)));
}

using ReportRow = IsaRow<AccuracyReport>;

bool same_figures(const AccuracyReport& a, const AccuracyReport& b) {
  const auto figures = [](const AccuracyReport& each) {
    return std::tuple(each.backend, each.error.max_abs, each.error.max_ulp, each.error.rms,
                      each.promise.max_abs, each.wrongly_rounded, each.max_abs_from_div_term,
                      each.worst.position, each.worst.channel, quantile_at(each, 0.5),
                      quantile_at(each, 0.999));
  };
  return figures(a) == figures(b);
}

std::string error_table(const std::vector<ReportRow>& rows) {
  Table table({{"backend", Align::left},
               {"ISA", Align::left},
               {"max |error|"},
               {"bound"},
               {"max ulp"},
               {"RMS"},
               {"median"},
               {"99.9 %"}});
  for (const auto& [each, isas] : rows) {
    table.add_row({marked_name(each->backend, each->role == Role::peer), isas,
                   error_text(each->error.max_abs), error_text(each->promise.max_abs),
                   ulp_text(each->error.max_ulp), error_text(each->error.rms),
                   error_text(quantile_at(*each, 0.5)), error_text(quantile_at(*each, 0.999))});
  }
  return table.text();
}

std::string rounding_table(const std::vector<ReportRow>& rows) {
  Table table({{"backend", Align::left},
               {"ISA", Align::left},
               {"correct"},
               {"wrong"},
               {"to div_term"},
               {"worst at position"},
               {"channel"}});
  for (const auto& [each, isas] : rows) {
    table.add_row({marked_name(each->backend, each->role == Role::peer), isas,
                   percent_text(each->correctly_rounded), count_text(each->wrongly_rounded),
                   error_text(each->max_abs_from_div_term), fmt::format("{}", each->worst.position),
                   fmt::format("{}", each->worst.channel)});
  }
  return with_mark_explained(table.text());
}

std::string summary_text(const Reports& reports) {
  const auto rows = isa_rows(
      reports, [](const AccuracyReport& each) { return each.isa; }, same_figures);
  return error_table(rows) + "\n" + rounding_table(rows);
}

/// The function in that channel: "sin(pos w_12)".
std::string function_text(const EncodingSpec& spec, std::int64_t channel) {
  for (std::int64_t k = 0; k < spec.d_model / 2; ++k) {
    if (channels_of(spec, k).sine == channel) return fmt::format("sin(pos w_{})", k);
    if (channels_of(spec, k).cosine == channel) return fmt::format("cos(pos w_{})", k);
  }
  return "";
}

/// The errors of one encoder in detail.
std::string details_text(const AccuracyReport& report) {
  const auto function = [&](std::int64_t channel) { return function_text(report.spec, channel); };
  return fmt::format("{}\nQuantiles\n\n{}\nBy position\n\n{}\nWorst channels\n\n{}",
                     worst_entry_text(report), quantile_table(report), position_table(report),
                     channel_table(report, function));
}

std::string table_text(const Reports& reports) {
  std::string text = title(reports.front()) + "\n" + summary_text(reports);
  if (reports.size() == 1) text += "\n" + details_text(reports.front());
  return text;
}

int accuracy(const CommonOptions& options) {
  if (!is_standard_output(options.output)) check_writable(options.output, Folders::must_exist);
  const Reports reports = measure(options);
  write_page(options.output,
             options.format == "json" ? accuracy_json(reports) : table_text(reports));
  int code = good;
  for (const AccuracyReport& each : reports) {
    if (!breaks_its_bound(each)) continue;
    print_message(
        fmt::format("{}:{} breaks its error bound: max |error| is {:.4e}, the bound is {:.4e}",
                    each.backend, to_string(each.isa), each.error.max_abs, each.promise.max_abs));
    code = check_failed;
  }
  return code;
}

}  // namespace

void add_accuracy_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<CommonOptions>();
  CLI::App& command = add_subcommand(
      app, "accuracy", "Measure the errors of backends; exit 1 if one breaks its error bound",
      action, [options] { return accuracy(*options); });
  add_shape_options(command, *options);
  add_backend_options(command, *options, Times::often);
  add_type_option(command, *options);
  add_threads_option(command, *options, "all cores");
  add_format_option(command, *options, {"table", "json"}, "table");
  add_output_option(command, *options);
  describe(command, {{"posenc accuracy --preset whisper", "all backends over one model's table"},
                     {"posenc accuracy --backend rotation32 --rows 131072 --d-model 128",
                      "one backend in detail: by position and channel, with its worst entry"},
                     {"posenc accuracy --first 1000000000000 --rows 1000",
                      "large positions, where float32 phases fail"},
                     {"posenc accuracy --format json --output report.json",
                      "a report to keep, for posenc compare"}});
}

}  // namespace posenc::cli
