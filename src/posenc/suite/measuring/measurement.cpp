#include "posenc/suite/measuring/measurement.h"

#include "posenc/suite/measuring/measurement_json.h"
#include "posenc/suite/measuring/statistics.h"
#include "posenc/support/enum_names.h"
#include "posenc/support/files.h"
#include "posenc/version.h"

#include <chrono>
#include <system_error>

namespace posenc::suite {
namespace {

constexpr auto role_names = enum_names<Role>("role", "backend", "peer", "limit");

/// The time now in UTC, as ISO 8601.
std::string now() {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const auto days = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date(days);
  const std::chrono::hh_mm_ss time(seconds - days);
  const auto two = [](auto value) {
    const std::string digits = std::to_string(static_cast<int>(value));
    return digits.size() < 2 ? "0" + digits : digits;
  };
  return format_text("{}-{}-{}T{}:{}:{}Z", static_cast<int>(date.year()),
                     two(static_cast<unsigned>(date.month())),
                     two(static_cast<unsigned>(date.day())), two(time.hours().count()),
                     two(time.minutes().count()), two(time.seconds().count()));
}

}  // namespace

double MeasuredTable::entries() const noexcept {
  return static_cast<double>(rows.count) * static_cast<double>(spec.d_model);
}

std::int64_t MeasuredTable::bytes() const { return table_bytes(spec, rows.count, size_of(type)); }

std::string Measurement::full_name() const { return isa.empty() ? backend : backend + ":" + isa; }

double Measurement::gfloats_per_second() const { return table.entries() / median(seconds) / 1e9; }

bool Measurement::keeps_its_promise() const noexcept {
  return !error || !promise || error->max_abs <= promise->max_abs;
}

Measurements measurements_of_this_machine() {
  return {.machine = cpu(),
          .compiler = compiler(),
          .library_version = library_version(),
          .kernels = std::string(kernels_digest()),
          .measured_at = now(),
          .disturbed = {},
          .all = {}};
}

Measurements read_measurements(const std::filesystem::path& file) try {
  return parse_measurements(read_document(file));
} catch (const std::system_error& error) {
  throw InvalidArgument(
      format_text("document is {}, which cannot be read: {}; allowed: JSON of "
                  "posenc measure",
                  file.string(), error.code().message()));
} catch (const BadDocument& error) {
  throw InvalidArgument(format_text("document is {}: {}; allowed: JSON of posenc measure",
                                    file.string(), error.what()));
}

void write_measurements(const Measurements& document, const std::filesystem::path& file) {
  make_folder_of(file);
  OutputFile output(file);
  output.write(text_of(to_json(document)));
  output.commit();
}

std::string_view to_string(Role role) noexcept { return role_names[role]; }

Role parse_role(std::string_view name) { return role_names.parse(name); }

}  // namespace posenc::suite
