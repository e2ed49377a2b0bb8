/// @file
/// The rotary embeddings of a model, from its config.json.
///
///     const posenc::model::RotaryReading reading = posenc::model::read_rotary_config(text);
///     const posenc::model::Rotary rotary(reading.layers.front().rotary);
///     std::puts(to_string(reading).c_str());
///
/// A configuration is read as the code of its model type reads it. It determines which channels of
/// a head are rotated and how they are paired, the frequencies, the axes and the layers. A key that
/// may change the result is either read or refused: a table that ignored such a key would be wrong,
/// and nothing would say so.
#pragma once

#include "posenc/model/rotary.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posenc::model {

/// The rotary embeddings that a configuration describes.
struct RotaryReading {
  /// The layers of one kind.
  struct Layers {
    /// The name of the kind in the configuration: "full_attention", "sliding_attention". Empty if
    /// all layers with a rotary embedding have the same one.
    std::string kind = {};
    RotarySpec rotary = {};  ///< the same in all these layers

    bool operator==(const Layers&) const = default;
  };

  std::string model_type = {};      ///< model type of the text model
  std::vector<Layers> layers = {};  ///< one entry per kind; never empty in a result
  /// The layers without a rotary embedding, such as "layers 3, 7, 11" or "the last of every 4
  /// layers". Empty if there are none.
  std::string unturned = {};
  std::int64_t most_rows = 0;  ///< max_position_embeddings; 0 if it is not given
};

/// Reads the text of a config.json. NaN and Infinity are allowed, as Python writes them. For a
/// multimodal model, the configuration of its text model is read.
///
/// `rows` is the length of the longest sequence, on which rules such as "dynamic" and "longrope"
/// depend. The default is max_position_embeddings, or the rows of training if the model applies the
/// rule only beyond them.
///
/// `types` is JSON that describes further model types, or replaces known ones. It has the format of
/// src/posenc/model/model_types.json, which holds the types that posenc knows.
///
/// Throws InvalidArgument, naming the key and its value, if a text is not JSON, if the model type
/// is not known, or if a key is not allowed, contradicts another key, or may change the result and
/// is not read.
RotaryReading read_rotary_config(std::string_view text, std::optional<std::int64_t> rows = {},
                                 std::string_view types = {});

/// The layers of a kind. If all kinds have the same rotary embedding, an empty kind stands for any
/// of them. Throws InvalidArgument, listing the kinds, if the kind does not exist or is ambiguous.
const RotaryReading::Layers& layers_of(const RotaryReading& reading, std::string_view kind);

/// The model types that can be read, in alphabetical order.
std::vector<std::string> known_model_types();

/// One line: "dimension 128, base 500000, rule llama3:factor=8,..., channels halves".
std::string to_string(const RotarySpec& spec);
/// One line: the model type, the kinds of layers, and the rotary embedding of each kind.
std::string to_string(const RotaryReading& reading);

}  // namespace posenc::model
