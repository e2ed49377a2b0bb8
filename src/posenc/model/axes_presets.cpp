#include "posenc/model/axes_presets.h"

#include "posenc/support/format.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

namespace posenc {
namespace {

/// Consecutive positions on every axis. `firsts` is those of the first cell.
AxesTable consecutive(AxesSpec spec, const GridSizes& sizes, const GridSizes& firsts = {}) {
  return {.spec = std::move(spec),
          .rows = sizes[0] * sizes[1] * sizes[2],
          .positions = grid_positions(sizes, firsts)};
}

AxesTable in_blocks(const GridSizes& channels, double base, const GridSizes& sizes,
                    const GridSizes& firsts = {}) {
  return consecutive(axes_in_blocks(channels, {.base = base}), sizes, firsts);
}

/// Qwen-Image's scale_rope: positions around the middle of an image.
AxesTable centred(const GridSizes& channels, double base, const GridSizes& sizes) {
  return in_blocks(channels, base, sizes,
                   {0, -(sizes[1] - sizes[1] / 2), -(sizes[2] - sizes[2] / 2)});
}

/// The height and the width of a grid have positions (2 i + 1 - n) / n of turns, i = 0 .. n - 1.
AxesTable dinov3(const GridSizes& sizes) {
  constexpr std::int64_t head = 64;
  if (sizes[0] != 1) {
    throw InvalidArgument(
        format_text("size of the grid along time is {}; allowed for an image: 1", sizes[0]));
  }
  AxesTable table = consecutive({.layout = Layout::halves}, sizes);
  table.positions.erase(table.positions.begin(), table.positions.begin() + table.rows);
  for (std::int64_t axis = 0; axis < 2; ++axis) {
    const std::int64_t size = sizes[static_cast<std::size_t>(axis) + 1];
    table.spec.parts.push_back(
        {.axis = axis,
         .spec = {.d_model = head / 2,
                  .base = 100,
                  .frequencies = BaseTurns{1, std::max<std::int64_t>(size, 1)}}});
    for (std::int64_t row = 0; row < table.rows; ++row) {
      std::int64_t& position = table.positions[static_cast<std::size_t>(axis * table.rows + row)];
      position = 2 * position + 1 - size;
    }
  }
  return table;
}

/// Frequencies theta^(k / (n - 1)) pi / 2, of which the axes have one each in turn, behind channels
/// that do not turn. A position x is a fraction of a largest one, and 2 x - 1 is what is turned by:
/// (4 f - 125) / 125 for frame f at 25 frames a second, and (i - 32) / 32 for cell i of 32 pixels.
AxesTable ltx(const GridSizes& sizes) {
  constexpr std::int64_t width = 2048, n = width / 6, unturned = width / 2 - 3 * n, theta = 10000;
  constexpr std::int64_t frame_step = 4, frame_middle = 125, cell_middle = 32;
  AxesTable table = consecutive({.layout = Layout::interleaved}, sizes);
  AxisPairs still = {.spec = {.d_model = 2 * unturned,
                              .frequencies = OwnFrequencies{std::vector<double>(unturned)}}};
  for (std::int64_t i = 0; i < unturned; ++i) still.pairs.push_back(i);
  table.spec.parts.push_back(std::move(still));
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    const std::int64_t middle = axis == 0 ? frame_middle : cell_middle;
    AxisPairs part = {.axis = axis,
                      .spec = {.d_model = 2 * n,
                               .base = static_cast<double>(theta),
                               .spacing = Spacing::inclusive,
                               .frequencies = BaseTurns{theta, 4 * middle}}};
    for (std::int64_t k = 0; k < n; ++k) {
      part.frequencies.push_back(n - 1 - k);
      part.pairs.push_back(unturned + 3 * k + axis);
    }
    table.spec.parts.push_back(std::move(part));
    for (std::int64_t row = 0; row < table.rows; ++row) {
      std::int64_t& position = table.positions[static_cast<std::size_t>(axis * table.rows + row)];
      position = (axis == 0 ? frame_step : 1) * position - middle;
    }
  }
  return table;
}

struct Entry {
  AxesPreset preset;
  AxesTable (*table)(const GridSizes& sizes);
};

// tests/axes_presets_test.cpp compares each preset with the formula of its system.
constexpr Entry entries[] = {
    {{"mrope", "Qwen2.5-VL, rotary: M-RoPE in sections of the pairs", {1, 32, 32}},
     [](const GridSizes& sizes) {
       constexpr GridSizes sections = {16, 24, 24};
       return consecutive(
           axes_in_sections(sections, {.d_model = 128, .base = 1e6, .layout = Layout::halves}),
           sizes);
     }},
    {{"qwen3_vl", "Qwen3-VL, rotary: M-RoPE with interleaved axes", {1, 32, 32}},
     [](const GridSizes& sizes) {
       constexpr GridSizes sections = {24, 20, 20};
       return consecutive(
           axes_interleaved(sections, {.d_model = 128, .base = 5e6, .layout = Layout::halves}),
           sizes);
     }},
    {{"flux", "FLUX.1, rotary: an image's tokens", {1, 64, 64}},
     [](const GridSizes& sizes) {
       return in_blocks({16, 56, 56}, 10000, sizes);
     }},
    {{"wan", "Wan 2.1 and 2.2, rotary", {21, 30, 52}},
     [](const GridSizes& sizes) {
       return in_blocks({44, 42, 42}, 10000, sizes);
     }},
    {{"hunyuan_video", "HunyuanVideo, rotary", {33, 45, 80}},
     [](const GridSizes& sizes) {
       return in_blocks({16, 56, 56}, 256, sizes);
     }},
    {{"cogvideox", "CogVideoX, rotary, at the size that it was trained with", {13, 30, 45}},
     [](const GridSizes& sizes) {
       return in_blocks({16, 24, 24}, 10000, sizes);
     }},
    {{"qwen_image", "Qwen-Image, rotary: positions around the middle", {1, 64, 64}},
     [](const GridSizes& sizes) {
       return centred({16, 56, 56}, 10000, sizes);
     }},
    {{"dinov3", "DINOv3, rotary: height and width from -1 to 1", {1, 14, 14}}, dinov3},
    {{"ltx", "LTX-Video, rotary: 25 frames a second", {16, 16, 22}}, ltx},
};

const Entry& entry_of(std::string_view name) {
  const auto found =
      std::ranges::find(entries, name, [](const Entry& each) { return each.preset.name; });
  if (found != std::end(entries)) return *found;
  std::vector<std::string_view> names;
  for (const Entry& each : entries) names.push_back(each.preset.name);
  throw InvalidArgument(
      format_text("preset of axes is '{}'; allowed: {}", name, join(names, ", ")));
}

}  // namespace

std::span<const AxesPreset> axes_presets() noexcept {
  // Never freed, so that it is valid while the process exits.
  static const auto& all = *new auto([] {
    std::array<AxesPreset, std::size(entries)> presets;
    std::ranges::transform(entries, presets.begin(), &Entry::preset);
    return presets;
  }());
  return all;
}

AxesTable axes_table(std::string_view name, std::optional<GridSizes> sizes) {
  const Entry& entry = entry_of(name);
  const GridSizes of_grid = sizes.value_or(entry.preset.usual);
  static_cast<void>(grid_positions(of_grid));  // throws if the sizes are not allowed
  return entry.table(of_grid);
}

}  // namespace posenc
