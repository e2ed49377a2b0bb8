// The profile: what was measured on one CPU, saved as JSON, loaded by the library at first use. It
// holds no verdict: selection joins it with the accuracy that a program asks for.
#pragma once

#include "posenc/cpu.h"
#include "posenc/data_type.h"
#include "posenc/export.h"
#include "posenc/isa.h"

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace POSENC_API posenc {

/// What was measured of one backend on the tables of one shape class.
struct MeasuredBackend {
  std::string backend;  ///< "rotation"
  Isa isa = Isa::scalar;
  /// One figure a process, in the same order of processes for every backend of the class: the
  /// geometric mean over the shapes of the process's median time, per entry of the table.
  std::vector<double> seconds_per_entry;
  double max_abs = 0;      ///< worst measured error
  double max_ulp = 0;      ///< the same in ulp
  double error_bound = 0;  ///< what it promises over those rows
};

/// One shape class, element type and thread count.
struct MeasuredClass {
  ShapeClass shape = ShapeClass::memory;
  DataType type = DataType::float32;
  int threads = 1;
  std::string measured_at;          ///< UTC: "2017-06-12T17:57:34Z"
  std::vector<std::string> shapes;  ///< names of what was timed
  double noise_floor = 0;           ///< how far from 1 the time of one backend over its own was
  std::vector<MeasuredBackend> backends;
};

struct Profile {
  static constexpr int format_version = 3;

  std::string cpu_model;
  std::vector<std::string> cpu_features;  ///< names of the ISAs that the CPU supports
  std::string compiler;
  std::string library_version;
  int kernels = 0;  ///< kernels_revision of the library that measured
  std::vector<MeasuredClass> classes;

  /// What was measured for that class and type with the most threads up to `threads`; null if
  /// nothing was.
  const MeasuredClass* find(ShapeClass shape, DataType type, int threads) const noexcept;
  /// The same with exactly so many threads.
  const MeasuredClass* find_exactly(ShapeClass shape, DataType type, int threads) const noexcept;
};

/// A profile with this machine's CPU, compiler, library version and kernels, and no measurements.
Profile profile_of_this_machine();

/// $POSENC_PROFILE, else $XDG_CONFIG_HOME/posenc/profile.json, else
/// $HOME/.config/posenc/profile.json. Empty if none is set.
std::filesystem::path default_profile_path();

/// What came of loading: a profile, or the reason why there is none to use.
struct LoadedProfile {
  std::optional<Profile> profile;
  std::string reason;  ///< one line; empty if the profile is used
};

/// Never throws on a bad file: if it is missing, corrupt, of another format, of other kernels or of
/// another CPU, it gives a reason instead. A profile of another library version whose kernels are
/// the same is good.
LoadedProfile load_profile(const std::filesystem::path& file);

/// Measurements of `newer` replace those of `older` of the same shape class, type and thread count;
/// the others stay.
Profile merge(const Profile& older, const Profile& newer);

/// Writes a temporary file beside it and renames it. Creates missing folders. Throws
/// std::system_error naming the path.
void save_profile(const Profile& profile, const std::filesystem::path& file);

}  // namespace posenc
