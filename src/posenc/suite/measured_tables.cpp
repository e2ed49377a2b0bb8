#include "posenc/suite/measured_tables.h"

#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/suite/shape_class.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"
#include "posenc/support/system.h"

namespace posenc::suite {
namespace {

/// A table needs memory twice: for the table that is written, and for the finished one that a copy
/// reads.
constexpr std::int64_t copies_in_memory = 2;

}  // namespace

std::string leave_out_large(std::vector<MeasuredTable>& tables, std::int64_t most_bytes) {
  if (most_bytes <= 0) most_bytes = memory_bytes() / 2;
  std::vector<std::string> names;
  std::erase_if(tables, [&](const MeasuredTable& each) {
    const bool is_large = most_bytes > 0 && copies_in_memory * each.bytes() > most_bytes;
    if (is_large) names.push_back(each.text());
    return is_large;
  });
  if (names.empty()) return "";
  const std::string why =
      format_text("{}: a table and its copy would need more than {} bytes, half of the memory",
                  join(names, "; "), most_bytes);
  if (tables.empty()) throw_invalid("nothing is left to measure: {}", why);
  return why;
}

MeasuredTable table_of(const EncodingSpec& spec, RowRange rows, DataType type, int threads) {
  validate(spec);
  validate(rows);
  check_threads(threads);
  if (rows.count == 0) throw InvalidArgument("rows are 0; allowed: at least 1 to measure");
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

}  // namespace posenc::suite
