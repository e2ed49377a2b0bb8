#include "posenc/profile.h"

#include "posenc/spec.h"
#include "posenc/support/atomic_file.h"
#include "posenc/support/format.h"
#include "posenc/support/read_file.h"
#include "posenc/support/ties.h"
#include "posenc/version.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>
#include <tuple>
#include <utility>

namespace posenc {
namespace {

using Json = nlohmann::ordered_json;

/// A larger file is not a profile, and is not read into memory.
constexpr std::uintmax_t max_profile_bytes = 1 << 20;

/// The reason why a profile is not used. what() completes a sentence that begins with its path.
class Unusable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[noreturn]] void corrupt(const std::string& where, std::string_view wanted) {
  throw Unusable(format_text("it is corrupt: {} is not {}", where, wanted));
}

/// A value of the document, and its path in the document for messages.
struct Node {
  const Json& value;
  std::string path;

  Node operator[](const char* key) const {
    if (!value.is_object()) corrupt(path, "an object");
    const std::string place = path.empty() ? key : format_text("{}.{}", path, key);
    const auto found = value.find(key);
    if (found == value.end()) throw Unusable(format_text("it is corrupt: {} is missing", place));
    return {*found, place};
  }

  std::vector<Node> elements() const {
    if (!value.is_array()) corrupt(path, "an array");
    std::vector<Node> all;
    for (std::size_t i = 0; i < value.size(); ++i)
      all.push_back({value[i], format_text("{}[{}]", path, i)});
    return all;
  }

  /// Rejects control characters, because the text may be printed to a terminal.
  std::string text() const {
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
    if (!value.is_string()) corrupt(path, "a text");
    const auto& content = value.get_ref<const std::string&>();
    if (content.empty() || std::ranges::any_of(content, is_control)) corrupt(path, "a text");
    return content;
  }

  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (const Node& each : elements()) all.push_back(each.text());
    return all;
  }

  int positive_integer(int most = 1 << 20) const {
    if (!value.is_number_integer() || value < 1 || value > most)
      corrupt(path, format_text("an integer from 1 to {}", most));
    return value.get<int>();
  }

  double non_negative() const {
    if (!value.is_number() || !std::isfinite(value.get<double>()) || value < 0)
      corrupt(path, "a number of at least 0");
    return value.get<double>();
  }

  std::vector<double> positive_numbers() const {
    std::vector<double> all;
    for (const Node& each : elements()) {
      if (each.non_negative() == 0) corrupt(each.path, "a number above 0");
      all.push_back(each.value.get<double>());
    }
    if (all.empty()) corrupt(path, "a list of numbers");
    return all;
  }

  template <class Parse>
  auto name(Parse parse) const {
    try {
      return parse(text());
    } catch (const InvalidArgument& error) {
      throw Unusable(format_text("it is corrupt: {}: {}", path, error.what()));
    }
  }
};

MeasuredBackend backend_from(const Node& node) {
  return {.backend = node["backend"].text(),
          .isa = node["isa"].name(parse_isa),
          .seconds_per_entry = node["seconds_per_entry"].positive_numbers(),
          .max_abs = node["max_abs"].non_negative(),
          .max_ulp = node["max_ulp"].non_negative(),
          .error_bound = node["error_bound"].non_negative()};
}

Json to_json(const MeasuredBackend& measured) {
  return {{"backend", measured.backend},
          {"isa", to_string(measured.isa)},
          {"seconds_per_entry", measured.seconds_per_entry},
          {"max_abs", measured.max_abs},
          {"max_ulp", measured.max_ulp},
          {"error_bound", measured.error_bound}};
}

MeasuredClass class_from(const Node& node) {
  MeasuredClass measured = {.shape = node["shape_class"].name(parse_shape_class),
                            .type = node["dtype"].name(parse_data_type),
                            .threads = node["threads"].positive_integer(),
                            .measured_at = node["measured_at"].text(),
                            .shapes = node["shapes"].texts(),
                            .noise_floor = node["noise_floor"].non_negative(),
                            .backends = {}};
  for (const Node& each : node["backends"].elements()) {
    measured.backends.push_back(backend_from(each));
    if (measured.backends.back().seconds_per_entry.size() !=
        measured.backends.front().seconds_per_entry.size()) {
      corrupt(each["seconds_per_entry"].path, "of as many processes as the first");
    }
  }
  return measured;
}

