#include "posenc/suite/profile.h"

#include "posenc/suite/document.h"
#include "posenc/suite/shape_class.h"
#include "posenc/suite/ties.h"
#include "posenc/support/check.h"
#include "posenc/support/format.h"
#include "posenc/support/kernels_digest.h"

namespace posenc::suite {
namespace {

/// The backend of a measured candidate. Null if it is not in this build, cannot be picked or does
/// not run here.
const Backend* backend_of(const Candidate& candidate) {
  for (const Backend* each : backends()) {
    if (each->full_name() == candidate.full_name())
      return each->can_be_picked() && each->runs_here() ? each : nullptr;
  }
  return nullptr;
}

}  // namespace

Profile::Profile(const Measurements& document) : classes_(classes_of(document)) {
  if (const std::string why = why_not_of_this_machine(document); !why.empty())
    throw_invalid("the profile cannot be used: {}", why);
}

Profile Profile::load(const std::filesystem::path& file) {
  const Measurements document = read_measurements(file);
  return in_place(file.string(), [&] { return Profile(document); });
}

Selection Profile::select(const EncodingSpec& spec, RowRange rows, const SelectionOptions& options,
                          int threads) const {
  validate(spec);
  validate(rows);
  check_threads(threads);
  const ShapeClass shape = shape_class(table_bytes(spec, rows.count, size_of(options.type)));
  const MeasuredClass* measured = nullptr;  // with the largest number of threads up to `threads`
  for (const MeasuredClass& each : classes_) {
    const bool fits = each.shape == shape && each.type == options.type && each.threads <= threads;
    if (fits && (measured == nullptr || each.threads > measured->threads)) measured = &each;
  }
  std::vector<const Candidate*> able;
  if (measured != nullptr) {
    for (const Candidate& each : measured->candidates) {
      const Backend* const backend = each.seconds_per_entry.empty() ? nullptr : backend_of(each);
      if (backend != nullptr && promises(*backend, spec, rows, options)) able.push_back(&each);
    }
  }
  if (able.empty()) return select_backend(spec, rows, options);
  const auto [fastest, chosen] = choose(able, measured->noise_floor);
  return {backend_of(*chosen), SelectionSource::profile,
          format_text("the profile: {} of the backends that are {} ({})",
                      chosen == fastest ? "the fastest" : "it ties with the fastest",
                      to_string(options.accuracy), measured->text())};
}

std::string why_not_of_this_machine(const Measurements& document) {
  const auto text_of = [](const Cpu& machine) {
    std::vector<std::string_view> isas;
    for (const Isa each : machine.isas) isas.push_back(to_string(each));
    return format_text("'{}' with {}", machine.model, join(isas, ", "));
  };
  const std::string measured = text_of(document.machine), here = text_of(cpu());
  if (measured != here)
    return format_text("it is from another CPU, {}; this one is {}", measured, here);
  if (document.kernels == kernels_digest()) return "";
  return format_text("it measured the kernels {}, but this build has {}", document.kernels,
                     kernels_digest());
}

}  // namespace posenc::suite
