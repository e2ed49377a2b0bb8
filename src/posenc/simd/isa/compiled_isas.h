// The ISAs that this build has kernels for: the build defines POSENC_HAVE_<ISA> for each.
#pragma once

#ifdef POSENC_HAVE_SCALAR
#define POSENC_FOR_SCALAR(use) use(scalar)
#else
#define POSENC_FOR_SCALAR(use)
#endif
#ifdef POSENC_HAVE_SSE2
#define POSENC_FOR_SSE2(use) use(sse2)
#else
#define POSENC_FOR_SSE2(use)
#endif
#ifdef POSENC_HAVE_AVX2
#define POSENC_FOR_AVX2(use) use(avx2)
#else
#define POSENC_FOR_AVX2(use)
#endif
#ifdef POSENC_HAVE_AVX512
#define POSENC_FOR_AVX512(use) use(avx512)
#else
#define POSENC_FOR_AVX512(use)
#endif
#ifdef POSENC_HAVE_NEON64
#define POSENC_FOR_NEON64(use) use(neon64)
#else
#define POSENC_FOR_NEON64(use)
#endif

/// Expands use(isa) for each of them, ascending. The first one is in the baseline of the processor.
#define POSENC_FOR_EACH_ISA(use) \
  POSENC_FOR_SCALAR(use)         \
  POSENC_FOR_SSE2(use) POSENC_FOR_AVX2(use) POSENC_FOR_AVX512(use) POSENC_FOR_NEON64(use)
