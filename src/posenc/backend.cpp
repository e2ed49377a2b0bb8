#include "posenc/backend.h"

#include "posenc/cpu.h"
#include "posenc/support/floating_point.h"
#include "posenc/support/format.h"

#include <algorithm>
#include <vector>

namespace posenc {
namespace {

void check_encodable(const EncodingSpec& spec) {
  validate(spec);
  const double factor = attention_factor(spec.frequencies);
  if (factor == 1) return;
  throw_invalid(
      "attention_factor is {}{}; allowed in an encoding, which does not apply it: 1, for the table "
      "without it (Rotary applies it)",
      factor, factor == 0 ? ", not given" : "");
}

}  // namespace

bool Backend::runs_here() const noexcept { return cpu_has(isa()); }

std::string Backend::full_name() const { return format_text("{}:{}", name(), to_string(isa())); }

void Backend::check_runs_here() const {
  if (runs_here()) return;
  std::vector<std::string_view> names;
  for (const Isa each : cpu().isas) names.push_back(to_string(each));
  throw_invalid("ISA is '{}' (backend {}); allowed: what this CPU supports: {}", to_string(isa()),
                name(), join(names, ", "));
}

void Backend::check_supports(DataType type) const {
  if (supports(type) && std::ranges::count(all_data_types, type) == 1) return;
  std::vector<std::string_view> allowed;
  for (const DataType each : all_data_types) {
    if (supports(each)) allowed.push_back(to_string(each));
  }
  throw_invalid("dtype is {}; allowed for backend {}: {}", to_string(type), name(),
                join(allowed, ", "));
}

std::unique_ptr<const Encoder> Backend::plan(const EncodingSpec& spec) const {
  check_encodable(spec);
  check_runs_here();
  const DefaultFloatingPoint environment;
  return make_encoder(spec);
}

}  // namespace posenc
