// A plugin that links the static library: a test reads which symbols it exports.
#include "posenc/posenc.h"

extern "C" __attribute__((visibility("default"))) float plugin_sine_of_one() {
  try {
    return posenc::encode<float>({.first = 1, .count = 1}, {.d_model = 2})(0, 0);
  } catch (const posenc::InvalidArgument&) {
    return 0;
  }
}
