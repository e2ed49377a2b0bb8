// The tables and frequencies in a model's .safetensors file.
#pragma once

#include "cli/options.h"

#include "posenc/check/report.h"

#include <functional>
#include <string>
#include <vector>

namespace posenc::cli {

/// The tensors of a .safetensors file whose names are those of frequencies or of rotary caches.
std::vector<std::string> model_tables(const std::string& file);

/// Judges a cache: the tensor that the options name.
using JudgeCache = std::function<check::TableReport(const Options&)>;

/// Judges these tensors of the file --config describes, prints a line for each, and returns an exit
/// code.
int check_model(const Options& options, const std::vector<std::string>& tensors,
                const JudgeCache& judge);

}  // namespace posenc::cli
