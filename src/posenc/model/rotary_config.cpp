#include "posenc/model/rotary_config.h"

#include "posenc/error.h"
#include "posenc/frequency_rule_text.h"
#include "posenc/model/internal/config_keys.h"
#include "posenc/support/format.h"
#include "posenc/support/printable.h"

#include <algorithm>
#include <cstddef>

namespace posenc::model {
namespace {

/// The text of a rule without its attention factor, which the spec has.
std::string rule_text(const FrequencyRule& rule) {
  std::string text = to_string(rule);
  constexpr std::string_view factor = ",attention_factor=1";
  if (text.ends_with(factor)) text.resize(text.size() - factor.size());
  return shortened(text, 200);
}

}  // namespace

const RotaryReading::Layers& layers_of(const RotaryReading& reading, std::string_view kind) {
  std::vector<std::string> kinds;
  for (const RotaryReading::Layers& each : reading.layers) {
    if (each.kind == kind) return each;
    kinds.push_back(each.kind);
  }
  const std::string allowed = kinds.size() == 1 && kinds.front().empty()
                                  ? "none, since all layers are alike"
                                  : join(kinds, ", ");
  const bool are_alike =
      std::ranges::all_of(reading.layers, [&](const RotaryReading::Layers& each) {
        return each.rotary == reading.layers.front().rotary;
      });
  if (kind.empty() && are_alike) return reading.layers.front();
  throw_invalid("layers is {}; allowed for {}: {}",
                kind.empty() ? "not given" : detail::text_of(kind), reading.model_type, allowed);
}

std::string to_string(const RotarySpec& spec) {
  std::string text = format_text("dimension {}", spec.dimension());
  const std::vector<AxisPairs>& parts = spec.angles.parts;
  const auto is_alike = [&](const AxisPairs& part) {
    return part.spec.base == parts.front().spec.base &&
           part.spec.frequencies == parts.front().spec.frequencies;
  };
  if (!parts.empty() && std::ranges::all_of(parts, is_alike)) {
    const EncodingSpec& angles = parts.front().spec;
    text += format_text(", base {}, rule {}", angles.base, rule_text(angles.frequencies));
  } else if (!parts.empty()) {
    std::vector<std::string> bases;
    for (const AxisPairs& part : parts)
      bases.push_back(format_text("{} ({})", part.spec.base, rule_text(part.spec.frequencies)));
    text += ", bases and rules " + join(bases, ", ");
  }
  text += spec.channels == RotaryLayout::halves ? ", channels halves" : ", channels interleaved";
  if (spec.angles.axes() > 1) text += ", axes " + to_string(spec.angles);
  const FrequencyRule& rule = parts.empty() ? FrequencyRule() : parts.front().spec.frequencies;
  if (spec.attention_factor != 1 || std::holds_alternative<YarnScaling>(rule))
    text += format_text(", attention factor {}", spec.attention_factor);
  if (spec.softmax_factor != 1)
    text += format_text("; the softmax's scale times {}", spec.softmax_factor);
  if (spec.queries.beta != 0) {
    text += format_text("; queries at p times 1 + {} ln(1 + floor(p / {})) after it",
                        spec.queries.beta, spec.queries.trained_rows);
  }
  return text;
}

std::string to_string(const RotaryReading& reading) {
  std::vector<std::string> all;
  for (const RotaryReading::Layers& each : reading.layers) {
    all.push_back(reading.model_type + (each.kind.empty() ? "" : ", " + each.kind) + ": " +
                  to_string(each.rotary));
  }
  if (!reading.unturned.empty()) all.push_back("no rotary embedding: " + reading.unturned);
  return join(all, "; ");
}

}  // namespace posenc::model
