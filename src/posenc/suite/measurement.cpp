#include "posenc/suite/measurement.h"

#include "posenc/frequency_rule_text.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/suite/shape_class.h"
#include "posenc/suite/statistics.h"
#include "posenc/support/check.h"
#include "posenc/support/enum_names.h"
#include "posenc/support/format.h"
#include "posenc/support/system.h"

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

Measured row_of(const Backend& backend, const MeasuredTable& table) {
  return {{.backend = std::string(backend.name()),
           .isa = std::string(to_string(backend.isa())),
           .role = backend.can_be_picked() ? Role::backend : Role::peer},
          table};
}

double Measurement::gfloats_per_second() const { return table.entries() / median(seconds) / 1e9; }

bool Measurement::keeps_its_promise() const noexcept {
  return !error || !promise || error->max_abs <= promise->max_abs;
}

std::string leave_out_large(std::vector<MeasuredTable>& tables, std::int64_t most_bytes) {
  const bool is_half = most_bytes <= 0;
  if (is_half) most_bytes = memory_bytes() / 2;
  // A copy reads a finished table and writes another one.
  constexpr std::int64_t copies_in_memory = 2;
  std::vector<std::string> names;
  std::erase_if(tables, [&](const MeasuredTable& each) {
    const bool is_large = most_bytes > 0 && copies_in_memory * each.bytes() > most_bytes;
    if (is_large) names.push_back(each.text());
    return is_large;
  });
  if (names.empty()) return "";
  const std::string why =
      format_text("{}: a table and its copy would need more than {} bytes{}", join(names, "; "),
                  most_bytes, is_half ? ", half of the memory" : "");
  if (tables.empty()) throw_invalid("nothing is left to measure: {}", why);
  return why;
}

MeasuredTable table_of(const EncodingSpec& spec, RowRange rows, DataType type, int threads) {
  validate(spec);
  validate(rows);
  check_threads(threads);
  if (rows.count == 0) throw InvalidArgument("rows are 0; allowed: at least 1");
  return {.name = size_name(spec, rows),
          .spec = spec,
          .rows = rows,
          .type = type,
          .stride = spec.d_model,
          .threads = threads};
}

std::vector<MeasuredTable> default_tables(DataType type, int threads) {
  const EncodingSpec paper, halves = {.layout = Layout::halves, .spacing = Spacing::inclusive};
  const auto table = [&](EncodingSpec spec, std::int64_t rows, std::int64_t d_model) {
    spec.d_model = d_model;
    return table_of(spec, {0, rows}, type, threads);
  };
  std::vector<MeasuredTable> tables = {
      table(paper, 64, 64),
      table(paper, 256, 256),
      table(paper, 8, 512),
      table(halves, 512, 512),
      table({.layout = Layout::halves_cos_first}, 1000, 320),
      table(halves, 1024, 1024),
      table(halves, 1500, 1280),
      table(paper, 2048, 1024),
      table(paper, 5000, 512),
      table(paper, 131072, 128),
  };
  // One table for all machines is larger than most caches. Another one is larger than the caches of
  // this machine, but at most 1 GiB.
  constexpr std::int64_t wide = 4096, common_rows = 8192, most_bytes = std::int64_t{1} << 30;
  tables.push_back(table(paper, common_rows, wide));
  std::int64_t rows = common_rows;
  const auto bytes = [&] { return rows * wide * size_of(type); };
  while (shape_class(bytes()) != ShapeClass::memory && 2 * bytes() <= most_bytes) rows *= 2;
  if (rows > common_rows) tables.push_back(table(paper, rows, wide));
  return tables;
}

std::vector<const Backend*> backends_here(std::optional<Isa> isa) {
  std::vector<const Backend*> chosen = backends();
  std::erase_if(chosen, [&](const Backend* each) {
    if (!each->runs_here()) return true;
    if (isa) return each->isa() != *isa;
    return !each->can_be_picked() && each != &backend(each->name());
  });
  return chosen;
}

std::string_view to_string(Role role) noexcept { return role_names[role]; }

Role parse_role(std::string_view name) { return role_names.parse(name); }

}  // namespace posenc::suite
