#include "posenc/profile.h"

#include "posenc/measuring/measurement_json.h"
#include "posenc/support/environment.h"
#include "posenc/support/format.h"
#include "posenc/support/input_file.h"
#include "posenc/version.h"

#include <set>
#include <system_error>
#include <tuple>

namespace posenc {
namespace {

std::string names_of(const std::vector<Isa>& isas) {
  std::vector<std::string_view> names;
  for (const Isa isa : isas) names.push_back(to_string(isa));
  return join(names, ", ");
}

LoadedProfile read_profile(const std::filesystem::path& file) {
  if (!std::filesystem::is_regular_file(file)) throw BadDocument("it is not a regular file");
  LoadedProfile loaded = {parse_measurements(read_document(file)), {}, ""};
  if (const std::string why = why_not_of_this_machine(*loaded.measurements); !why.empty())
    throw BadDocument(why);
  loaded.classes = classes_of(*loaded.measurements);
  return loaded;
}

}  // namespace

std::filesystem::path default_profile_path() {
  if (auto file = path_from_environment("POSENC_PROFILE"); !file.empty()) return file;
  const auto folder = settings_folder();
  return folder.empty() ? folder : folder / "posenc" / "profile.json";
}

LoadedProfile load_profile(const std::filesystem::path& file) {
  const auto none = [](std::string reason) { return LoadedProfile{{}, {}, std::move(reason)}; };
  if (file.empty())
    return none(format_text("no profile: none of POSENC_PROFILE{} is set", settings_variables));
  try {
    if (std::error_code error; !std::filesystem::exists(file, error) && !error)
      return none(format_text("no profile at {}", file.string()));
    return read_profile(file);
  } catch (const std::system_error& error) {
    return none(
        format_text("profile {} cannot be read: {}", file.string(), error.code().message()));
  } catch (const BadDocument& reason) {
    return none(format_text("profile {} is ignored: {}; run posenc pick --save again",
                            file.string(), reason.what()));
  }
}

std::string why_not_of_this_machine(const Measurements& document) {
  if (document.machine.model != cpu().model) {
    return format_text("it is of another CPU, '{}'; this one is '{}'", document.machine.model,
                       cpu().model);
  }
  if (document.machine.isas != cpu().isas) {
    return format_text("it is of a CPU with {}; this one has {}", names_of(document.machine.isas),
                       names_of(cpu().isas));
  }
  if (document.kernels != kernels_digest()) {
    return format_text("it measured the kernels {}, these are {}", document.kernels,
                       kernels_digest());
  }
  return "";
}

Measurements merge(const Measurements& older, const Measurements& newer) {
  const auto class_of = [](const Measurement& row) {
    return std::tuple(shape_class(row.table.bytes()), row.table.type, row.table.threads);
  };
  Measurements merged = newer;
  std::set<std::tuple<ShapeClass, DataType, int>> replaced;
  for (const Measurement& row : newer.all) replaced.insert(class_of(row));
  for (const Measurement& old : older.all) {
    if (!replaced.contains(class_of(old))) merged.all.push_back(old);
  }
  return merged;
}

}  // namespace posenc
