#include "posenc/check/text.h"

#include "posenc/frequency_rule_text.h"
#include "posenc/support/format.h"

#include <charconv>
#include <cstdlib>

namespace posenc::check {
inline namespace internals {

std::string numbers_text(const std::vector<std::int64_t>& numbers) {
  constexpr std::size_t most_runs = 6;
  std::vector<std::string> runs;
  std::size_t end = 0;  // of the numbers that the runs hold
  while (end < numbers.size() && runs.size() < most_runs) {
    const std::size_t first = end++;
    const std::int64_t step = end < numbers.size() ? numbers[end] - numbers[first] : 0;
    while (std::abs(step) == 1 && end < numbers.size() && numbers[end] - numbers[end - 1] == step)
      ++end;
    const bool is_run = end > first + 2;
    if (!is_run) end = first + 1;
    runs.push_back(is_run ? format_text("{} .. {}", numbers[first], numbers[end - 1])
                          : format_text("{}", numbers[first]));
  }
  const std::string text = join(runs, ", ");
  return end == numbers.size() ? text : format_text("{} and {} others", text, numbers.size() - end);
}

std::string shape_text(std::span<const std::int64_t> sizes) {
  std::vector<std::string> texts;
  for (const std::int64_t each : sizes) texts.push_back(std::to_string(each));
  return format_text("({}{})", join(texts, ", "), texts.size() == 1 ? "," : "");
}

std::string percent_text(double share) { return digits_text(100 * share, 3) + " %"; }

std::string rule_text(const FrequencyRule& rule) {
  std::string text = to_string(rule);
  constexpr std::string_view own = ",attention_factor=0";
  if (text.ends_with(own)) text.resize(text.size() - own.size());
  return text;
}

std::string error_text(double error) {
  return error == 0 ? "0" : digits_text(error, 2, std::chars_format::scientific);
}

std::string convention_text(const EncodingSpec& spec) {
  const std::string text =
      format_text("base {}, spacing {}", digits_text(spec.base, 6), to_string(spec.spacing));
  return is_base(spec.frequencies) ? text : text + ", frequencies " + rule_text(spec.frequencies);
}

std::string fault_text(const Noun& noun, const std::vector<std::int64_t>& which,
                       std::string_view fault) {
  const std::string numbers = numbers_text(which);
  if (which.size() == 1) return format_text("{} {} {}", noun.one, numbers, fault);
  const std::string_view verb = fault.starts_with("is") ? "are" : "have";
  return format_text("{} {} {}{}", noun.several, numbers, verb, fault.substr(fault.find(' ')));
}

std::string findings_text(const std::vector<std::string>& findings) {
  std::string text;
  for (const std::string& each : findings) text += "\nfound: " + each;
  return text;
}

}  // namespace internals
}  // namespace posenc::check
