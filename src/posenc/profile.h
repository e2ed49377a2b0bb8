/// @file
/// The profile: the measurements of this CPU that selection goes by, in a file. `posenc pick
/// --save` writes it, and the library reads it once, at first use. It holds measurements and no
/// choice: selection combines them with the accuracy that a program asks for.
#pragma once

#include "posenc/export.h"
#include "posenc/measured_class.h"
#include "posenc/measurement.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace POSENC_API posenc {

/// $POSENC_PROFILE, else $XDG_CONFIG_HOME/posenc/profile.json, else
/// $HOME/.config/posenc/profile.json. Empty if none of these variables is set.
std::filesystem::path default_profile_path();

/// A profile, or the reason why none is used.
struct LoadedProfile {
  std::optional<Measurements> measurements;  ///< none if there is a reason
  std::vector<MeasuredClass> classes;        ///< of the measurements
  std::string reason;                        ///< one line; empty if the profile is used
};

/// Returns a reason, and does not throw, if the file is missing, unreadable or corrupt, or is of
/// another format, CPU or digest of the kernels. The library version does not matter.
LoadedProfile load_profile(const std::filesystem::path& file);

/// Why the document cannot be a profile here: another CPU, or other kernels. Empty if it can.
std::string why_not_of_this_machine(const Measurements& document);

/// The measurements of both. Those of `newer` replace all of the same shape class, type and number
/// of threads.
Measurements merge(const Measurements& older, const Measurements& newer);

}  // namespace posenc
