// Golden tests of presets with several axes: each against the formula of its system, written as
// that system writes it, in long double. The formulas use nothing of the library.
#include "posenc/model/axes_presets.h"

#include "posenc/model/axes_encoder.h"

#include "model/layer_support.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

namespace posenc::test {

using namespace model;
namespace {

using Real = long double;

/// The angle of pair k of the cell at (t, h, w) of a grid, in radians.
using Angle = std::function<Real(int k, const GridSizes& cell, const GridSizes& sizes)>;

/// get_1d_rotary_pos_embed(dim, pos, theta): freqs = 1 / theta ** (arange(0, dim, 2) / dim)
Real one_axis_angle(Real position, int k, int dim, Real theta) {
  return position / std::pow(theta, Real(2 * k) / dim);
}

/// Blocks of columns of these sizes, one behind the other.
Angle blocks(std::vector<int> dims, Real theta, bool centred = false) {
  return [=](int k, const GridSizes& cell, const GridSizes& sizes) {
    std::size_t axis = 0;
    for (; k >= dims[axis] / 2; ++axis) k -= dims[axis] / 2;
    Real position = cell[axis];
    // Qwen-Image, scale_rope: cat([neg_freqs[-(n - n // 2):], pos_freqs[: n // 2]])
    if (centred && axis > 0) position -= Real(sizes[axis] - sizes[axis] / 2);
    return one_axis_angle(position, k, dims[axis], theta);
  };
}

/// Qwen2-VL: cat([m[i % 3] for i, m in enumerate(cos.split(mrope_section * 2, dim=-1))])
Real mrope(int k, const GridSizes& cell, const GridSizes&) {
  const std::size_t axis = k < 16 ? 0 : k < 40 ? 1 : 2;
  return one_axis_angle(cell[axis], k, 128, 1e6L);
}

/// Qwen3-VL, apply_interleaved_mrope: freqs_t[..., slice(offset, 3 * section, 3)] = freqs[offset]
Real qwen3_vl(int k, const GridSizes& cell, const GridSizes&) {
  std::size_t axis = 0;
  for (const int offset : {1, 2}) {
    if (k >= offset && k < 60 && (k - offset) % 3 == 0) axis = static_cast<std::size_t>(offset);
  }
  return one_axis_angle(cell[axis], k, 128, 5e6L);
}

/// coords = 2 (arange(0.5, n) / n) - 1; inv_freq = 1 / base ** arange(0, 1, 4 / head_dim)
/// angles = 2 pi coords[:, :, None] inv_freq, flattened: height, then width
Real dinov3(int k, const GridSizes& cell, const GridSizes& sizes) {
  const std::size_t axis = k < 16 ? 1 : 2;
  const Real coordinate = 2 * (Real(cell[axis]) + 0.5L) / Real(sizes[axis]) - 1;
  return 2 * std::numbers::pi_v<Real> * coordinate / std::pow(100.0L, Real(k % 16) / 16);
}

/// freqs = theta ** linspace(0, 1, dim // 6) pi / 2; freqs (2 grid - 1), transposed and flattened;
/// dim % 6 channels of cosines 1 and sines 0 before them. The grid is
/// (frame 8 / 25 / 20, cell 32 / 2048, cell 32 / 2048), and if positions are causal, (8 frame + 1 -
/// 8).clamp(min=0) / 25 / 20 along time.
Angle ltx(bool is_causal) {
  return [=](int k, const GridSizes& cell, const GridSizes&) -> Real {
    if (k < 1) return 0;
    const auto axis = static_cast<std::size_t>((k - 1) % 3);
    const int frequency = (k - 1) / 3;
    Real x = Real(cell[axis]) * 32 / 2048;
    if (axis == 0)
      x = (is_causal ? std::fmax(8 * Real(cell[0]) + 1 - 8, 0) : 8 * Real(cell[0])) / 500;
    return std::pow(10000.0L, Real(frequency) / 340) * std::numbers::pi_v<Real> / 2 * (2 * x - 1);
  };
}

/// freqs = 1 / theta ** (arange(0, dim, 4)[: dim // 4] / dim); cat([freqs_x, freqs_y]); positions
/// are multiplied by 24 / 72 in global attention.
Angle sam3(int dim, Real scale) {
  return [=](int k, const GridSizes& cell, const GridSizes&) {
    const Real position = k < dim / 4 ? cell[2] : cell[1];
    return position * scale / std::pow(10000.0L, Real(4 * (k % (dim / 4))) / dim);
  };
}

/// freqs_h = outer(h, freqs[::2]); freqs_w = outer(w, freqs[1::2]); cat([freqs_h, freqs_w])
Real pixtral(int k, const GridSizes& cell, const GridSizes&) {
  return k < 16 ? one_axis_angle(cell[1], 2 * k, 64, 1e4L)
                : one_axis_angle(cell[2], 2 * (k - 16) + 1, 64, 1e4L);
}

/// inv_freq = 1 / theta ** (arange(0, dim, 2) / dim), dim = head / 2; height, then width
Angle qwen_vision(int head) {
  return [=](int k, const GridSizes& cell, const GridSizes&) {
    const int quarter = head / 4;
    return one_axis_angle(k < quarter ? cell[1] : cell[2], k % quarter, head / 2, 1e4L);
  };
}

/// h_theta = 10000 h_scale ** (dim_h / (dim_h - 2)), and so on; seq / fps * 24 along time
Angle cosmos(Real fps, std::vector<Real> scales) {
  return [=](int k, const GridSizes& cell, const GridSizes&) {
    const std::vector<int> dims = {44, 42, 42};
    std::size_t axis = 0;
    for (; k >= dims[axis] / 2; ++axis) k -= dims[axis] / 2;
    const Real theta = 1e4L * std::pow(scales[axis], Real(dims[axis]) / (dims[axis] - 2));
    const Real position = axis == 0 ? Real(cell[0]) / fps * 24 : Real(cell[axis]);
    return one_axis_angle(position, k, dims[axis], theta);
  };
}

struct Golden {
  std::string name;
  Angle angle;
  GridSizes sizes;
  bool is_interleaved;
};

std::vector<Golden> all_golden() {
  return {
      {"mrope", mrope, {2, 5, 7}, false},
      {"qwen3_vl", qwen3_vl, {2, 5, 7}, false},
      {"flux", blocks({16, 56, 56}, 10000), {1, 9, 6}, true},
      {"wan", blocks({44, 42, 42}, 10000), {3, 4, 5}, true},
      {"hunyuan_video", blocks({16, 56, 56}, 256), {3, 4, 5}, true},
      {"cogvideox", blocks({16, 24, 24}, 10000), {2, 30, 45}, true},
      {"cogvideox_1_5", blocks({16, 24, 24}, 10000), {3, 4, 5}, true},
      {"qwen_image", blocks({16, 56, 56}, 10000, true), {1, 5, 8}, true},
      {"sam3", sam3(64, 1 / 3.0L), {1, 72, 72}, true},
      {"sam3_window", sam3(64, 1), {1, 24, 24}, true},
      {"sam3_memory", sam3(256, 1), {1, 5, 7}, true},
      {"pixtral", pixtral, {1, 6, 7}, false},
      {"qwen2_vl_vision", qwen_vision(80), {1, 6, 7}, false},
      {"qwen3_vl_vision", qwen_vision(72), {1, 6, 7}, false},
      {"cosmos", cosmos(30, {2, 1, 1}), {3, 4, 5}, false},
      {"cosmos_14b", cosmos(30, {2, 2, 2}), {3, 4, 5}, false},
      {"cosmos_predict2", cosmos(16, {1, 3, 3}), {3, 4, 5}, false},
      {"dinov3", dinov3, {1, 6, 7}, false},
      {"ltx", ltx(false), {3, 4, 5}, true},
      {"ltx_causal", ltx(true), {3, 4, 5}, true},
  };
}

class AxesPresets : public testing::TestWithParam<Golden> {};

TEST_P(AxesPresets, HaveTheFormulaOfTheirSystem) {
  const Golden& golden = GetParam();
  const AxesTable table = axes_table(golden.name, golden.sizes);
  const std::int64_t pairs = table.spec.d_model() / 2;
  Matrix encoded(table.rows, 2 * pairs);
  AxesEncoder(table.spec).encode(table.row_positions(), encoded.view());
  const auto [frames, height, width] = golden.sizes;
  ASSERT_EQ(table.rows, frames * height * width);
  for (std::int64_t row = 0; row < table.rows; ++row) {
    const GridSizes cell = {row / width / height, row / width % height, row % width};
    for (std::int64_t k = 0; k < pairs; ++k) {
      const Real angle = golden.angle(static_cast<int>(k), cell, golden.sizes);
      const std::int64_t sine = golden.is_interleaved ? 2 * k : k,
                         cosine = golden.is_interleaved ? 2 * k + 1 : pairs + k;
      ASSERT_NEAR(encoded(row, sine), static_cast<double>(std::sin(angle)), 0x1p-24)
          << "row " << row << ", pair " << k;
      ASSERT_NEAR(encoded(row, cosine), static_cast<double>(std::cos(angle)), 0x1p-24)
          << "row " << row << ", pair " << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, AxesPresets, testing::ValuesIn(all_golden()),
                         [](const auto& test) { return test.param.name; });

TEST(AxesPresets, AreAllGoldenAndHaveUsualSizes) {
  std::vector<std::string> names, golden;
  for (const AxesPreset& each : axes_presets()) {
    names.emplace_back(each.name);
    EXPECT_EQ(axes_table(each.name).rows, each.usual[0] * each.usual[1] * each.usual[2]);
  }
  for (const Golden& each : all_golden()) golden.push_back(each.name);
  EXPECT_EQ(names, golden);
}

TEST(AxesPresets, RefuseBadInput) {
  const auto table = [](const char* name, const GridSizes& sizes) {
    return [=] { axes_table(name, sizes); };
  };
  expect_refused({
      {"preset of axes is 'fluxx'; allowed: mrope, qwen3_vl, flux", table("fluxx", {1, 1, 1})},
      {"a size of the grid is -2", table("flux", {1, -2, 3})},
      {"a size of the grid is -2", table("ltx", {1, -2, 3})},
      {"size of the grid is 24 x 40; allowed for cogvideox: 30 x 45",
       table("cogvideox", {1, 24, 40})},
      {"along time is 2; allowed for an image: 1", table("dinov3", {2, 3, 3})},
  });
}

}  // namespace
}  // namespace posenc::test
