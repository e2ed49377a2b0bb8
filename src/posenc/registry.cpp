#include "posenc/registry.h"

#include "posenc/backends/backends.h"
#include "posenc/cpu.h"
#include "posenc/profile.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <set>
#include <utility>

namespace posenc {
namespace {

constexpr std::string_view default_backend = "rotation";

/// The one list of built-in backends: the simplest method first.
std::vector<std::unique_ptr<Backend>> built_in_backends() {
  std::vector<std::unique_ptr<Backend>> all;
  all.push_back(make_naive_backend());
  all.push_back(make_div_term_backend());
  for (auto& of_isa : make_xsimd_backends()) all.push_back(std::move(of_isa));
  for (auto& of_isa : make_rotation_backends()) all.push_back(std::move(of_isa));
  for (auto& of_isa : make_rotation32_backends())
    all.push_back(std::move(of_isa));  // after the exact one, which wins a tie
  return all;
}

struct Registry {
  std::mutex mutex;
  std::vector<std::unique_ptr<Backend>> all = built_in_backends();
};

Registry& registry() {
  static Registry instance;
  return instance;
}

[[noreturn]] void throw_unknown(std::string_view name) {
  std::vector<std::string> known;
  std::set<std::string_view> seen;
  for (const Backend* each : backends()) {
    if (seen.insert(each->name()).second) known.emplace_back(each->name());
  }
  throw InvalidArgument(format_text("backend is '{}'; allowed: {}, or one with its ISA, such as {}", name,
                                    join(known, ", "), backends().back()->full_name()));
}

/// What the environment and the profile say, read once.
struct Wishes {
  std::string environment;
  LoadedProfile loaded;
};

const Wishes& wishes() {
  static const Wishes read = [] {
    const char* wanted = std::getenv("POSENC_BACKEND");
    return Wishes{wanted == nullptr ? "" : wanted, load_profile(default_profile_path())};
  }();
  return read;
}

/// The pick for the shape class and type that was made for the most threads up to `threads`.
const ProfilePick* profile_pick(const Profile& profile, ShapeClass shape, DataType type, int threads) {
  const ProfilePick* best = nullptr;
  for (const ProfilePick& each : profile.picks) {
    if (each.shape != shape || each.type != type || each.threads > threads) continue;
    if (best == nullptr || each.threads > best->threads) best = &each;
  }
  return best;
}

const Backend* find(std::string_view name, Isa isa) {
  for (const Backend* each : backends()) {
    if (each->name() == name && each->isa() == isa) return each;
  }
  return nullptr;
}

void check_runs_here(const Backend& checked) {
  if (checked.runs_here()) return;
  std::vector<std::string_view> names;
  for (const Isa each : cpu().isas) names.push_back(to_string(each));
  throw InvalidArgument(format_text("ISA is '{}' (backend {}); allowed: what this CPU supports: {}",
                                    to_string(checked.isa()), checked.name(), join(names, ", ")));
}

}  // namespace

bool Backend::runs_here() const noexcept { return cpu_has(isa()); }

std::string Backend::full_name() const { return format_text("{}:{}", name(), to_string(isa())); }

std::unique_ptr<const Encoder> Backend::plan(const EncodingSpec& spec) const {
  validate(spec);
  check_runs_here(*this);
  return make_encoder(spec);
}

std::vector<const Backend*> backends() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::vector<const Backend*> list;
  for (const auto& each : all.all) list.push_back(each.get());
  return list;
}

const Backend& backend(std::string_view name) {
  if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
    return backend(name.substr(0, colon), parse_isa(name.substr(colon + 1)));
  }
  const Backend* best = nullptr;
  for (const Backend* each : backends()) {
    if (each->name() == name && each->runs_here() && (best == nullptr || each->isa() > best->isa())) best = each;
  }
  if (best == nullptr) throw_unknown(name);
  return *best;
}

const Backend& backend(std::string_view name, Isa isa) {
  if (const Backend* found = find(name, isa)) {
    check_runs_here(*found);
    return *found;
  }
  std::vector<std::string_view> isas;
  for (const Backend* each : backends()) {
    if (each->name() == name) isas.push_back(to_string(each->isa()));
  }
  if (isas.empty()) throw_unknown(name);
  throw InvalidArgument(format_text("ISA is '{}'; allowed for backend {} in this build: {}", to_string(isa), name,
                                    join(isas, ", ")));
}

const Backend& register_backend(std::unique_ptr<Backend> added) {
  if (added == nullptr) throw InvalidArgument("backend is null; allowed: a backend");
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (const auto& each : all.all) {
    if (each->name() == added->name() && each->isa() == added->isa()) {
      throw InvalidArgument(
          format_text("backend is '{}', which is registered already; allowed: a new name or ISA", added->full_name()));
    }
  }
  return *all.all.emplace_back(std::move(added));
}

Selection select_backend(const EncodingSpec& spec, RowRange rows, int threads, DataType type) {
  const Wishes& wished = wishes();
  if (!wished.environment.empty()) {
    try {
      return {&backend(wished.environment), SelectionSource::environment, "POSENC_BACKEND names it"};
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(format_text("POSENC_BACKEND: {}", error.what()));
    }
  }
  const ShapeClass shape = shape_class(table_bytes(spec, rows.count, size_of(type)));
  std::string why_not = wished.loaded.reason;
  if (wished.loaded.profile) {
    const ProfilePick* picked = profile_pick(*wished.loaded.profile, shape, type, threads);
    if (picked == nullptr) {
      why_not =
          format_text("the profile has no pick for shape class {} and dtype {}", to_string(shape), to_string(type));
    } else if (const Backend* found = find(picked->backend, picked->isa); found == nullptr || !found->runs_here()) {
      why_not =
          format_text("the profile picks {}:{}, which is not in this build", picked->backend, to_string(picked->isa));
    } else {
      return {found, SelectionSource::profile,
              format_text("the profile picks it for shape class {}", to_string(shape))};
    }
  }
  return {&backend(default_backend), SelectionSource::built_in, format_text("built-in default ({})", why_not)};
}

}  // namespace posenc
