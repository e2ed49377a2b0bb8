#include "posenc/suite/microarchitecture.h"

#include "posenc/support/format.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <regex>
#include <tuple>

namespace posenc::suite {
namespace {

constexpr std::int64_t kib = 1024;

constexpr Microarchitecture all_designs[] = {
    {"Zen 1", "znver1", "AMD Zen", 1, Isa::avx2, 512, 23, {{0, 47}, {80, 95}}},
    {"Zen 2",
     "znver2",
     "AMD Zen",
     2,
     Isa::avx2,
     512,
     23,
     {{48, 79}, {96, 127}, {144, 145}, {160, 175}}},
    {"Zen 3", "znver3", "AMD Zen", 3, Isa::avx2, 512, 25, {{0, 15}, {32, 95}}},
    {"Zen 4", "znver4", "AMD Zen", 4, Isa::avx512, 1024, 25, {{16, 31}, {96, 175}}},
    {"Zen 5", "znver5", "AMD Zen", 5, Isa::avx512, 1024, 26, {{0, 47}, {64, 79}, {96, 127}}},
    {"Haswell", "", "Intel Core", 4, Isa::avx2, 256, 6, {{60}, {63}, {69, 70}}},
    {"Broadwell", "", "Intel Core", 5, Isa::avx2, 256, 6, {{61}, {71}, {79}, {86}}},
    {"Skylake", "", "Intel Core", 6, Isa::avx2, 256, 6, {{78}, {94}, {142}, {158}, {165, 166}}},
    {"Skylake-SP", "skylake-avx512", "Intel Core", 6, Isa::avx512, 1024, 6, {{85}}},
    {"Ice Lake", "icelake-client", "Intel Core", 7, Isa::avx512, 512, 6, {{125, 126}}},
    {"Ice Lake-SP", "icelake-server", "Intel Core", 7, Isa::avx512, 1280, 6, {{106}, {108}}},
    {"Rocket Lake", "", "Intel Core", 7, Isa::avx512, 512, 6, {{167}}},
    {"Tiger Lake", "", "Intel Core", 8, Isa::avx512, 1280, 6, {{140, 141}}},
    {"Alder Lake", "", "Intel Core", 9, Isa::avx2, 0, 6, {{151}, {154}}},
    {"Sapphire Rapids", "", "Intel Core", 9, Isa::avx512, 2048, 6, {{143}}},
    {"Raptor Lake", "", "Intel Core", 10, Isa::avx2, 0, 6, {{183}, {186}, {191}}},
    {"Emerald Rapids", "", "Intel Core", 10, Isa::avx512, 2048, 6, {{207}}},
    {"Meteor Lake", "", "Intel Core", 11, Isa::avx2, 0, 6, {{170}, {172}}},
    {"Granite Rapids", "", "Intel Core", 11, Isa::avx512, 2048, 6, {{173, 174}}},
    {"Lunar Lake", "", "Intel Core", 12, Isa::avx2, 0, 6, {{189}}},
    {"Arrow Lake", "", "Intel Core", 12, Isa::avx2, 0, 6, {{181}, {197, 198}}},
};

/// Keeps only letters and digits, in lower case: "Zen 5" and "zen5" are the same name.
std::string plain(std::string_view name) {
  std::string kept;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      kept += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return kept;
}

/// The design that the family and the model at the end of the text say; null if none is known.
const Microarchitecture* design_in(std::string_view text) {
  const auto signature = signature_in(text);
  if (!signature) return nullptr;
  const auto found = std::ranges::find_if(all_designs, [&](const Microarchitecture& each) {
    return each.family == signature->family &&
           std::ranges::any_of(each.models, [&](const ModelRange& range) {
             return range.first <= signature->model && signature->model <= range.last;
           });
  });
  return found == std::end(all_designs) ? nullptr : &*found;
}

/// "AMD EPYC (family 26, model 2, stepping 1), 2026-11-27"
std::string origin_of(const Measurements& document) {
  return document.machine.model + ", " + document.measured_at.substr(0, 10);
}

/// The names that find_cpu() accepts.
std::string allowed_names(std::span<const Measurements> documents) {
  std::vector<std::string> measured, others;
  for (const Microarchitecture& each : all_designs) {
    const bool is_measured = std::ranges::any_of(documents, [&](const Measurements& document) {
      return microarchitecture_of(document.machine) == &each;
    });
    (is_measured ? measured : others).emplace_back(each.name);
  }
  return format_text("{}; not measured, but near a measured CPU: {}; or 'family N, model M'",
                     join(measured, ", "), join(others, ", "));
}

/// The newest document of the nearest design that has the instruction set of the wanted one. At
/// equal distance, a later design is preferred to an earlier one.
const Measurements* nearest_to(const Microarchitecture& wanted,
                               std::span<const Measurements> documents) {
  const Measurements* nearest = nullptr;
  std::tuple<int, bool> least;
  for (const Measurements& each : documents) {
    const Microarchitecture* const design = microarchitecture_of(each.machine);
    if (design == nullptr || design->series != wanted.series) continue;
    if (std::ranges::count(each.machine.isas, wanted.isa) == 0) continue;
    const std::tuple distance(std::abs(design->generation - wanted.generation),
                              design->generation < wanted.generation);
    if (nearest == nullptr || distance < least ||
        (distance == least && each.measured_at > nearest->measured_at)) {
      nearest = &each;
      least = distance;
    }
  }
  return nearest;
}

/// The reason why a document of another CPU stands for the design.
std::string reason_of(const Microarchitecture& wanted, const Measurements& document) {
  const Microarchitecture& measured = *microarchitecture_of(document.machine);
  std::string why;
  if (&measured == &wanted)
    why = format_text("the same microarchitecture ({}) as", wanted.name);
  else if (measured.generation == wanted.generation)
    why = format_text("its cores are those of {},", measured.name);
  else
    why = format_text("the nearest that was measured is {},", measured.name);
  if (wanted.isa < document.machine.isas.back()) {
    why = format_text("it has no {}, so only the rows up to {} count; {}",
                      to_string(document.machine.isas.back()), to_string(wanted.isa), why);
  }
  return format_text("not measured; {} {}", why, origin_of(document));
}

}  // namespace

std::span<const Microarchitecture> microarchitectures() { return all_designs; }

std::optional<CpuSignature> signature_in(std::string_view text) {
  static const auto& form =
      *new std::regex(R"((?:.*\()?family (\d{1,4}), model (\d{1,4})(?:, stepping \d+)?\)?)",
                      std::regex::ECMAScript | std::regex::icase);
  std::match_results<std::string_view::const_iterator> found;
  if (!std::regex_match(text.begin(), text.end(), found, form)) return {};
  return CpuSignature{std::stoi(found[1]), std::stoi(found[2])};
}

const Microarchitecture* microarchitecture_of(const Cpu& machine) {
  const Microarchitecture* const design = design_in(machine.model);
  const bool is_as_designed = design != nullptr && (design->l2_kib == 0 || machine.l2_bytes == 0 ||
                                                    machine.l2_bytes == design->l2_kib * kib);
  return is_as_designed ? design : nullptr;
}

std::string microarchitecture_text(const Cpu& machine) {
  if (const Microarchitecture* const known = microarchitecture_of(machine))
    return std::string(known->name);
  const Microarchitecture* const design = design_in(machine.model);
  if (design == nullptr) return "not recognised";
  return format_text("not recognised: model {} is {}, whose L2 cache has {} KiB, not {} KiB",
                     signature_in(machine.model)->model, design->name, design->l2_kib,
                     machine.l2_bytes / kib);
}

KnownCpu find_cpu(std::string_view wanted, std::span<const Measurements> documents) {
  const auto signature = signature_in(wanted);
  const Microarchitecture* design = design_in(wanted);
  for (const Microarchitecture& each : all_designs) {
    const std::string name = plain(wanted);
    if (name == plain(each.name) || (!name.empty() && name == plain(each.other_name)))
      design = &each;
  }
  const Measurements* found = nullptr;
  for (const Measurements& each : documents) {
    const bool is_wanted = signature
                               ? signature_in(each.machine.model) == signature
                               : design != nullptr && microarchitecture_of(each.machine) == design;
    if (is_wanted && (found == nullptr || each.measured_at > found->measured_at)) found = &each;
  }
  if (found != nullptr)
    return {found, found->machine.isas, format_text("measured: {}", origin_of(*found))};
  if (design == nullptr)
    throw_invalid("'{}' is not recognised; allowed: {}", wanted, allowed_names(documents));
  found = nearest_to(*design, documents);
  if (found == nullptr) {
    throw_invalid("'{}' is near no measured CPU: none is of the series {} with {}; allowed: {}",
                  wanted, design->series, to_string(design->isa), allowed_names(documents));
  }
  KnownCpu nearest = {found, found->machine.isas, reason_of(*design, *found)};
  std::erase_if(nearest.isas, [design](Isa each) { return each > design->isa; });
  return nearest;
}

}  // namespace posenc::suite
