/// @file
/// Tables like the tables of other systems, with the same rounding of the phases:
///
///     const auto encoder = posenc::suite::plan_like(posenc::suite::System::transformers, spec);
///     encoder->encode({.first = 0, .count = 4096}, table.view());
///
/// Frequencies and phases are computed in float32, operation for operation as the system computes
/// them. Each entry is the float32 nearest to the sine or cosine of the phase. Narrower types are
/// rounded from that float32, as in the systems. A model that was trained with float32 phases may
/// need them in place of exact phases. At position 131072, they differ by up to 1e-2.
///
/// A system's own expf, powf, sinf and cosf may be off by an ulp or two. This is not reproduced:
/// all functions here are correctly rounded, with the same bits on every machine.
#pragma once

#include "posenc/encoder.h"
#include "posenc/spec.h"

#include <memory>
#include <string_view>

namespace posenc::suite {

/// The system whose phases a table has. The layout comes from the spec.
enum class System {
  /// PyTorch's Transformer tutorial: div_term = exp(2k * (-ln base / d)). Rules of frequencies:
  /// none.
  tutorial,
  /// Rotary embeddings of Transformers and vLLM: 1 / base^(2k / d). Rules: linear, ntk, yarn,
  /// llama3.
  transformers,
};

/// All systems.
inline constexpr System all_systems[] = {System::tutorial, System::transformers};

/// The name of the enumerator: "transformers".
std::string_view to_string(System system) noexcept;
/// Parses the name of a system. Throws InvalidArgument, which lists the allowed names.
System parse_system(std::string_view name);

/// Plans an encoder that has the phases of the system. Its backend has the name of the system, but
/// is not registered: no selection returns it. Throws InvalidArgument if the spec is not allowed,
/// or if the system does not have its spacing or rule of frequencies.
std::unique_ptr<const Encoder> plan_like(System system, const EncodingSpec& spec);

}  // namespace posenc::suite
