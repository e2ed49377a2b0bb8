// The list of built-in methods, and the code that their files share. The list has one entry for
// each method, from the simplest to the most complex, because the simplest wins a tie. rotation,
// which is correctly rounded, stands before rotation32.
#pragma once

#include "posenc/backend.h"
#include "posenc/backends/shared_values.h"
#include "posenc/isa.h"
#include "posenc/planning.h"
#include "posenc/simd/dispatch.h"
#include "posenc/simd/row_task.h"
#include "posenc/spec.h"
#include "posenc/support/detail.h"
#include "posenc/support/with_type.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#ifdef POSENC_NO_COMPARISON_BACKENDS
#define POSENC_METHODS(use) use(rotation) use(rotation32)
#else
#define POSENC_METHODS(use) use(naive) use(div_term) use(xsimd) use(rotation) use(rotation32)
#endif

namespace posenc::detail {

using BackendList = std::vector<std::unique_ptr<Backend>>;

/// Each method's file defines add_<method>(all), which adds the method's backends to a list: a
/// single backend, or one for each ISA of the build in ascending order if the method is vectorised.
#define POSENC_DECLARE_METHOD(method) void add_##method(BackendList& all);
POSENC_METHODS(POSENC_DECLARE_METHOD)
#undef POSENC_DECLARE_METHOD

inline simd::Columns columns_of(const RowLayout& row) noexcept {
  const ChannelPair first = channels_of(row, 0);
  return {row.layout == Layout::interleaved, first.sine, first.cosine};
}

/// Writes position 0 to the first row of the task: its sines are 0, and its cosines 1.
inline void write_row_0(const RowLayout& row_layout, const simd::RowTask& task) noexcept {
  const simd::Columns columns = columns_of(row_layout);
  const std::int64_t frequencies = row_layout.frequencies();
  with_type(task.type, [&]<class T>(T) {
    T* const row = task.row<T>(0);
    const T zero = nearest<T>(0.0), one = nearest<T>(1.0);
    if (columns.interleaved) {
      for (std::int64_t k = 0; k < frequencies; ++k) {
        row[2 * k] = zero;
        row[2 * k + 1] = one;
      }
    } else {
      std::fill_n(row + columns.sine, frequencies, zero);
      std::fill_n(row + columns.cosine, frequencies, one);
    }
  });
}

/// Adds a method at every ISA of this build that has the kernel `needed`, in ascending order. The
/// Writer's constructor takes the spec, its frequencies and the kernels of the ISA.
template <class Writer, class Kernel>
void add_method(BackendList& all, Method method, Kernel simd::Kernels::*needed) {
  for (const simd::IsaKernels& each : simd::compiled_kernels()) {
    if (each.kernels.*needed == nullptr) continue;
    method.isa = each.isa;
    all.push_back(Planning::make_backend(
        method, [&kernels = each.kernels](const EncodingSpec& spec,
                                          const std::shared_ptr<const Frequencies>& given) {
          const auto frequencies = given != nullptr ? given : shared_frequencies(spec);
          return std::make_unique<const Writer>(spec, frequencies, kernels);
        }));
  }
}

/// Adds a method in plain C++, which uses no kernels and runs on every processor. The Writer's
/// constructor takes the spec and its frequencies, which are null unless they differ from those of
/// the spec.
template <class Writer>
void add_portable_method(BackendList& all, Method method) {
  method.isa = simd::compiled_kernels().front().isa;
  all.push_back(Planning::make_backend(
      std::move(method),
      [](const EncodingSpec& spec, const std::shared_ptr<const Frequencies>& given) {
        return std::make_unique<const Writer>(spec, given);
      }));
}

}  // namespace posenc::detail
