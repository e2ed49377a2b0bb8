// posenc profile: shows or removes the measurements that the library selects by.
#include "posenc/profile.h"

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/text.h"

#include "posenc/selection.h"
#include "posenc/support/statistics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace posenc::cli {
namespace {

struct ProfileCommand {
  CommonOptions common;
  bool forget = false;
};

/// Of the median process, as in the tables of pick.
double gfloats_per_second(const MeasuredBackend& measured) {
  return 1e-9 / median(measured.seconds_per_entry);
}

std::string class_text(const MeasuredClass& measured) {
  return fmt::format(
      "{} {}, {}: {}; {} processes, noise {:.1f} %, {}", to_string(measured.shape),
      to_string(measured.type), threads_text(measured.threads), fmt::join(measured.shapes, " "),
      measured.backends.empty() ? 0 : measured.backends.front().seconds_per_entry.size(),
      100 * measured.noise_floor, measured.measured_at);
}

std::string measurements_text(const Profile& profile) {
  Table table({{"backend", Align::left}, {"Gfloat/s"}, {"max |error|"}, {"max ulp"}, {"bound"}});
  for (const MeasuredClass& measured : profile.classes) {
    if (!table.empty()) table.add_gap();
    table.add_heading(class_text(measured));
    std::vector<const MeasuredBackend*> order;
    for (const MeasuredBackend& each : measured.backends) order.push_back(&each);
    std::ranges::stable_sort(order, {},
                             [](const auto* each) { return -gfloats_per_second(*each); });
    for (const MeasuredBackend* each : order) {
      table.add_row({fmt::format("{}:{}", each->backend, to_string(each->isa)),
                     fmt::format("{:.2f}", gfloats_per_second(*each)), error_text(each->max_abs),
                     ulp_text(each->max_ulp), error_text(each->error_bound)});
    }
  }
  return table.text();
}

std::string page_of(const std::filesystem::path& file, const LoadedProfile& loaded) {
  if (!loaded.profile) return wrapped(fmt::format("None in use: {}\n", loaded.reason));
  const Profile& profile = *loaded.profile;
  const auto most_cached = profile.most_cached_bytes();
  const std::string stores =
      most_cached ? fmt::format("stores    {}\n", stores_text(*most_cached)) : "";
  return wrapped(fmt::format("profile   {}\nCPU       {}: {}\nlibrary   {}, kernels {}, {}\n",
                             file.string(), profile.cpu_model,
                             fmt::join(profile.cpu_features, ", "), profile.library_version,
                             profile.kernels, profile.compiler) +
                 stores) +
         "\n" + measurements_text(profile) + "\nposenc profile --forget removes it\n";
}

Json json_of(const MeasuredBackend& measured) {
  return {{"backend", measured.backend},
          {"isa", to_string(measured.isa)},
          {"gfloats_per_second", gfloats_per_second(measured)},
          {"seconds_per_entry", measured.seconds_per_entry},
          {"max_abs", measured.max_abs},
          {"max_ulp", measured.max_ulp},
          {"error_bound", measured.error_bound}};
}

Json document_of(const std::filesystem::path& file, const LoadedProfile& loaded) {
  Json document = new_document();
  document["profile"] = {
      {"path", file.string()}, {"valid", loaded.profile.has_value()}, {"reason", loaded.reason}};
  document["classes"] = Json::array();
  if (!loaded.profile) return document;
  document["profile"]["library_version"] = loaded.profile->library_version;
  document["profile"]["kernels"] = loaded.profile->kernels;
  document["profile"]["compiler"] = loaded.profile->compiler;
  if (const auto most = loaded.profile->most_cached_bytes())
    document["profile"]["most_cached_bytes"] = *most;
  for (const MeasuredClass& each : loaded.profile->classes) {
    Json measured = {{"shape_class", to_string(each.shape)},
                     {"dtype", to_string(each.type)},
                     {"threads", each.threads},
                     {"measured_at", each.measured_at},
                     {"shapes", each.shapes},
                     {"noise_floor", each.noise_floor},
                     {"backends", Json::array()}};
    for (const MeasuredBackend& backend : each.backends)
      measured["backends"].push_back(json_of(backend));
    document["classes"].push_back(std::move(measured));
  }
  return document;
}

/// Removes the file, valid or not. Returns a line that says what was done.
std::string forget(const std::filesystem::path& file) {
  if (file.empty())
    return "No profile to forget: none of POSENC_PROFILE, XDG_CONFIG_HOME and HOME is set\n";
  std::error_code error;
  const auto status = std::filesystem::symlink_status(file, error);
  if (!std::filesystem::exists(status))
    return fmt::format("No profile to forget at {}\n", file.string());
  if (!std::filesystem::is_regular_file(status) && !std::filesystem::is_symlink(status)) {
    throw InvalidArgument(fmt::format(
        "profile is {}, which is not a file; allowed: a file to remove", file.string()));
  }
  std::filesystem::remove(file, error);
  if (error) throw std::system_error(error, fmt::format("cannot remove {}", file.string()));
  return fmt::format("Profile removed: {}\n", file.string());
}

int profile(const ProfileCommand& command) {
  const std::filesystem::path file = default_profile_path();
  if (command.forget) {
    write_all("", forget(file));
    return good;
  }
  const LoadedProfile& loaded = profile_in_use();
  if (command.common.format == "json") {
    write_all(command.common.output, text_of(document_of(file, loaded)));
  } else {
    write_page(command.common.output, page_of(file, loaded));
  }
  return good;
}

}  // namespace

void add_profile_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<ProfileCommand>();
  CLI::App& command = add_subcommand(
      app, "profile", "Show or remove the measurements of this CPU that the library selects by",
      action, [options] { return profile(*options); });
  add_flag(command, options->forget, "--forget", "remove the profile");
  add_format_option(command, options->common, {"table", "json"}, "table");
  add_output_option(command, options->common);
  exclude(command, "--forget", {"--format", "--output"});
  describe(command,
           {{"posenc profile", "the profile in use: its path, its CPU, and what was measured"},
            {"posenc profile --forget", "back to the built-in order"},
            {"posenc profile --format json", "the same for programs"}});
}

}  // namespace posenc::cli
