// Positions on several axes, in the C interface.
#include "posenc/model/axes.h"

#include "c/axes_of.h"
#include "c/call.h"
#include "c/spec_of.h"
#include "posenc/c_api.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

using namespace posenc;
using namespace posenc::detail;

static_assert(sizeof(posenc_positions) == 48 && sizeof(posenc_axis_pairs) == 80);

struct posenc_axes_encoder {
  AxesEncoder encoder;
};

namespace {

template <class T>
std::span<const T> list_of(std::string_view name, const T* first, std::int64_t count) {
  if (count < 0 || count > max_d_model) {
    throw InvalidArgument(
        format_text("the number of {} is {}; allowed: 0 to {}", name, count, max_d_model));
  }
  if (count > 0) checked(first, name);
  return {first, static_cast<std::size_t>(count)};
}

std::vector<std::int64_t> numbers_of(std::string_view name, const std::int64_t* first,
                                     std::int64_t count) {
  if (first == nullptr) return {};
  const auto list = list_of(name, first, count);
  return {list.begin(), list.end()};
}

AxesSpec arranged(std::int32_t arrangement, std::span<const std::int64_t> sizes,
                  const EncodingSpec& spec) {
  switch (arrangement) {
    case POSENC_AXES_IN_BLOCKS: return axes_in_blocks(sizes, spec);
    case POSENC_AXES_IN_SECTIONS: return axes_in_sections(sizes, spec);
    case POSENC_AXES_INTERLEAVED: return axes_interleaved(sizes, spec);
    case POSENC_AXES_ALTERNATING: return axes_alternating(sizes, spec);
    default: break;
  }
  throw InvalidArgument(format_text("arrangement is {}; allowed: 0 to {}", arrangement,
                                    static_cast<int>(POSENC_AXES_ALTERNATING)));
}

AxisPairs part_of(const posenc_axis_pairs& from) {
  return {.axis = from.axis,
          .spec = spec_of(&from.spec),
          .frequencies = numbers_of("frequencies", from.frequencies, from.frequency_count),
          .pairs = numbers_of("pairs", from.pairs, from.pair_count),
          .denominator = from.denominator};
}

}  // namespace

extern "C" {

posenc_status posenc_axes_create(int32_t arrangement, const int64_t* sizes, int64_t count,
                                 const posenc_spec* spec, posenc_axes** axes) {
  return status_of([&] {
    posenc_axes*& result = checked(axes, "axes");
    result = new posenc_axes{arranged(arrangement, list_of("sizes", sizes, count), spec_of(spec))};
  });
}

posenc_status posenc_axes_create_from_parts(const posenc_axis_pairs* parts, int64_t count,
                                            int32_t layout, int32_t parts_have_layouts,
                                            posenc_axes** axes) {
  return status_of([&] {
    posenc_axes*& result = checked(axes, "axes");
    AxesSpec spec = {.parts = {},
                     .layout = enumerator("layout", layout, Layout::halves_cos_first),
                     .parts_have_layouts = parts_have_layouts != 0};
    for (const posenc_axis_pairs& each : list_of("parts", parts, count))
      spec.parts.push_back(part_of(each));
    validate(spec);
    result = new posenc_axes{spec};
  });
}

void posenc_axes_free(posenc_axes* axes) { delete axes; }

posenc_status posenc_axes_encoder_create(const posenc_axes* axes, int32_t type,
                                         const posenc_accuracy* accuracy,
                                         posenc_axes_encoder** encoder) {
  return status_of([&] {
    posenc_axes_encoder*& result = checked(encoder, "encoder");
    result = new posenc_axes_encoder{
        AxesEncoder(checked(axes, "axes").spec, accuracy_of(accuracy), data_type(type))};
  });
}

posenc_status posenc_axes_encode(const posenc_axes_encoder* encoder,
                                 const posenc_positions* positions, const posenc_table* out,
                                 const posenc_options* options) {
  return status_of([&] {
    checked(encoder, "encoder")
        .encoder.encode(row_positions_of(positions), output_of("out", out), options_of(options));
  });
}

void posenc_axes_encoder_free(posenc_axes_encoder* encoder) { delete encoder; }

}  // extern "C"
