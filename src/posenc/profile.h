// The profile: the picks for one CPU, saved as JSON, loaded by the library at first use.
#pragma once

#include "posenc/cpu.h"
#include "posenc/data_type.h"
#include "posenc/isa.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace posenc {

/// What is accepted of a backend. In ulp it is the measured error that counts: backends promise absolute bounds alone.
struct ErrorBudget {
  enum class Measure { absolute, ulp };
  double most = 1e-6;  ///< the largest error that is accepted, finite and > 0
  Measure measure = Measure::absolute;

  bool operator==(const ErrorBudget&) const = default;
};

/// The pick for one shape class, element type and thread count, with the figures that decided it.
struct ProfilePick {
  ShapeClass shape = ShapeClass::memory;
  DataType type = DataType::float32;
  int threads = 1;
  std::string backend;  ///< "rotation"
  Isa isa = Isa::scalar;
  std::vector<std::string> ties;    ///< full names of backends within the noise of the pick
  double gfloats_per_second = 0;    ///< geometric mean over the shapes timed
  double spread = 0;                ///< half the interquartile range over the median, worst shape
  double noise_floor = 0;           ///< how far from 1 the time of one backend over its own may be, 95 %
  std::string next;                 ///< full name of the fastest other backend; empty where there is none
  double margin = 0;                ///< its time over the pick's, less 1; negative where a simpler one was picked
  double max_abs = 0;               ///< worst measured error
  double max_ulp = 0;               ///< the same in ulp
  ErrorBudget budget;               ///< that it was picked under
  std::vector<std::string> shapes;  ///< names of the presets that were timed
};

struct Profile {
  static constexpr int format_version = 2;

  std::string cpu_model;
  std::vector<std::string> cpu_features;  ///< names of the ISAs that the CPU supports
  std::string compiler;
  std::string library_version;
  std::vector<ProfilePick> picks;
};

/// A profile with this machine's CPU, compiler and library version, and no picks.
Profile profile_of_this_machine();

/// $POSENC_PROFILE, else $XDG_CONFIG_HOME/posenc/profile.json, else $HOME/.config/posenc/profile.json. Empty where none is set.
std::filesystem::path default_profile_path();

/// What came of loading: a profile, or the reason why there is none to use.
struct LoadedProfile {
  std::optional<Profile> profile;
  std::string reason;  ///< one line; empty where the profile is used
};

/// Never throws on a bad file: missing, corrupt, of another version, or of another CPU gives a reason instead.
LoadedProfile load_profile(const std::filesystem::path& file);

/// Picks of `newer` replace those of `older` with the same shape class, type and thread count; the others stay.
Profile merge(const Profile& older, const Profile& newer);

/// Writes a temporary file beside it and renames it. Creates missing folders. Throws std::system_error naming the path.
void save_profile(const Profile& profile, const std::filesystem::path& file);

}  // namespace posenc
