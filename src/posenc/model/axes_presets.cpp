#include "posenc/model/axes_presets.h"

#include "posenc/support/format.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

namespace posenc::model {
namespace {

/// Consecutive positions on every axis. `firsts` has the positions of the first cell.
AxesTable consecutive(AxesSpec spec, const GridSizes& grid, const GridSizes& firsts = {}) {
  return {
      .spec = std::move(spec), .rows = grid_cells(grid), .positions = grid_positions(grid, firsts)};
}

/// Replaces each position p on an axis by factor * p + offset.
void scale(AxesTable& table, std::int64_t axis, std::int64_t factor, std::int64_t offset) {
  const auto first = table.positions.begin() + axis * table.rows;
  std::transform(first, first + table.rows, first,
                 [=](std::int64_t position) { return factor * position + offset; });
}

/// An image at consecutive positions: height is axis 0, and width is axis 1.
AxesTable image(AxesSpec spec, const GridSizes& grid) {
  if (grid[0] != 1)
    throw_invalid("size of the grid along time is {}; allowed for an image: 1", grid[0]);
  AxesTable table = consecutive(std::move(spec), grid);
  table.positions.erase(table.positions.begin(), table.positions.begin() + table.rows);
  return table;
}

/// The first half of the pairs is on the axis of width, the second half on the axis of height. With
/// `interpolates`, the image encoder stretches the 24 positions of a window over its 72 cells.
template <std::int64_t head, bool interpolates>
AxesTable sam3(const GridSizes& grid) {
  EncodingSpec spec;
  if (interpolates) spec.frequencies = LinearScaling{3};
  AxesTable table = image(axes_in_blocks({head / 2, head / 2}, spec), grid);
  std::swap(table.spec.parts[0].axis, table.spec.parts[1].axis);
  return table;
}

/// Height has the even frequencies of a head, and width the odd ones.
AxesTable pixtral(const GridSizes& grid) {
  constexpr std::int64_t head = 64;
  AxesTable table = image({.layout = Layout::halves}, grid);
  for (const std::int64_t axis : {0, 1}) {
    AxisPairs part = {.axis = axis, .spec = {.d_model = head}};
    for (std::int64_t k = axis; k < head / 2; k += 2) part.frequencies.push_back(k);
    table.spec.parts.push_back(std::move(part));
  }
  return table;
}

/// Blocks of height and width. The cells are in row-major order; the models list the cells of each
/// square of 2 x 2 together.
template <std::int64_t head>
AxesTable qwen_vision(const GridSizes& grid) {
  return image(axes_in_blocks({head / 2, head / 2}, {.layout = Layout::halves}), grid);
}

/// A frame's position is its time in 24ths of a second. Each axis has a factor s of NTK-aware
/// scaling, by which the base is 10000 s^(d / (d - 2)) in d channels.
template <int fps, int time_scale, int space_scale>
AxesTable cosmos(const GridSizes& grid) {
  constexpr int divisor = std::gcd(24, fps);
  constexpr std::int64_t of_time = 44, of_space = 42;
  AxesTable table = consecutive(
      axes_in_blocks({of_time, of_space, of_space},
                     {.layout = Layout::halves, .frequencies = NtkScaling{space_scale}}),
      grid);
  // A spec has one rule, so the base along time contains the factor.
  EncodingSpec& time = table.spec.parts[0].spec;
  time.base = 10000 * std::pow(double{time_scale}, double{of_time} / (of_time - 2));
  time.frequencies = LinearScaling{fps / divisor};
  scale(table, 0, 24 / divisor, 0);
  return table;
}

/// Along height and width, n cells have the positions (2 i + 1 - n) / n, i = 0 .. n - 1, in turns.
AxesTable dinov3(const GridSizes& grid) {
  AxesTable table = image(axes_in_blocks({32, 32}, {.base = 100, .layout = Layout::halves}), grid);
  for (AxisPairs& part : table.spec.parts) {
    const std::int64_t size = grid[static_cast<std::size_t>(part.axis) + 1];
    part.spec.frequencies = BaseTurns{1, std::max<std::int64_t>(size, 1)};
    scale(table, part.axis, 2, 1 - size);
  }
  return table;
}

/// The frequencies are theta^(k / (n - 1)) pi / 2. The first channels are not rotated. After them,
/// the three axes alternate, with one frequency each. A position x is a fraction of the largest
/// position, and pairs are rotated by 2 x - 1 times their frequency. This is (p - 250) / 250 for
/// picture p at 25 pictures a second, and (i - 32) / 32 for cell i of 32 pixels. Frame f of the
/// latents begins with picture 8 f. If the model is causal, the first frame has only one picture,
/// and frame f begins with picture 8 f - 7.
template <bool is_causal>
AxesTable ltx(const GridSizes& grid) {
  constexpr std::int64_t width = 2048, n = width / 6, unturned = width / 2 - 3 * n, theta = 10000;
  constexpr GridSizes steps = {8, 1, 1}, firsts = {is_causal ? -7 : 0}, middles = {250, 32, 32};
  AxesTable table = consecutive({}, grid);
  table.spec.parts.push_back(
      {.spec = {.d_model = 2 * unturned,
                .frequencies = OwnFrequencies{std::vector<double>(unturned)}}});
  for (std::size_t axis = 0; axis < 3; ++axis) {
    AxisPairs part = {.axis = static_cast<std::int64_t>(axis),
                      .spec = {.d_model = 2 * n,
                               .base = static_cast<double>(theta),
                               .spacing = Spacing::inclusive,
                               .frequencies = BaseTurns{theta, 4 * middles[axis]}}};
    for (std::int64_t k = 0; k < n; ++k) {
      part.frequencies.push_back(n - 1 - k);
      part.pairs.push_back(unturned + 3 * k + part.axis);
    }
    scale(table, part.axis, steps[axis], firsts[axis] - middles[axis]);
    table.spec.parts.push_back(std::move(part));
  }
  for (std::int64_t& picture : std::span(table.positions).first(table.rows))
    picture = std::max(picture, -middles[0]);
  return table;
}

/// The usual convention: the channels or the sections of each axis, at consecutive positions. With
/// Qwen-Image's scale_rope, positions are centred: position 0 is the middle of an image.
template <auto arrange, int time, int height, int width, int base, bool is_centred = false>
AxesTable arranged(const GridSizes& grid) {
  EncodingSpec spec = {.base = base};
  if (arrange != axes_in_blocks) {  // sections: the frequencies run through all pairs
    spec.d_model = 2 * (time + height + width);
    spec.layout = Layout::halves;
  }
  GridSizes firsts = {};
  if (is_centred) firsts = {0, grid[1] / 2 - grid[1], grid[2] / 2 - grid[2]};
  return consecutive(arrange({time, height, width}, spec), grid, firsts);
}

struct Entry {
  AxesPreset preset;
  AxesTable (*table)(const GridSizes& grid);
  bool is_fixed = false;  ///< images must have the usual size
};

// tests/axes_presets_test.cpp compares each preset with the formula of its system.
constexpr Entry entries[] = {
    {{"mrope", "Qwen2.5-VL, rotary: M-RoPE in sections of the pairs", {1, 32, 32}},
     arranged<axes_in_sections, 16, 24, 24, 1'000'000>},
    {{"qwen3_vl", "Qwen3-VL, rotary: M-RoPE with interleaved axes", {1, 32, 32}},
     arranged<axes_interleaved, 24, 20, 20, 5'000'000>},
    {{"flux", "FLUX.1, rotary: an image's tokens", {1, 64, 64}},
     arranged<axes_in_blocks, 16, 56, 56, 10000>},
    {{"wan", "Wan 2.1 and 2.2, rotary", {21, 30, 52}}, arranged<axes_in_blocks, 44, 42, 42, 10000>},
    {{"hunyuan_video", "HunyuanVideo, rotary", {33, 45, 80}},
     arranged<axes_in_blocks, 16, 56, 56, 256>},
    {{"cogvideox", "CogVideoX 1.0, rotary: 480 x 720 alone", {13, 30, 45}},
     arranged<axes_in_blocks, 16, 24, 24, 10000>,
     true},
    {{"cogvideox_1_5", "CogVideoX 1.5, rotary: slices", {11, 48, 85}},
     arranged<axes_in_blocks, 16, 24, 24, 10000>},
    {{"qwen_image", "Qwen-Image, rotary: positions around the middle", {1, 64, 64}},
     arranged<axes_in_blocks, 16, 56, 56, 10000, true>},
    {{"sam3", "SAM 3, rotary: global attention of the image encoder", {1, 72, 72}},
     sam3<64, true>,
     true},
    {{"sam3_window", "SAM 3, rotary: windows of the image encoder", {1, 24, 24}}, sam3<64, false>},
    {{"sam3_memory", "SAM 3, rotary: memory attention", {1, 72, 72}}, sam3<256, false>},
    {{"pixtral", "Pixtral's vision tower, rotary, with Transformers' pairs", {1, 64, 64}}, pixtral},
    {{"qwen2_vl_vision", "Qwen2-VL's and Qwen2.5-VL's vision tower, rotary", {1, 32, 32}},
     qwen_vision<80>},
    {{"qwen3_vl_vision", "Qwen3-VL's vision tower, rotary", {1, 32, 32}}, qwen_vision<72>},
    {{"cosmos", "Cosmos 1.0 7B, rotary: 30 frames a second", {16, 44, 80}}, cosmos<30, 2, 1>},
    {{"cosmos_14b", "Cosmos 1.0 14B, rotary: 30 frames a second", {16, 44, 80}}, cosmos<30, 2, 2>},
    {{"cosmos_predict2", "Cosmos-Predict2 2B, rotary: 16 frames a second", {24, 44, 80}},
     cosmos<16, 1, 3>},
    {{"dinov3", "DINOv3, rotary: height and width from -1 to 1", {1, 14, 14}}, dinov3},
    {{"ltx", "LTX-Video 0.9, rotary: 25 frames a second", {16, 16, 22}}, ltx<false>},
    {{"ltx_causal", "LTX-Video with causal_temporal_positioning, rotary", {16, 16, 22}}, ltx<true>},
};

constexpr auto all_presets = [] {
  std::array<AxesPreset, std::size(entries)> all = {};
  std::ranges::transform(entries, all.begin(), &Entry::preset);
  return all;
}();

}  // namespace

std::span<const AxesPreset> axes_presets() noexcept { return all_presets; }

AxesTable axes_table(std::string_view name, std::optional<GridSizes> sizes) {
  const auto number = std::ranges::find(all_presets, name, &AxesPreset::name) - all_presets.begin();
  if (number == std::ssize(all_presets)) {
    std::vector<std::string_view> names;
    for (const AxesPreset& each : all_presets) names.push_back(each.name);
    throw_invalid("preset of axes is '{}'; allowed: {}", name, join(names, ", "));
  }
  const auto& [preset, table, is_fixed] = entries[number];
  const GridSizes grid = sizes.value_or(preset.usual);
  if (is_fixed && (grid[1] != preset.usual[1] || grid[2] != preset.usual[2])) {
    throw_invalid(
        "size of the grid is {} x {}; allowed for {}: {} x {}, because it rescales other grids",
        grid[1], grid[2], name, preset.usual[1], preset.usual[2]);
  }
  return table(grid);
}

}  // namespace posenc::model
