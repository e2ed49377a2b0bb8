#include "posenc/suite/measure_accuracy.h"

#include "posenc/registry.h"
#include "posenc/suite/error_tally.h"
#include "posenc/suite/reference.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"
#include "posenc/support/limits.h"
#include "posenc/support/parallel_for.h"
#include "posenc/support/printable.h"
#include "posenc/support/with_type.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <thread>

namespace posenc::suite {
namespace {

AccuracyReport report_of(const Encoder& encoder, RowRange rows, DataType type, const Tally& tally) {
  const MeasuredTable table = table_of(encoder.spec(), rows, type);
  AccuracyReport report;
  static_cast<Measured&>(report) = row_of(encoder.backend(), table);
  report.phases = encoder.backend().phases();
  report.promise = promise_of(encoder, rows, type);
  set_errors(report, rows, type, tally);
  report.error.checked = static_cast<double>(report.entries) / report.table.entries();
  report.max_abs_from_div_term = tally.from_div_term;
  return report;
}

void check(std::span<const Encoder* const> encoders, RowRange rows,
           const AccuracyOptions& options) {
  validate(rows);
  if (rows.count == 0)
    throw InvalidArgument("row count is 0; allowed for an accuracy report: at least 1");
  check_threads(options.threads);
  check_range("worst", options.worst, 1, 10000);
  for (const Encoder* encoder : encoders) {
    if (encoder->spec() != encoders.front()->spec()) {
      throw_invalid("spec of encoder {} differs from that of {}; allowed in one report: one spec",
                    encoder->backend().name(), encoders.front()->backend().name());
    }
    encoder->backend().check_supports(options.type);
  }
}

/// The encodings of these rows in this type, converted to doubles.
BasicMatrix<double> encoded(const Encoder& encoder, RowRange rows, DataType type) {
  BasicMatrix<double> values(rows.count, encoder.spec().d_model);
  with_type(type, [&]<class T>(T) {
    BasicMatrix<T> table(values.rows(), values.columns());
    encoder.encode(rows, table.view());
    for (std::int64_t i = 0; i < values.rows() * values.columns(); ++i)
      values.data()[i] = to_double(table.data()[i]);
  });
  return values;
}

/// Adds the errors of rows to tallies, in batches, so that memory stays constant. Calls
/// `finished(rows)` after each batch.
void tally_rows(std::span<const Encoder* const> encoders, const Encoder& div_term,
                const Reference& reference, RowRange rows, DataType type,
                std::vector<Tally>& tallies, const auto& finished) {
  constexpr std::int64_t batch = 32;
  const std::int64_t d_model = reference.spec().d_model;
  std::vector<ExactEntry> exact(static_cast<std::size_t>(d_model));
  Matrix compatible(std::min(batch, rows.count), d_model);
  std::vector<BasicMatrix<double>> got(encoders.size());
  for (std::int64_t done = 0; done < rows.count; done += batch) {
    const RowRange part = {rows.first + done, std::min(batch, rows.count - done)};
    div_term.encode(part, compatible.view());
    for (std::size_t i = 0; i < encoders.size(); ++i) got[i] = encoded(*encoders[i], part, type);
    for (std::int64_t row = 0; row < part.count; ++row) {
      fill_exact_row(reference, type, part.first + row, exact);
      for (std::size_t i = 0; i < encoders.size(); ++i) {
        const double* const entries = got[i].row(row).data();
        compare_row(part.first + row, exact, entries, tallies[i]);
        double& largest = tallies[i].from_div_term;
        for (std::int64_t channel = 0; channel < d_model; ++channel)
          largest =
              std::max(largest, std::fabs(entries[channel] - to_double(compatible(row, channel))));
      }
    }
    finished(part.count);
  }
}

}  // namespace

std::vector<const Encoder*> PlannedEncoders::pointers() const {
  std::vector<const Encoder*> all;
  for (const auto& each : encoders) all.push_back(each.get());
  return all;
}

PlannedEncoders plan_all(std::span<const Backend* const> backends, const MeasuredTable& table) {
  PlannedEncoders planned;
  for (const Backend* each : backends) {
    try {
      planned.encoders.push_back(each->plan(table.spec));
    } catch (const InvalidArgument& error) {
      planned.refused.push_back({row_of(*each, table)});
      planned.refused.back().not_available = shortened(escaped(error.what()), max_text_bytes);
    }
  }
  if (planned.encoders.empty()) {
    throw InvalidArgument(planned.refused.empty() ? "no backend is asked for; allowed: at least one"
                                                  : planned.refused.front().not_available);
  }
  return planned;
}

std::vector<AccuracyReport> measure_accuracy(std::span<const Encoder* const> encoders,
                                             RowRange table, const AccuracyOptions& options) {
  check(encoders, table, options);
  if (encoders.empty()) return {};
  const EncodingSpec& spec = encoders.front()->spec();
  const Reference reference(spec);
  const auto div_term = backend("div_term").plan(spec);

  std::vector<RowRange> compared = options.compared;
  if (compared.empty()) compared = {table};
  std::int64_t rows = 0;
  for (const RowRange& run : compared) rows += run.count;
  const auto caller = std::this_thread::get_id();
  std::atomic<std::int64_t> rows_done = 0;
  const auto finished = [&](std::int64_t count) {
    const std::int64_t done = rows_done += count;
    if (options.progress && std::this_thread::get_id() == caller)
      options.progress(static_cast<double>(done) / static_cast<double>(rows));
  };
  const std::int64_t parts = tally_parts(rows, options.threads);
  Tally none(spec.d_model, static_cast<std::size_t>(options.worst));
  none.map = MapTally(table, spec.d_model);
  std::vector tallies(static_cast<std::size_t>(parts), std::vector(encoders.size(), none));
  parallel_for(parts, 1, options.threads, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t i = first; i < last; ++i) {
      // Take the rows of each run that belong to this part of all compared rows.
      std::int64_t begin = part_begin(rows, parts, i), end = part_begin(rows, parts, i + 1);
      for (const RowRange& run : compared) {
        const std::int64_t from = std::max<std::int64_t>(begin, 0), to = std::min(end, run.count);
        if (from < to)
          tally_rows(encoders, *div_term, reference, {run.first + from, to - from}, options.type,
                     tallies[static_cast<std::size_t>(i)], finished);
        begin -= run.count;
        end -= run.count;
      }
    }
  });
  if (options.progress) options.progress(1.0);

  std::vector<AccuracyReport> reports;
  for (std::size_t i = 0; i < encoders.size(); ++i) {
    Tally& sum = tallies.front()[i];
    for (std::size_t part = 1; part < tallies.size(); ++part) sum.merge(tallies[part][i]);
    reports.push_back(report_of(*encoders[i], table, options.type, sum));
  }
  return reports;
}

}  // namespace posenc::suite
