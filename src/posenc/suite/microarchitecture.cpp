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
    {"Zen 1", "AMD", "znver1", "Zen", 1, Isa::avx2, 512 * kib},
    {"Zen 2", "AMD", "znver2", "Zen", 2, Isa::avx2, 512 * kib},
    {"Zen 3", "AMD", "znver3", "Zen", 3, Isa::avx2, 512 * kib},
    {"Zen 4", "AMD", "znver4", "Zen", 4, Isa::avx512, 1024 * kib},
    {"Zen 5", "AMD", "znver5", "Zen", 5, Isa::avx512, 1024 * kib},
    {"Haswell", "Intel", "", "Core", 4, Isa::avx2, 256 * kib},
    {"Broadwell", "Intel", "", "Core", 5, Isa::avx2, 256 * kib},
    {"Skylake", "Intel", "", "Core", 6, Isa::avx2, 256 * kib},
    {"Skylake-SP", "Intel", "skylake-avx512", "Core", 6, Isa::avx512, 1024 * kib},
    {"Ice Lake", "Intel", "icelake-client", "Core", 7, Isa::avx512, 512 * kib},
    {"Ice Lake-SP", "Intel", "icelake-server", "Core", 7, Isa::avx512, 1280 * kib},
    {"Rocket Lake", "Intel", "", "Core", 7, Isa::avx512, 512 * kib},
    {"Tiger Lake", "Intel", "", "Core", 8, Isa::avx512, 1280 * kib},
    {"Alder Lake", "Intel", "", "Core", 9, Isa::avx2, 0},
    {"Sapphire Rapids", "Intel", "", "Core", 9, Isa::avx512, 2048 * kib},
    {"Raptor Lake", "Intel", "", "Core", 10, Isa::avx2, 0},
    {"Emerald Rapids", "Intel", "", "Core", 10, Isa::avx512, 2048 * kib},
    {"Meteor Lake", "Intel", "", "Core", 11, Isa::avx2, 0},
    {"Granite Rapids", "Intel", "", "Core", 11, Isa::avx512, 2048 * kib},
    {"Lunar Lake", "Intel", "", "Core", 12, Isa::avx2, 0},
    {"Arrow Lake", "Intel", "", "Core", 12, Isa::avx2, 0},
};

constexpr CpuModels all_models[] = {
    {"Zen 1", 23, 0, 47},
    {"Zen 1", 23, 80, 95},
    {"Zen 2", 23, 48, 79},
    {"Zen 2", 23, 96, 127},
    {"Zen 2", 23, 144, 145},
    {"Zen 2", 23, 160, 175},
    {"Zen 3", 25, 0, 15},
    {"Zen 3", 25, 32, 95},
    {"Zen 4", 25, 16, 31},
    {"Zen 4", 25, 96, 175},
    {"Zen 5", 26, 0, 47},
    {"Zen 5", 26, 64, 79},
    {"Zen 5", 26, 96, 127},
    {"Haswell", 6, 60, 60},
    {"Haswell", 6, 63, 63},
    {"Haswell", 6, 69, 70},
    {"Broadwell", 6, 61, 61},
    {"Broadwell", 6, 71, 71},
    {"Broadwell", 6, 79, 79},
    {"Broadwell", 6, 86, 86},
    {"Skylake", 6, 78, 78},
    {"Skylake", 6, 94, 94},
    {"Skylake", 6, 142, 142},
    {"Skylake", 6, 158, 158},
    {"Skylake", 6, 165, 166},
    {"Skylake-SP", 6, 85, 85},
    {"Ice Lake", 6, 125, 126},
    {"Ice Lake-SP", 6, 106, 106},
    {"Ice Lake-SP", 6, 108, 108},
    {"Rocket Lake", 6, 167, 167},
    {"Tiger Lake", 6, 140, 141},
    {"Alder Lake", 6, 151, 151},
    {"Alder Lake", 6, 154, 154},
    {"Sapphire Rapids", 6, 143, 143},
    {"Raptor Lake", 6, 183, 183},
    {"Raptor Lake", 6, 186, 186},
    {"Raptor Lake", 6, 191, 191},
    {"Emerald Rapids", 6, 207, 207},
    {"Meteor Lake", 6, 170, 170},
    {"Meteor Lake", 6, 172, 172},
    {"Granite Rapids", 6, 173, 174},
    {"Lunar Lake", 6, 189, 189},
    {"Arrow Lake", 6, 181, 181},
    {"Arrow Lake", 6, 197, 198},
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

const Microarchitecture* design_of(CpuSignature signature) {
  for (const CpuModels& each : all_models) {
    if (each.family == signature.family && each.first <= signature.model &&
        signature.model <= each.last)
      return &*std::ranges::find(all_designs, each.design, &Microarchitecture::name);
  }
  return nullptr;
}

bool is_as_designed(const Cpu& machine, const Microarchitecture& design) {
  return design.l2_bytes == 0 || machine.l2_bytes == 0 || machine.l2_bytes == design.l2_bytes;
}

/// "AMD EPYC (family 26, model 2, stepping 1), 2026-11-27"
std::string origin_of(const Measurements& document) {
  return document.machine.model + ", " + document.measured_at.substr(0, 10);
}

bool is_newer(const Measurements& one, const Measurements* other) {
  return other == nullptr || one.measured_at > other->measured_at;
}

/// The instruction sets of the document up to `best`, in order of preference.
std::vector<Isa> isas_up_to(const Measurements& document, Isa best) {
  std::vector<Isa> kept = document.machine.isas;
  std::erase_if(kept, [best](Isa each) { return each > best; });
  return kept;
}

/// The names that find_cpu() accepts.
std::string allowed_names(std::span<const Measurements> documents) {
  std::vector<std::string> measured, others;
  for (const Microarchitecture& each : microarchitectures()) {
    const bool is_measured = std::ranges::any_of(documents, [&](const Measurements& document) {
      return microarchitecture_of(document.machine) == &each;
    });
    (is_measured ? measured : others).emplace_back(each.name);
  }
  return format_text("{}; not measured, but near to one that is: {}; or 'family N, model M'",
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
    if (nearest != nullptr && (distance > least || (distance == least && !is_newer(each, nearest))))
      continue;
    nearest = &each;
    least = distance;
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
    why = format_text("it has no {}, so that only the rows up to {} count; {}",
                      to_string(document.machine.isas.back()), to_string(wanted.isa), why);
  }
  return format_text("not measured; {} {}", why, origin_of(document));
}

}  // namespace

