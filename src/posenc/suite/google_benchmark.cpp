#include "posenc/suite/google_benchmark.h"

#include "posenc/frequency_rule_text.h"
#include "posenc/support/format.h"

#include <cstddef>

namespace posenc::suite {
namespace {

Json context_of(const Measurements& document) {
  Json caches = Json::array();
  const std::int64_t sizes[] = {document.machine.l1_bytes, document.machine.l2_bytes,
                                document.machine.l3_bytes};
  for (int level = 1; level <= 3; ++level) {
    if (sizes[level - 1] == 0) continue;
    caches.push_back(
        {{"type", level == 1 ? "Data" : "Unified"}, {"level", level}, {"size", sizes[level - 1]}});
  }
  return {{"date", document.measured_at},
          {"executable", "posenc measure"},
          {"num_cpus", document.machine.logical_cores},
          {"caches", caches},
          {"library_build_type", "release"},
          {"cpu", document.machine.model},
          {"compiler", document.compiler},
          {"posenc_version", document.library_version},
          {"kernels", document.kernels},
          {"disturbed", document.disturbed}};
}

}  // namespace

std::string benchmark_path(const MeasuredTable& table) {
  const EncodingSpec paper;
  const EncodingSpec& spec = table.spec;
  std::string path;
  const auto say = [&path](bool is_said, std::string_view key, const auto& value) {
    if (is_said) path += format_text("{}{}:{}", path.empty() ? "" : "/", key, value);
  };
  const bool is_preset = table.name != size_name(spec, table.rows);
  say(is_preset, "preset", table.name);
  say(table.rows.first != 0 && !is_preset, "first", table.rows.first);
  say(true, "rows", table.rows.count);
  say(true, "d", spec.d_model);
  if (!is_preset) {
    say(spec.layout != paper.layout, "layout", to_string(spec.layout));
    say(spec.spacing != paper.spacing, "spacing", to_string(spec.spacing));
    say(spec.base != paper.base, "base", spec.base);
    say(!is_base(spec.frequencies), "frequencies", to_string(spec.frequencies));
  }
  say(table.stride != spec.d_model, "stride", table.stride);
  say(table.type != DataType::float32, "dtype", to_string(table.type));
  say(table.stores != StorePolicy::automatic, "stores", to_string(table.stores));
  say(table.threads > 1, "threads", table.threads);
  return path;
}

Json google_benchmark_document(const Measurements& document) {
  Json all = Json::array();
  std::size_t family = 0;
  for (const Measurement& each : document.all) {
    if (!each.is_timed()) continue;
    const std::string name = format_text("{}/{}/{}", each.role == Role::limit ? "limit" : "encode",
                                         each.full_name(), benchmark_path(each.table));
    for (std::size_t process = 0; process < each.seconds.size(); ++process) {
      const double seconds = each.seconds[process], entries = each.table.entries();
      all.push_back({{"name", name},
                     {"family_index", family},
                     {"per_family_instance_index", 0},
                     {"run_name", name},
                     {"run_type", "iteration"},
                     {"repetitions", each.seconds.size()},
                     {"repetition_index", process},
                     {"threads", 1},
                     {"iterations", 1},
                     {"real_time", 1e9 * seconds},
                     {"cpu_time", 1e9 * seconds},
                     {"time_unit", "ns"},
                     {"items_per_second", entries / seconds},
                     {"bytes_per_second", static_cast<double>(each.table.bytes()) / seconds}});
    }
    ++family;
  }
  return {{"context", context_of(document)}, {"benchmarks", std::move(all)}};
}

}  // namespace posenc::suite
