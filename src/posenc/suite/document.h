/// @file
/// The document of a machine's measurements, as JSON in a file.
#pragma once

#include "posenc/suite/measurement.h"

#include <filesystem>
#include <string>

namespace posenc::suite {

/// A document without measurements. It holds this machine's CPU, the compiler, the versions and the
/// time.
Measurements measurements_of_this_machine();

/// Parses a document. Throws InvalidArgument with a one-line message if the text is no document of
/// measurements.
Measurements parse_measurements(const std::string& text);

/// Reads a document. Throws InvalidArgument with a one-line message that names the file, if the
/// file cannot be read or is no document of measurements.
Measurements read_measurements(const std::filesystem::path& file);

/// Replaces the file atomically. Throws std::system_error, whose message names the path.
void write_measurements(const Measurements& document, const std::filesystem::path& file);

}  // namespace posenc::suite
