#include "posenc/backends/frequency_tables.h"

#include <cstddef>

namespace posenc {

std::span<const IsaKernels> compiled_kernels() {
  static const std::vector<IsaKernels> all = {
#ifdef POSENC_HAVE_SSE2
      {Isa::sse2, simd::sse2_kernels()},
#endif
#ifdef POSENC_HAVE_AVX2
      {Isa::avx2, simd::avx2_kernels()},
#endif
#ifdef POSENC_HAVE_AVX512
      {Isa::avx512, simd::avx512_kernels()},
#endif
#ifdef POSENC_HAVE_NEON64
      {Isa::neon64, simd::neon64_kernels()},
#endif
  };
  return all;
}

simd::Columns columns_of(const EncodingSpec& spec) noexcept {
  const ChannelPair first = channels_of(spec, 0);
  return {spec.layout == Layout::interleaved, first.sine, first.cosine};
}

bool can_stream(const EncodingSpec& spec, const float* out, std::ptrdiff_t stride) noexcept {
  constexpr std::int64_t line = 16;  // floats
  const std::int64_t run = spec.layout == Layout::interleaved ? spec.d_model : spec.d_model / 2;
  return reinterpret_cast<std::uintptr_t>(out) % (line * sizeof(float)) == 0 && stride % line == 0 && run % line == 0;
}

FrequencyTables::FrequencyTables(const Frequencies& frequencies) {
  const std::int64_t padded = (frequencies.count() + simd::padding - 1) / simd::padding * simd::padding;
  high.resize(static_cast<std::size_t>(padded));
  low.resize(static_cast<std::size_t>(padded));
  for (std::int64_t k = 0; k < frequencies.count(); ++k) {
    high[static_cast<std::size_t>(k)] = frequencies[k].limb[0];
    low[static_cast<std::size_t>(k)] = frequencies[k].limb[1];
  }
}

}  // namespace posenc
