// The conformance set: correctly rounded tables at positions that tell right implementations from
// wrong ones, and the verdict on the tables of another implementation.
#pragma once

#include "cli/options.h"

#include <filesystem>

namespace posenc::cli {

/// Adds --conformance, which excludes all options that were added before it.
void add_conformance(CLI::App& app, Options& options, const std::string& description);

/// Writes a file of little-endian elements for each table and type, and manifest.json, which
/// describes each table and gives the SHA-256 of each file.
void write_conformance_set(const std::filesystem::path& folder);

/// Judges every file of the set that is in the folder, as posenc check would. Returns an exit code.
int check_conformance_set(const Options& options);

}  // namespace posenc::cli
