/// @file
/// The common names of CPUs, such as "Zen 5", and which measured CPU is the nearest to another one.
#pragma once

#include "posenc/cpu.h"
#include "posenc/suite/measuring/measurement.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::suite {

/// A range of model numbers of one family, as CPUID gives them.
struct CpuModels {
  int family = 0;
  int first = 0;
  int last = 0;
};

/// A design of cores. Source of the model numbers: Linux, arch/x86/include/asm/intel-family.h and
/// arch/x86/kernel/cpu/amd.c.
struct Microarchitecture {
  std::string_view name;        ///< "Zen 5"
  std::string_view vendor;      ///< "AMD"
  std::string_view other_name;  ///< another name that people use, such as GCC's "znver5"; or empty
  /// Designs of one series follow each other. Those of the same generation have the same core.
  std::string_view series;
  int generation = 0;
  Isa isa = Isa::portable;    ///< the best one that posenc uses
  std::int64_t l2_bytes = 0;  ///< of one core; 0 if there are several sizes
  std::vector<CpuModels> models;
};

/// Every design that has a name here, by vendor and age.
std::span<const Microarchitecture> microarchitectures();

/// Family and model in the text of a CPU, such as "AMD EPYC (family 26, model 2, stepping 1)" or
/// "family 26, model 2"; none if the text does not name both.
struct CpuSignature {
  int family = 0;
  int model = 0;
  bool operator==(const CpuSignature&) const = default;
};
std::optional<CpuSignature> signature_in(std::string_view text);

/// The design of the CPU; null if it is not known. A CPU whose L2 cache has another size than its
/// design is not what its model number says, as some virtual machines are, and is not known either.
const Microarchitecture* microarchitecture_of(const Cpu& machine);

/// The name of the CPU's design, or why it has none: "Zen 5", or
/// "not recognised: model 167 is Rocket Lake, whose L2 cache has 512 KiB, not 2048 KiB".
std::string microarchitecture_text(const Cpu& machine);

/// A document that answers for a CPU.
struct KnownCpu {
  const Measurements* document = nullptr;  ///< the newest one of the CPU that was found
  std::vector<Isa> isas;  ///< the instruction sets of the document that the wanted CPU has
  std::string why;        ///< one sentence: what was measured, and why it stands for the CPU
};

/// The document that answers for a CPU: a document of this CPU, or else of the nearest one.
/// `wanted` is the name of a design ("Zen 5", in any case, with or without blanks), another name of
/// it
/// ("znver5"), or a text with family and model ("family 26, model 2"). Throws InvalidArgument, and
/// lists what is allowed, if the CPU is not recognised or no document is near it.
KnownCpu find_cpu(std::string_view wanted, std::span<const Measurements> documents);

}  // namespace posenc::suite
