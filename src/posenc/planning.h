// Makes backends of posenc's own methods, and plans frequencies that no spec describes.
// Internal: not installed.
#pragma once

#include "posenc/backend.h"
#include "posenc/exact/frequency.h"
#include "posenc/method.h"
#include "posenc/spec.h"

#include <functional>
#include <memory>

namespace posenc::detail {

struct Planning {
  /// Plans a spec. If `frequencies` is null, the spec's own frequencies are used.
  using MakeWriter = std::function<std::unique_ptr<const RowWriter>(
      const EncodingSpec& spec, const std::shared_ptr<const Frequencies>& frequencies)>;

  /// The backend of a method without Method::make_writer.
  static std::unique_ptr<Backend> make_backend(Method method, MakeWriter make);

  /// Plans rows of this layout with these frequencies. The encoder's spec holds each frequency
  /// rounded to double. Throws InvalidArgument unless the backend is one of posenc's own and runs
  /// here.
  static std::unique_ptr<const Encoder> plan(const Backend& backend, Layout layout,
                                             const std::shared_ptr<const Frequencies>& frequencies);
};

}  // namespace posenc::detail
