#include "posenc/suite/document.h"

#include "posenc/suite/files.h"
#include "posenc/suite/measurement_json.h"
#include "posenc/support/format.h"
#include "posenc/support/kernels_digest.h"
#include "posenc/version.h"

#include <chrono>
#include <cstdio>
#include <system_error>

namespace posenc::suite {
namespace {

/// The time now in UTC, as ISO 8601. (std::gmtime shares its result between threads.)
std::string now() {
  using namespace std::chrono;
  const auto seconds_now = floor<seconds>(system_clock::now());
  const auto midnight = floor<days>(seconds_now);
  const year_month_day date(midnight);
  const hh_mm_ss time(seconds_now - midnight);
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", int(date.year()),
                unsigned(date.month()), unsigned(date.day()), int(time.hours().count()),
                int(time.minutes().count()), int(time.seconds().count()));
  return text;
}

}  // namespace

Measurements measurements_of_this_machine() {
  return {.machine = cpu(),
          .compiler = compiler(),
          .library_version = library_version(),
          .kernels = std::string(kernels_digest()),
          .measured_at = now()};
}

Measurements parse_measurements(const std::string& text) { return measurements_from(text); }

Measurements read_measurements(const std::filesystem::path& file) {
  std::string why;
  try {
    return parse_measurements(read_document(file));
  } catch (const std::system_error& error) {
    why = ", which cannot be read: " + error.code().message();
  } catch (const Json::exception&) {
    why = ": it is not JSON";
  } catch (const InvalidArgument& error) {
    why = std::string(": ") + error.what();
  }
  throw_invalid("document is {}{}; allowed: JSON of posenc measure or posenc accuracy",
                file.string(), why);
}

void write_measurements(const Measurements& document, const std::filesystem::path& file) {
  OutputFile output(file);
  output.write(text_of(to_json(document)));
  output.commit();
}

}  // namespace posenc::suite
