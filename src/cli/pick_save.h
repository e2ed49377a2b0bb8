// Saving the measurements of a pick as this CPU's profile.
#pragma once

#include "posenc/profile.h"
#include "posenc/tuning/pick.h"

#include <filesystem>
#include <string>

namespace posenc::cli {

/// The file of that name; if it is empty, the one that the library reads. Throws InvalidArgument if
/// there is none.
std::filesystem::path file_to_save(const std::string& name);

/// True if a valid profile has the measurements of all shapes.
bool is_measured(const std::filesystem::path& file, const PickOptions& options);

/// Adds the measurements to those of an existing valid profile. Returns a line that says what was
/// done.
std::string save_measurements(const Profile& measured, const std::filesystem::path& file);

}  // namespace posenc::cli
