#include "posenc/registry.h"

#include "posenc/backends/backends.h"
#include "posenc/cpu.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace posenc {
namespace {

BackendList built_in_backends() {
  BackendList all;
#define POSENC_ADD_METHOD(method) add_##method(all);
  POSENC_METHODS(POSENC_ADD_METHOD)
#undef POSENC_ADD_METHOD
  return all;
}

struct Registry {
  std::mutex mutex;
  BackendList all = built_in_backends();
};

Registry& registry() {
  // Never destroyed: programs may encode while they exit.
  static Registry& instance = *new Registry;
  return instance;
}

[[noreturn]] void throw_unknown(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Backend* each : backends()) {
    if (std::ranges::count(known, each->name()) == 0) known.push_back(each->name());
  }
  throw_invalid("backend is '{}'; allowed: {}, or a name with an ISA, such as {}", name,
                join(known, ", "), backends().back()->full_name());
}

}  // namespace

std::vector<const Backend*> backends() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::vector<const Backend*> list;
  list.reserve(all.all.size());
  for (const auto& each : all.all) list.push_back(each.get());
  return list;
}

const Backend& backend(std::string_view name) {
  if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
    return backend(name.substr(0, colon), parse_isa(name.substr(colon + 1)));
  }
  const Backend *best = nullptr, *known = nullptr;
  for (const Backend* each : backends()) {
    if (each->name() != name) continue;
    known = each;
    if (each->runs_here() && (best == nullptr || each->isa() > best->isa())) best = each;
  }
  if (known == nullptr) throw_unknown(name);
  if (best == nullptr) known->check_runs_here();  // throws
  return *best;
}

const Backend& backend(std::string_view name, Isa isa) {
  std::vector<std::string_view> isas;
  for (const Backend* each : backends()) {
    if (each->name() != name) continue;
    if (each->isa() == isa) {
      each->check_runs_here();
      return *each;
    }
    isas.push_back(to_string(each->isa()));
  }
  if (isas.empty()) throw_unknown(name);
  throw_invalid("ISA is '{}'; allowed for backend {} in this build: {}", to_string(isa), name,
                join(isas, ", "));
}

const Backend& register_backend(Method method) {
  return register_backend(std::make_unique<Backend>(std::move(method)));
}

const Backend& register_backend(std::unique_ptr<Backend> added) {
  if (added == nullptr) throw InvalidArgument("backend is null; allowed: a valid pointer");
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (const auto& each : all.all) {
    if (each->name() == added->name() && each->isa() == added->isa())
      throw_invalid("backend is '{}', which is already registered; allowed: a new name or ISA",
                    added->full_name());
  }
  return *all.all.emplace_back(std::move(added));
}

std::unique_ptr<Backend> unregister_backend(const Backend& added) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = std::ranges::find(all.all, &added, &std::unique_ptr<Backend>::get);
  if (found == all.all.end())
    throw_invalid("backend is '{}', which is not registered; allowed: a registered backend",
                  added.full_name());
  std::unique_ptr<Backend> taken = std::move(*found);
  all.all.erase(found);
  return taken;
}

}  // namespace posenc
