// Objects of the C interface that are freed at the end of their scope.
#pragma once

#include "posenc/c_api.h"

#include <memory>

namespace posenc {

struct Free {
  void operator()(posenc_encoder* each) const { posenc_encoder_free(each); }
  void operator()(posenc_cursor* each) const { posenc_cursor_free(each); }
  void operator()(posenc_positional_encoding* each) const { posenc_positional_encoding_free(each); }
  void operator()(posenc_rotary* each) const { posenc_rotary_free(each); }
  void operator()(posenc_axes* each) const { posenc_axes_free(each); }
  void operator()(posenc_axes_encoder* each) const { posenc_axes_encoder_free(each); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

}  // namespace posenc
