// How many channels a head has, and how many of them are turned. Internal: not installed.
#pragma once

#include "posenc/layers/internal/config_keys.h"
#include "posenc/layers/internal/rotary_families.h"

#include <cstdint>

namespace posenc {

/// The width over the heads.
std::int64_t divided_head(const RotaryFamily& family, const ConfigKeys& config);

/// The integer part of a share of channels.
std::int64_t part_of(std::int64_t channels, double share);

/// The channels of a head in layers of that kind; 0 in a model with latent attention that does not
/// give them.
std::int64_t head_channels(const RotaryFamily& family, const LayerKind& kind,
                           const ConfigKeys& config);

/// Those of a head of `head` channels that are turned: even, 2 to max_d_model.
std::int64_t turned_channels(const RotaryFamily& family, const LayerKind& kind,
                             const ConfigKeys& config, const ConfigKeys& rule, std::int64_t head);

}  // namespace posenc
