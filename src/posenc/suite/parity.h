/// @file
/// Tables like those of other systems, with their rounding of the phases:
///
///     const auto encoder = posenc::plan_like(posenc::System::transformers, spec);
///     encoder->encode({.first = 0, .count = 4096}, table.view());
///
/// Frequencies and phases are computed as the system does, in float32, operation for operation, and
/// each entry is the float32 nearest to the sine or cosine of such a phase; a narrower type is
/// rounded from that float32, as the systems do. A model that was trained with such phases may need
/// them rather than the exact ones, from which they differ by 1e-2 at position 131072.
///
/// A system's own expf, powf, sinf and cosf, which may be off by an ulp or two, are not reproduced:
/// here all are correctly rounded, with the same bits on every machine.
#pragma once

#include "posenc/encoder.h"
#include "posenc/spec.h"

#include <memory>
#include <string_view>

namespace posenc::suite {

/// Whose phases a table has. The layout is that of the spec.
enum class System {
  /// PyTorch's Transformer tutorial: div_term = exp(2k * (-ln base / d)). No rule of frequencies.
  tutorial,
  /// Rotary embeddings of Transformers and vLLM: 1 / base^(2k / d). Rules: linear, ntk, yarn,
  /// llama3.
  transformers,
};

/// All of them.
inline constexpr System all_systems[] = {System::tutorial, System::transformers};

/// The name of the enumerator: "transformers".
std::string_view to_string(System system) noexcept;
/// Throws InvalidArgument, listing the allowed names.
System parse_system(std::string_view name);

/// An encoder whose phases are those of the system. Its backend is named as the system is, and is
/// not registered: no selection returns it. Throws InvalidArgument if the spec is not allowed, or
/// has a spacing or a rule of frequencies that the system does not have.
std::unique_ptr<const Encoder> plan_like(System system, const EncodingSpec& spec);

}  // namespace posenc::suite