Json to_json(const MeasuredClass& measured) {
  Json document = {{"shape_class", to_string(measured.shape)},
                   {"dtype", to_string(measured.type)},
                   {"threads", measured.threads},
                   {"measured_at", measured.measured_at},
                   {"shapes", measured.shapes},
                   {"noise_floor", measured.noise_floor},
                   {"backends", Json::array()}};
  for (const MeasuredBackend& each : measured.backends)
    document["backends"].push_back(to_json(each));
  return document;
}

MeasuredStores stores_from(const Node& node) {
  MeasuredStores stores = {.backend = node["backend"].text(),
                           .bytes = node["bytes"].positive_integer(MeasuredStores::most_bytes),
                           .cached = node["cached"].positive_numbers(),
                           .non_temporal = node["non_temporal"].positive_numbers()};
  if (stores.cached.size() != stores.non_temporal.size())
    corrupt(node["non_temporal"].path, "of as many processes as the others");
  return stores;
}

Json to_json(const MeasuredStores& stores) {
  return {{"backend", stores.backend},
          {"bytes", stores.bytes},
          {"cached", stores.cached},
          {"non_temporal", stores.non_temporal}};
}

constexpr std::string_view again = "run posenc pick --save again";

Profile profile_from(const Node& root) {
  const int version = root["version"].positive_integer();
  if (version != Profile::format_version) {
    throw Unusable(format_text("its format is {}, this library reads {}: {}", version,
                               Profile::format_version, again));
  }
  Profile profile = {.cpu_model = root["cpu"]["model"].text(),
                     .cpu_features = root["cpu"]["features"].texts(),
                     .compiler = root["compiler"].text(),
                     .library_version = root["library_version"].text(),
                     .kernels = root["kernels"].positive_integer(),
                     .classes = {},
                     .stores = {}};
  for (const Node& node : root["classes"].elements()) {
    MeasuredClass measured = class_from(node);
    if (profile.find_exactly(measured.shape, measured.type, measured.threads) != nullptr) {
      throw Unusable(format_text("it is corrupt: {} repeats a shape class, dtype and thread count",
                                 node.path));
    }
    profile.classes.push_back(std::move(measured));
  }
  if (root.value.contains("stores")) {  // not in older profiles
    for (const Node& node : root["stores"].elements()) profile.stores.push_back(stores_from(node));
  }
  return profile;
}

Json parse(const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw Unusable(format_text("it is corrupt: not JSON at byte {}", error.byte));
  } catch (const Json::exception&) {
    throw Unusable("it is corrupt: not JSON (a number out of range)");
  }
}

void check_is_of_this_machine(const Profile& profile) {
  const Profile here = profile_of_this_machine();
  if (profile.cpu_model != here.cpu_model) {
    throw Unusable(format_text("it is of another CPU, '{}'; this one is '{}'", profile.cpu_model,
                               here.cpu_model));
  }
  if (profile.cpu_features != here.cpu_features) {
    throw Unusable(format_text("it is of a CPU with {}; this one has {}",
                               join(profile.cpu_features, ", "), join(here.cpu_features, ", ")));
  }
  if (profile.kernels != here.kernels) {
    throw Unusable(format_text("it measured revision {} of the kernels, these are revision {}: {}",
                               profile.kernels, here.kernels, again));
  }
}

Profile read_profile(const std::filesystem::path& file) {
  if (!std::filesystem::is_regular_file(file)) throw Unusable("it is not a regular file");
  if (std::filesystem::file_size(file) > max_profile_bytes)
    throw Unusable("it is corrupt: larger than 1 MiB");
  const Json document = parse(read_file(file));
  if (!document.is_object()) throw Unusable("it is corrupt: not a JSON object");
  Profile profile = profile_from({document, ""});
  check_is_of_this_machine(profile);
  return profile;
}

