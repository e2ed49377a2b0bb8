// The kernels of one ISA, from the libraries that were found. Included once by each ISA file, which
// says what the libraries call its ISA.
#include "drift-inl.h"
#include "vectors-inl.h"
#ifdef POSENC_PEER_EIGEN
#include "eigen-inl.h"
#endif
#ifdef POSENC_PEER_LIBMVEC
#include "libmvec-inl.h"
#endif
#ifdef POSENC_PEER_SLEEF
#include "sleef-inl.h"
#endif

#define POSENC_PEER_PASTE_KERNELS(isa) kernels_##isa
#define POSENC_PEER_KERNELS_NAME(isa) POSENC_PEER_PASTE_KERNELS(isa)

namespace posenc::peers {

const Kernels POSENC_PEER_KERNELS_NAME(POSENC_PEER_ISA) = {
    .isa = Isa::POSENC_PEER_ISA,
#ifdef POSENC_PEER_SLEEF
    .sleef_u10 = write_rows<float, sleef_u10>,
    .sleef_deterministic = write_rows<float, sleef_deterministic>,
    .sleef_u35 = write_rows<float, sleef_u35>,
    .sleef_f64 = write_rows<double, from_doubles<SleefDouble>>,
#endif
#ifdef POSENC_PEER_LIBMVEC
    .libmvec_f32 = write_rows<float, libmvec_float>,
    .libmvec_f64 = write_rows<double, from_doubles<LibmvecDouble>>,
#endif
#ifdef POSENC_PEER_EIGEN
    .eigen = eigen_rows,
#endif
    .drift = drift_rows,
};

}  // namespace posenc::peers
