// The profile: speed and error of the backends on one CPU, saved as JSON by `posenc pick --save`,
// and loaded by the library at first use. It holds measurements and no choice: selection combines
// them with the accuracy that a program asks for.
#pragma once

#include "posenc/cpu.h"
#include "posenc/data_type.h"
#include "posenc/export.h"
#include "posenc/isa.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace POSENC_API posenc {

/// The measurements of one backend on the tables of one shape class.
struct MeasuredBackend {
  std::string backend;  ///< "rotation"
  Isa isa = Isa::scalar;
  /// One value per process, in the same order of processes for every backend of the class: the
  /// geometric mean, over the shapes, of the process's median time per entry.
  std::vector<double> seconds_per_entry;
  double max_abs = 0;      ///< largest measured error
  double max_ulp = 0;      ///< the same in ulp
  double error_bound = 0;  ///< proven bound of |error| over the measured rows
};

/// The measurements for one shape class, element type and thread count.
struct MeasuredClass {
  ShapeClass shape = ShapeClass::memory;
  DataType type = DataType::float32;
  int threads = 1;
  std::string measured_at;          ///< UTC: "2017-06-12T17:57:34Z"
  std::vector<std::string> shapes;  ///< names of the timed tables
  double noise_floor = 0;  ///< largest relative difference between two timings of one backend
  std::vector<MeasuredBackend> backends;
};

/// The times of one table with plain and with non-temporal stores.
struct MeasuredStores {
  static constexpr int least_bytes = 4 << 10, most_bytes = 1 << 30;

  std::string backend;     ///< full name: "rotation:avx2"
  std::int64_t bytes = 0;  ///< of the table; least_bytes to most_bytes
  /// Seconds per table: one median per process, in the same order of processes.
  std::vector<double> cached, non_temporal;
};

struct Profile {
  static constexpr int format_version = 3;

  std::string cpu_model;
  std::vector<std::string> cpu_features;  ///< names of the ISAs that the CPU supports
  std::string compiler;
  std::string library_version;
  int kernels = 0;  ///< kernels_revision of the library that measured
  std::vector<MeasuredClass> classes;
  std::vector<MeasuredStores> stores;  ///< float32, one thread; empty if not compared

  /// The largest compared size up to which plain stores are not slower, on the geometric mean over
  /// the backends; half the smallest if there is no such size. None if they were not compared.
  std::optional<std::int64_t> most_cached_bytes() const;
  /// The measurements for this class and type with the largest number of threads up to `threads`;
  /// null if there are none.
  const MeasuredClass* find(ShapeClass shape, DataType type, int threads) const noexcept;
  /// The same with exactly `threads` threads.
  const MeasuredClass* find_exactly(ShapeClass shape, DataType type, int threads) const noexcept;
};

/// A profile with this machine's CPU, compiler, library version and kernels, and no measurements.
Profile profile_of_this_machine();

/// $POSENC_PROFILE, else $XDG_CONFIG_HOME/posenc/profile.json, else
/// $HOME/.config/posenc/profile.json. Empty if none of these variables is set.
std::filesystem::path default_profile_path();

/// A profile, or the reason why none is used.
struct LoadedProfile {
  std::optional<Profile> profile;
  std::string reason;  ///< one line; empty if the profile is used
};

/// Returns a reason, and does not throw, if the file is missing, unreadable or corrupt, or has
/// another format, CPU or revision of the kernels. The library version does not matter.
LoadedProfile load_profile(const std::filesystem::path& file);

/// The measurements of both profiles. If both have the same shape class, type and thread count, or
/// both have compared stores, those of `newer` are kept.
Profile merge(const Profile& older, const Profile& newer);

/// Replaces the file atomically. Creates missing folders. Throws std::system_error, which names the
/// path.
void save_profile(const Profile& profile, const std::filesystem::path& file);

}  // namespace posenc
