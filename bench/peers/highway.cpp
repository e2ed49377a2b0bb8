// Highway's SinCos (hwy/contrib/math; in old versions, its Sin and Cos) behind its own dynamic
// dispatch: this file is compiled once for each target, with the flags of the baseline ISA, and the
// best target for the CPU is called.
//
// Highway documents them for phases up to 39000 rad. Further rows first subtract whole turns in
// double, as Highway's users must.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "highway.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, by Highway's rule.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "peer.h"

HWY_BEFORE_NAMESPACE();
namespace posenc::peers::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t last_documented_position = 39000;  // frequencies are at most 1

/// SinCos, or in old versions Sin and Cos. (Highway's contrib headers may be of another version
/// than its library.)
template <class D, class V>
HWY_INLINE void sincos(D d, V phase, V& sine, V& cosine) {
  if constexpr (requires { SinCos(d, phase, sine, cosine); }) {
    SinCos(d, phase, sine, cosine);
  } else {
    sine = hn::Sin(d, phase);
    cosine = hn::Cos(d, phase);
  }
}

/// Less the nearest whole number of turns.
template <class D, class V>
HWY_INLINE V without_turns(D d, V phase) {
  constexpr double turn_high = 6.283185307179586, turn_low = 2.4492935982947064e-16;
  const V turns = hn::Round(hn::Mul(phase, hn::Set(d, 1 / turn_high)));
  return hn::NegMulAdd(turns, hn::Set(d, turn_low),
                       hn::NegMulAdd(turns, hn::Set(d, turn_high), phase));
}

/// Phases far out: less their whole turns, which are counted in double.
template <class D, class V>
HWY_INLINE V reduced_phase(D d, V radians, double position) {
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(double)) {
    return without_turns(d, hn::Mul(radians, hn::Set(d, position)));
  } else {
#if HWY_TARGET == HWY_SCALAR  // one lane, which has no halves
    const hn::Rebind<double, D> wide;
    return hn::DemoteTo(d, reduced_phase(wide, hn::PromoteTo(wide, radians), position));
#else
    const hn::Half<D> half;
    const hn::Rebind<double, decltype(half)> wide;
    const auto low = hn::PromoteTo(wide, hn::LowerHalf(half, radians));
    const auto high = hn::PromoteTo(wide, hn::UpperHalf(half, radians));
    return hn::Combine(d, hn::DemoteTo(half, reduced_phase(wide, high, position)),
                       hn::DemoteTo(half, reduced_phase(wide, low, position)));
#endif
  }
}

template <class D, class V>
HWY_INLINE void store_columns(D d, hn::TFromD<D>* row, const Columns& columns, std::int64_t k,
                              V sine, V cosine) {
  if (columns.interleaved) {
    hn::StoreInterleaved2(sine, cosine, d, row + 2 * k);
  } else {
    hn::StoreU(sine, d, row + columns.sine + k);
    hn::StoreU(cosine, d, row + columns.cosine + k);
  }
}

/// Calls sincos(k, sine, cosine) for a vector at a time; the last one of a row goes through a
/// buffer.
template <class D, class Sincos>
HWY_INLINE void write_row(D d, hn::TFromD<D>* row, const Columns& columns, std::int64_t frequencies,
                          const Sincos& sincos) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<D> sine, cosine;
  std::int64_t k = 0;
  for (; k + lanes <= frequencies; k += lanes) {
    sincos(k, sine, cosine);
    store_columns(d, row, columns, k, sine, cosine);
  }
  if (k == frequencies) return;
  hn::TFromD<D> sines[hn::MaxLanes(d)], cosines[hn::MaxLanes(d)];
  sincos(k, sine, cosine);
  hn::StoreU(sine, d, sines);
  hn::StoreU(cosine, d, cosines);
  const std::int64_t step = columns.interleaved ? 2 : 1;
  for (std::int64_t lane = 0; k + lane < frequencies; ++lane) {
    row[columns.sine + (k + lane) * step] = sines[lane];
    row[columns.cosine + (k + lane) * step] = cosines[lane];
  }
}

/// Writes rows of T from phases of type P.
template <class T, class P>
void write_rows(const SincosTables<P>& tables, const RowTask& task) {
  const hn::ScalableTag<P> d;
  const hn::Rebind<T, decltype(d)> rounded;
  for (std::int64_t r = 0; r < task.count; ++r) {
    const std::int64_t position = task.first + r;
    const bool is_far = position > last_documented_position;
    T* const row = static_cast<T*>(task.out) + r * task.stride;
    write_row(rounded, row, tables.columns, tables.frequencies,
              [&](std::int64_t k, auto& sine, auto& cosine) HWY_ATTR {
                const auto radians = hn::LoadU(d, tables.radians + k);
                auto phase = hn::Mul(radians, hn::Set(d, static_cast<P>(position)));
                if (is_far) phase = reduced_phase(d, radians, static_cast<double>(position));
                if constexpr (sizeof(T) == sizeof(P)) {
                  sincos(d, phase, sine, cosine);
                } else {
                  decltype(phase) wide_sine, wide_cosine;
                  sincos(d, phase, wide_sine, wide_cosine);
                  sine = hn::DemoteTo(rounded, wide_sine);
                  cosine = hn::DemoteTo(rounded, wide_cosine);
                }
              });
  }
}

void write_f32(const SincosTables<float>& tables, const RowTask& task) {
  write_rows<float>(tables, task);
}

void write_f64(const SincosTables<double>& tables, const RowTask& task) {
  if (task.type == DataType::float64) {
    write_rows<double>(tables, task);
  } else {
    write_rows<float>(tables, task);
  }
}

}  // namespace posenc::peers::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace posenc::peers {
namespace {

HWY_EXPORT(write_f32);
HWY_EXPORT(write_f64);

/// The ISA of the target that dynamic dispatch chooses here.
Isa dispatched_isa() {
#if HWY_ARCH_X86
  const auto supported = hwy::SupportedTargets() & HWY_TARGETS;
  constexpr auto avx512 = HWY_AVX3 | HWY_AVX3_DL;
  if ((supported & avx512) != 0) return Isa::avx512;
  return (supported & HWY_AVX2) != 0 ? Isa::avx2 : Isa::sse2;
#else
  return Isa::neon64;
#endif
}

}  // namespace

/// Within 3 ulp if the target has fused operations, else 256: the bounds of Highway's own tests.
void register_highway() {
  const Isa isa = dispatched_isa();
  const double ulps = isa == Isa::sse2 ? 256 : 3;
  register_library({"highway_f32", "Highway, float32 phases; reduced in double past 39000", ulps,
                    [](const SincosTables<float>& tables, const RowTask& task) {
                      HWY_DYNAMIC_DISPATCH(write_f32)(tables, task);
                    },
                    nullptr},
                   isa);
  register_library({"highway_f64", "Highway, double phases, rounded once", ulps, nullptr,
                    [](const SincosTables<double>& tables, const RowTask& task) {
                      HWY_DYNAMIC_DISPATCH(write_f64)(tables, task);
                    }},
                   isa, true);
}

}  // namespace posenc::peers
#endif
