/// @file
/// The common names of CPUs, such as "Zen 5", and the nearest CPU that was measured.
#pragma once

#include "posenc/cpu.h"
#include "posenc/suite/measurement.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::suite {

/// Model numbers that follow each other.
struct ModelRange {
  int first = -1;    ///< model number, with the extended model
  int last = first;  ///< model number, at least `first`
};

/// A core design.
struct Microarchitecture {
  std::string_view name;        ///< "Zen 5"
  std::string_view other_name;  ///< another name that people use, such as GCC's "znver5"; or empty
  /// "AMD Zen". Designs of one series follow each other. Designs of one generation have the same
  /// core.
  std::string_view series;
  int generation = 0;       ///< place in the series
  Isa isa = Isa::portable;  ///< best ISA that posenc uses on it
  int l2_kib = 0;           ///< L2 cache of one core in KiB; 0 if there are several sizes
  int family = 0;           ///< with the extended family
  /// The model numbers of its CPUs. Source: Linux, arch/x86/include/asm/intel-family.h and
  /// arch/x86/kernel/cpu/amd.c.
  ModelRange models[5];
};

/// Every design that has a name here, by vendor and age.
std::span<const Microarchitecture> microarchitectures();

/// The family and the model of a CPU, as CPUID gives them.
struct CpuSignature {
  int family = 0;  ///< with the extended family
  int model = 0;   ///< with the extended model

  bool operator==(const CpuSignature&) const = default;
};

/// Family and model at the end of a text, such as "AMD EPYC (family 26, model 2, stepping 1)" or
/// "family 26, model 2". None if the text does not end in them.
std::optional<CpuSignature> signature_in(std::string_view text);

/// The design of the CPU, or null if it is not known. On some virtual machines, the size of the L2
/// cache contradicts the model number. The design then counts as not known.
const Microarchitecture* microarchitecture_of(const Cpu& machine);

/// The name of the CPU's design, or the reason why it has none: "Zen 5", or
/// "not recognised: model 167 is Rocket Lake, whose L2 cache has 512 KiB, not 2048 KiB".
std::string microarchitecture_text(const Cpu& machine);

/// A document that answers for a CPU.
struct KnownCpu {
  const Measurements* document =
      nullptr;  ///< the newest document of the CPU that stands for the wanted one
  /// The instruction sets of the document that the wanted CPU also has.
  std::vector<Isa> isas;
  /// One line: which CPU was measured, and why it stands for the wanted one.
  std::string why;
};

/// Finds the newest document of the wanted CPU. If the wanted CPU was not measured, finds a
/// document of the nearest measured CPU. `wanted` is the name of a design ("Zen 5", in any case,
/// with or without blanks), another name of the design ("znver5"), or a text with family and model
/// ("family 26, model 2"). Throws InvalidArgument, which lists the allowed names, if the CPU is not
/// recognised or no measured CPU is near it.
KnownCpu find_cpu(std::string_view wanted, std::span<const Measurements> documents);

}  // namespace posenc::suite
