/// @file
/// The document of a machine's measurements, as JSON in a file.
#pragma once

#include "posenc/suite/measurement.h"

#include <filesystem>
#include <string>

namespace posenc::suite {

/// A document with this machine's CPU, compiler and versions, the time, and no measurements.
Measurements measurements_of_this_machine();

/// Throws InvalidArgument, in one line, if the text is no document of measurements.
Measurements parse_measurements(const std::string& text);

/// Throws InvalidArgument, in one line that names the file, if it cannot be read or is no document
/// of measurements.
Measurements read_measurements(const std::filesystem::path& file);

/// Replaces the file atomically. Throws std::system_error, which names the path.
void write_measurements(const Measurements& document, const std::filesystem::path& file);

}  // namespace posenc::suite
