// The conformance set: correctly rounded tables at positions that tell right ones from wrong ones,
// and the verdict on those of another implementation.
#pragma once

#include "cli/options.h"

#include <filesystem>

namespace posenc::cli {

/// Writes a file of little-endian elements for each table and type, and manifest.json, which says
/// what each holds, and its SHA-256.
void write_conformance_set(const std::filesystem::path& folder);

/// Judges the files of the set that a folder has, as posenc check does each; returns an exit code.
int check_conformance_set(const Options& options);

}  // namespace posenc::cli
