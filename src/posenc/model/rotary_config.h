/// @file
/// The rotary embeddings of a model, from its config.json.
///
///     const posenc::RotaryReading reading = posenc::read_rotary_config(text);
///     const posenc::Rotary rotary(reading.layers.front().rotary);
///     std::puts(to_string(reading).c_str());
///
/// A configuration is read as the code of its model type reads it: which pairs of channels are
/// turned, how many of a head, by which frequencies, on which axes, and in which layers. A key that
/// may change the result is read or refused: a table from an ignored key would be wrong, and
/// nothing would say so.
#pragma once

#include "posenc/model/rotary.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc {

/// What a configuration says.
struct RotaryReading {
  /// The layers of one kind.
  struct Layers {
    /// As the configuration names it: "full_attention", "sliding_attention". Empty if all layers
    /// that have a rotary embedding have the same.
    std::string kind = {};
    RotarySpec rotary = {};  ///< the same in all of them
    std::string note = {};   ///< what the model does beside, such as scaling of queries

    bool operator==(const Layers&) const = default;
  };

  std::string model_type = {};      ///< that of the text model
  std::vector<Layers> layers = {};  ///< by kind; not empty in a result
  /// The layers without a rotary embedding, such as "layers 3, 7, 11" or "the last of every 4
  /// layers". Empty if there are none.
  std::string unturned = {};
  std::int64_t most_rows = 0;  ///< max_position_embeddings; 0 if it is not given
};

/// Reads the text of a config.json, in which NaN and Infinity are allowed, as Python writes them.
/// The configuration of a multimodal model is read for its text model. `rows` are those of the
/// longest sequence, on which the rules "dynamic" and "longrope" depend: by default
/// max_position_embeddings, or the rows of training if the model takes the rule beyond them only.
/// Throws InvalidArgument, which names the key and its value, if the text is not JSON, if the model
/// type is not known, or if a key is not allowed, contradicts another, or may change the result and
/// is not read.
RotaryReading read_rotary_config(std::string_view text, std::optional<std::int64_t> rows = {});

/// The layers of that kind. An empty kind stands for any if all kinds have the same rotary
/// embedding. Throws InvalidArgument, listing the kinds, if there are none or if it is ambiguous.
const RotaryReading::Layers& layers_of(const RotaryReading& reading, std::string_view kind);

/// The model types that are read, in alphabetical order.
std::vector<std::string> known_model_types();

/// In a line: "dimension 128, base 500000, rule llama3:factor=8,..., channels halves".
std::string to_string(const RotarySpec& spec);
/// In a line: the model type, the kinds of layers, and the rotary embedding of each.
std::string to_string(const RotaryReading& reading);

}  // namespace posenc
