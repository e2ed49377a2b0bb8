#include "posenc/check/frequencies.h"

#include "posenc/check/causes.h"
#include "posenc/check/columns.h"
#include "posenc/check/identify.h"
#include "posenc/check/text.h"
#include "posenc/check/ways.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>

namespace posenc::check {

using namespace suite;
namespace {

bool are_descending(std::span<const double> frequencies) {
  return std::ranges::all_of(frequencies, [](double each) { return std::isfinite(each); }) &&
         std::ranges::is_sorted(frequencies, std::ranges::greater());
}

}  // namespace

FrequencyReport frequencies(std::span<const double> frequencies,
                            const std::optional<EncodingSpec>& spec) {
  const auto count = std::ssize(frequencies);
  if (count < 1 || 2 * count > max_d_model)
    throw_invalid("there are {} frequencies; allowed: 1 to {}", count, max_d_model / 2);
  std::optional<EncodingSpec> wanted = spec;
  if (wanted && wanted->d_model == 0) wanted->d_model = 2 * count;
  if (wanted) validate(*wanted);
  if (wanted && wanted->d_model != 2 * count)
    throw_invalid("there are {} frequencies; allowed with d_model {}: {}", count, wanted->d_model,
                  wanted->d_model / 2);
  const TableView row(MatrixView<const double>{frequencies.data(), 1, count, count});
  const SampledTable sample(row, true);
  // The search takes most of the time. Frequencies that are claimed and right need none.
  std::optional<Hypothesis> found;
  if (!wanted) found = identify(sample, {.spec = {}});
  FrequencyReport report;
  report.is_identified = found || wanted;
  if (found) report.spec = found->mistake.empty() ? found->is.spec : found->intended;
  if (wanted) report.spec = *wanted;
  std::vector<double> exact(frequencies.size());
  if (report.is_identified) exact = frequencies_of(report.spec);
  std::vector<std::int64_t> not_finite, zero, other;  // frequencies that are off
  constexpr double most_off = 0x1p-19, largest = 10;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    const double given = frequencies[k],
                 error = given == exact[k] ? 0 : std::fabs(given / exact[k] - 1);
    report.max_relative_error =
        std::max(report.max_relative_error, error <= largest ? error : largest);
    if (report.is_identified && error <= most_off) continue;
    // Values this small are typical of memory that was never written.
    (!std::isfinite(given)         ? not_finite
     : std::fabs(given) < 0x1p-126 ? zero
                                   : other)
        .push_back(static_cast<std::int64_t>(k));
  }
  report.is_good = report.is_identified && report.max_relative_error <= most_off;
  if (report.is_good) return report;
  if (wanted) found = identify(sample, {.spec = wanted});
  std::vector<std::string> causes;
  const auto add_fault = [&](const std::vector<std::int64_t>& which, std::string_view fault) {
    if (!which.empty()) causes.push_back(fault_text(frequency_noun, which, fault));
  };
  // Without a claim, a convention that only some of the frequencies have says nothing if the others
  // may belong to another rule: every rule has descending frequencies.
  const bool is_explained =
      wanted || !found || !found->mistake.empty() || size_of(sample.type) == 2;
  if (!is_explained && !other.empty() && are_descending(frequencies)) report.is_identified = false;
  add_fault(not_finite, "is NaN or infinite");
  add_fault(zero, "is zero or nearly zero");
  if (found && !found->mistake.empty()) {
    causes.push_back(found->mistake);
  } else if (found && found->is.spec != report.spec) {
    causes.push_back("the frequencies are those of " + convention_text(found->is.spec));
  } else if (found && size_of(sample.type) == 2) {
    const Way way = explain(sample, found->is, 1).front();
    causes.push_back(way.is_exact ? format_text("frequencies in {}", to_string(sample.type))
                                  : way.text);
  } else if (report.is_identified) {
    add_fault(other, "has other values");
  }
  report.cause = join(causes, "; and ");
  return report;
}

std::string frequencies_text(const FrequencyReport& report) {
  const std::int64_t count = report.spec.d_model / 2;
  if (!report.is_identified) return "frequencies of no convention that posenc knows";
  return format_text("{} frequencies, {}", count, convention_text(report.spec));
}

std::string to_string(const FrequencyReport& report) {
  std::string text = report.is_good ? "good" : report.is_identified ? "wrong" : "not recognised";
  if (report.is_identified)
    text +=
        format_text(": the largest relative error is {}", error_text(report.max_relative_error));
  text += "\n" + frequencies_text(report);
  return report.cause.empty() ? text : text + "\ncause: " + report.cause;
}

}  // namespace posenc::check
