#include "posenc/layers/internal/head_channels.h"

#include "posenc/spec.h"

#include <optional>
#include <string_view>

namespace posenc {
namespace {

std::string_view head_key_of(const RotaryFamily& family, const LayerKind& kind,
                             const ConfigKeys& config) {
  const bool has_own =
      !kind.head_key.empty() && (kind.default_head != 0 || config.has(kind.head_key));
  return has_own ? kind.head_key : family.head_key;
}

/// Transformers leaves the defaults of a class out of a configuration in another one.
std::int64_t size_of(std::string_view key, std::int64_t by_default, const ConfigKeys& config) {
  const auto given = config.integer(key);
  if (!given && by_default != 0 && config.is_nested()) return by_default;
  return needed(config.path(key), given);
}

/// Multi-head latent attention, whose turned channels stand beside the others.
bool is_latent(const RotaryFamily& family) { return family.turned_key == "qk_rope_head_dim"; }

/// The channels that a key of their own gives.
std::optional<std::int64_t> given_turned(const RotaryFamily& family, const ConfigKeys& config,
                                         std::int64_t head) {
  if (family.turned_key.empty()) return {};
  const auto turned = config.integer(family.turned_key);
  if (!turned && family.is_turned_key_needed) refuse_absence(config.path(family.turned_key));
  if (!turned || (is_latent(family) && head == 0)) return turned;
  if (is_latent(family)) {
    agreed<std::int64_t>(
        {{config.path(family.turned_key), turned}, {config.path(family.head_key), head}});
  } else if (*turned > head) {
    config.refuse(family.turned_key, format_text("at most {}, the channels of a head", head));
  }
  return turned;
}

std::optional<double> default_share(const RotaryFamily& family) {
  if (family.default_share == 0) return {};
  return family.default_share;
}

}  // namespace

std::int64_t divided_head(const RotaryFamily& family, const ConfigKeys& config) {
  return size_of(family.width_key, family.default_width, config) /
         size_of(family.heads_key, family.default_heads, config);
}

std::int64_t part_of(std::int64_t channels, double share) {
  return static_cast<std::int64_t>(static_cast<double>(channels) * share);
}

std::int64_t head_channels(const RotaryFamily& family, const LayerKind& kind,
                           const ConfigKeys& config) {
  const std::string_view key = head_key_of(family, kind, config);
  auto given = config.integer(key);
  if (!family.other_head_key.empty()) {
    const std::string_view other = family.other_head_key;
    given = agreed<std::int64_t>(
        {{config.path(key), given}, {config.path(other), config.integer(other)}});
  }
  if (is_latent(family)) return given.value_or(0);
  if (family.head == HeadSize::divided) {
    const std::int64_t head = divided_head(family, config);
    agreed<std::int64_t>({{format_text("{} / {}", family.width_key, family.heads_key), head},
                          {config.path(key), given}});
    return head;
  }
  const std::int64_t by_default = kind.default_head != 0 ? kind.default_head : family.default_head;
  if (given || by_default != 0) return given.value_or(by_default);
  return family.head == HeadSize::given ? needed(config.path(key), given)
                                        : divided_head(family, config);
}

std::int64_t turned_channels(const RotaryFamily& family, const LayerKind& kind,
                             const ConfigKeys& config, const ConfigKeys& rule, std::int64_t head) {
  std::string_view key =
      family.head == HeadSize::divided ? family.width_key : head_key_of(family, kind, config);
  const std::optional<double> share = agreed_in_both(family.share_keys, config, rule, 0, 1);
  const std::optional<std::int64_t> turned = given_turned(family, config, head);
  if (turned) key = family.turned_key;
  if (turned && share) {
    agreed<std::int64_t>(
        {{config.path(key), turned}, {"the share of the head", part_of(head, *share)}});
  }
  const std::int64_t dimension =
      turned ? *turned
             : part_of(head, needed(family.share_keys[0], share ? share : default_share(family)));
  if (dimension >= 2 && dimension % 2 == 0 && dimension <= max_d_model) return dimension;
  refuse(format_text("the dimension, from {},", config.path(key)), ConfigJson(dimension),
         format_text("even, 2 to {}", max_d_model));
}

}  // namespace posenc
