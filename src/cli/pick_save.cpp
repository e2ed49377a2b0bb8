#include "cli/pick_save.h"

#include "cli/output.h"

#include "posenc/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace posenc::cli {

std::filesystem::path file_to_save(const std::string& name) {
  const std::filesystem::path file =
      name.empty() ? default_profile_path() : std::filesystem::path(name);
  if (file.empty()) {
    throw InvalidArgument(
        "--save is without FILE, and none of POSENC_PROFILE, XDG_CONFIG_HOME and HOME is set; "
        "allowed: one of them");
  }
  return file;
}

bool is_measured(const std::filesystem::path& file, const PickOptions& options) {
  const LoadedProfile known = load_profile(file);
  return known.profile && std::ranges::all_of(options.shapes, [&](const PickShape& each) {
           const ShapeClass shape =
               shape_class(table_bytes(each.spec, each.rows.count, size_of(options.type)));
           return known.profile->find_exactly(shape, options.type, options.threads) != nullptr;
         });
}

std::string save_measurements(const Profile& measured, const std::filesystem::path& file) {
  const LoadedProfile older =
      std::filesystem::is_regular_file(file) ? load_profile(file) : LoadedProfile{};
  const Profile merged = older.profile ? merge(*older.profile, measured) : measured;
  {
    const Uninterrupted whole;
    save_profile(merged, file);
  }
  const std::size_t kept = merged.classes.size() - measured.classes.size();
  std::string line = fmt::format("Profile saved: {}", file.string());
  if (kept > 0) line += fmt::format(" ({} earlier {} kept)", kept, kept == 1 ? "class" : "classes");
  if (!older.profile && !older.reason.empty())
    line += fmt::format("\nIt replaces one that could not be used: {}", older.reason);
  return line + "\n";
}

}  // namespace posenc::cli
