#include "posenc/backend.h"

#include "posenc/cpu.h"
#include "posenc/support/floating_point.h"
#include "posenc/support/format.h"

#include <string_view>
#include <utility>
#include <vector>

namespace posenc {

Backend::Backend(Method method) : method_(std::move(method)) {
  const auto refuse = [this](std::string_view what) {
    throw_invalid("backend '{}' has no {}; allowed: a method that has one", method_.name, what);
  };
  if (method_.name.empty()) refuse("name");
  if (method_.types.empty()) refuse("element type");
  if (!method_.make_writer) refuse("make_writer");
}

bool Backend::runs_here() const noexcept { return cpu_has(isa()); }

std::string Backend::full_name() const { return format_text("{}:{}", name(), to_string(isa())); }

void Backend::check_runs_here() const {
  if (runs_here()) return;
  std::vector<std::string_view> names;
  for (const Isa each : cpu().isas) names.push_back(to_string(each));
  throw_invalid("ISA of backend {} is '{}'; allowed on this CPU: {}", name(), to_string(isa()),
                join(names, ", "));
}

std::unique_ptr<const Encoder> Backend::plan(const EncodingSpec& spec) const {
  validate(spec);
  const double factor = attention_factor(spec.frequencies);
  if (factor != 1)
    throw_invalid(
        "attention_factor is {}{}; allowed in an encoding: 1, because only Rotary applies the "
        "factor",
        factor, factor == 0 ? ", not given" : "");
  check_runs_here();
  const DefaultFloatingPoint environment;
  return std::make_unique<Encoder>(spec, *this, method_, method_.make_writer(spec));
}

}  // namespace posenc
