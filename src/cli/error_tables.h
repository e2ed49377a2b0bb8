// Parts of accuracy reports as tables for people.
#pragma once

#include "posenc/suite/accuracy_report.h"

#include <cstdint>
#include <functional>
#include <string>

namespace posenc::cli {

using namespace suite;

std::string position_table(const AccuracyReport& report);
/// The channels with the largest errors, and what each holds: "sin(pos w_12)".
std::string channel_table(const AccuracyReport& report,
                          const std::function<std::string(std::int64_t channel)>& function_text);
std::string quantile_table(const AccuracyReport& report);
/// What the table has, the exact value, and the difference.
std::string worst_entry_text(const AccuracyReport& report);

}  // namespace posenc::cli