std::span<const Microarchitecture> microarchitectures() { return all_designs; }

std::span<const CpuModels> cpu_models() { return all_models; }

std::optional<CpuSignature> signature_in(std::string_view text) {
  static const auto& form =
      *new std::regex(R"((?:.*\()?family (\d{1,4}), model (\d{1,4})(?:, stepping \d+)?\)?)",
                      std::regex::ECMAScript | std::regex::icase);
  std::match_results<std::string_view::const_iterator> found;
  if (!std::regex_match(text.begin(), text.end(), found, form)) return {};
  return CpuSignature{std::stoi(found[1]), std::stoi(found[2])};
}

const Microarchitecture* microarchitecture_of(const Cpu& machine) {
  const auto signature = signature_in(machine.model);
  const Microarchitecture* const design = signature ? design_of(*signature) : nullptr;
  return design != nullptr && is_as_designed(machine, *design) ? design : nullptr;
}

std::string microarchitecture_text(const Cpu& machine) {
  if (const Microarchitecture* const known = microarchitecture_of(machine))
    return std::string(known->name);
  const auto signature = signature_in(machine.model);
  const Microarchitecture* const design = signature ? design_of(*signature) : nullptr;
  if (design == nullptr) return "not recognised";
  return format_text("not recognised: model {} is {}, whose L2 cache has {} KiB, not {} KiB",
                     signature->model, design->name, design->l2_bytes / kib,
                     machine.l2_bytes / kib);
}

KnownCpu find_cpu(std::string_view wanted, std::span<const Measurements> documents) {
  const auto signature = signature_in(wanted);
  const Microarchitecture* design = signature ? design_of(*signature) : nullptr;
  for (const Microarchitecture& each : microarchitectures()) {
    const std::string name = plain(wanted);
    if (name == plain(each.name) || (!name.empty() && name == plain(each.other_name)))
      design = &each;
  }
  const Measurements* found = nullptr;
  for (const Measurements& each : documents) {
    const bool is_wanted = signature
                               ? signature_in(each.machine.model) == signature
                               : design != nullptr && microarchitecture_of(each.machine) == design;
    if (is_wanted && is_newer(each, found)) found = &each;
  }
  if (found != nullptr) {
    return {found, found->machine.isas, format_text("measured: {}", origin_of(*found))};
  }
  if (design == nullptr) {
    throw_invalid("'{}' is not recognised; allowed: {}", wanted, allowed_names(documents));
  }
  found = nearest_to(*design, documents);
  if (found == nullptr) {
    throw_invalid("'{}' is near to no document: none is of a {} {} with {}; allowed: {}", wanted,
                  design->vendor, design->series, to_string(design->isa), allowed_names(documents));
  }
  return {found, isas_up_to(*found, design->isa), reason_of(*design, *found)};
}

}  // namespace posenc::suite
