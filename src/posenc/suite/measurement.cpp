#include "posenc/suite/measurement.h"

#include "posenc/frequency_rule_text.h"
#include "posenc/suite/statistics.h"
#include "posenc/support/enum_names.h"
#include "posenc/support/format.h"

namespace posenc::suite {
namespace {

constexpr auto role_names = enum_names<Role>("role", "backend", "peer", "limit");

}  // namespace

std::string size_name(const EncodingSpec& spec, RowRange rows) {
  return format_text("{}x{}", rows.count, spec.d_model);
}

double MeasuredTable::entries() const noexcept {
  return static_cast<double>(rows.count) * static_cast<double>(spec.d_model);
}

std::string MeasuredTable::text() const {
  const EncodingSpec paper;
  std::string text = name;
  const auto say = [&](bool is_unusual, const auto&... parts) {
    if (is_unusual) ((text += ", "), ..., (text += parts));
  };
  if (name == size_name(spec, rows)) {
    say(rows.first != 0, "first ", std::to_string(rows.first));
    say(spec.layout != paper.layout, to_string(spec.layout));
    say(spec.spacing != paper.spacing, to_string(spec.spacing));
    say(spec.base != paper.base, "base ", format_text("{}", spec.base));
    say(!is_base(spec.frequencies), to_string(spec.frequencies));
  }
  say(type != DataType::float32, to_string(type));
  say(threads > 1, std::to_string(threads), " threads");
  say(stride != spec.d_model, "stride ", std::to_string(stride));
  say(stores != StorePolicy::automatic, to_string(stores), " stores");
  return text;
}

std::int64_t MeasuredTable::bytes() const { return table_bytes(spec, rows.count, size_of(type)); }

std::string MeasuredBackend::full_name() const {
  return isa.empty() ? backend : backend + ":" + isa;
}

double Measurement::gfloats_per_second() const { return table.entries() / median(seconds) / 1e9; }

bool Measurement::keeps_its_promise() const noexcept {
  return !error || !promise || error->max_abs <= promise->max_abs;
}

std::string_view to_string(Role role) noexcept { return role_names[role]; }

Role parse_role(std::string_view name) { return role_names.parse(name); }

}  // namespace posenc::suite