/// The value of an environment variable as a path. Empty if it is not set, or if it is relative and
/// must be absolute, as the XDG specification requires.
std::filesystem::path path_from_environment(const char* variable, bool must_be_absolute) {
  const char* value = std::getenv(variable);
  std::filesystem::path path = value == nullptr ? "" : value;
  return must_be_absolute && !path.is_absolute() ? std::filesystem::path() : path;
}

}  // namespace

const MeasuredClass* Profile::find(ShapeClass shape, DataType type, int threads) const noexcept {
  const MeasuredClass* best = nullptr;
  for (const MeasuredClass& each : classes) {
    if (each.shape != shape || each.type != type || each.threads > threads) continue;
    if (best == nullptr || each.threads > best->threads) best = &each;
  }
  return best;
}

const MeasuredClass* Profile::find_exactly(ShapeClass shape, DataType type,
                                           int threads) const noexcept {
  const MeasuredClass* found = find(shape, type, threads);
  return found != nullptr && found->threads == threads ? found : nullptr;
}

std::optional<std::int64_t> Profile::most_cached_bytes() const {
  std::map<std::int64_t, double> log_ratios;  // by size: the sum over the backends
  for (const MeasuredStores& each : stores)
    log_ratios[each.bytes] += std::log(paired_ratio(each.cached, each.non_temporal).ratio);
  if (log_ratios.empty()) return {};
  std::int64_t most = log_ratios.begin()->first / 2;
  for (const auto& [bytes, log_ratio] : log_ratios) {
    if (log_ratio > 0) break;
    most = bytes;
  }
  return most;
}

Profile profile_of_this_machine() {
  Profile profile;
  profile.cpu_model = cpu().model;
  for (const Isa isa : cpu().isas) profile.cpu_features.emplace_back(to_string(isa));
  profile.compiler = compiler();
  profile.library_version = library_version();
  profile.kernels = kernels_revision;
  return profile;
}

std::filesystem::path default_profile_path() {
  if (auto file = path_from_environment("POSENC_PROFILE", false); !file.empty()) return file;
  if (auto folder = path_from_environment("XDG_CONFIG_HOME", true); !folder.empty()) {
    return folder / "posenc" / "profile.json";
  }
  if (auto home = path_from_environment("HOME", false); !home.empty()) {
    return home / ".config" / "posenc" / "profile.json";
  }
  return {};
}

LoadedProfile load_profile(const std::filesystem::path& file) {
  if (file.empty())
    return {{}, "no profile: none of POSENC_PROFILE, XDG_CONFIG_HOME and HOME is set"};
  try {
    if (std::error_code error; !std::filesystem::exists(file, error) && !error) {
      return {{}, format_text("no profile at {}", file.string())};
    }
    return {read_profile(file), ""};
  } catch (const std::system_error& error) {
    return {{},
            format_text("profile {} cannot be read: {}", file.string(), error.code().message())};
  } catch (const Unusable& reason) {
    return {{}, format_text("profile {} is ignored: {}", file.string(), reason.what())};
  }
}

Profile merge(const Profile& older, const Profile& newer) {
  Profile merged = newer;
  for (const MeasuredClass& old : older.classes) {
    if (newer.find_exactly(old.shape, old.type, old.threads) == nullptr)
      merged.classes.push_back(old);
  }
  if (merged.stores.empty()) merged.stores = older.stores;
  std::ranges::stable_sort(merged.classes, {}, [](const MeasuredClass& each) {
    return std::tuple(each.shape, each.type, each.threads);
  });
  return merged;
}

void save_profile(const Profile& profile, const std::filesystem::path& file) {
  Json document = {{"version", Profile::format_version},
                   {"cpu", {{"model", profile.cpu_model}, {"features", profile.cpu_features}}},
                   {"compiler", profile.compiler},
                   {"library_version", profile.library_version},
                   {"kernels", profile.kernels},
                   {"classes", Json::array()},
                   {"stores", Json::array()}};
  for (const MeasuredClass& each : profile.classes) document["classes"].push_back(to_json(each));
  for (const MeasuredStores& each : profile.stores) document["stores"].push_back(to_json(each));

  std::error_code error;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), error);
  if (error)
    throw std::system_error(error,
                            format_text("cannot make folder {}", file.parent_path().string()));
  OutputFile output(file);
  output.write(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  output.commit();
}

}  // namespace posenc
