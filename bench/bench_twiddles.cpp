// What do roots of unity cost, and how exact are they, beside the twiddle factors that a transform
// makes for itself?
//
//   twiddles/posenc/n:4096/type:float32          exp(-2 pi i k / n), k = 0 .. n - 1, by one encode
//   call twiddles/posenc_planned/n:4096/type:float32  planning, and that call
//   twiddles/kissfft/n:4096/type:float32         those of kissfft, which Eigen's FFT uses
//
// Counters: roots/s; the largest error in ulp of the type; entries that are not the nearest value.
#include "program.h"

#include "posenc/exact/reference.h"
#include "posenc/layers/rotary.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#if __has_include(<unsupported/Eigen/FFT>)
#include <unsupported/Eigen/FFT>
#define POSENC_BENCH_EIGEN_FFT
#endif

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace posenc::bench {
namespace {

template <class T>
using Roots = std::vector<std::complex<T>>;

/// Frequency k is k / n of a turn. At position -1, a row of cosines and sines side by side is the
/// roots of a forward transform.
EncodingSpec spec_of(std::int64_t n) {
  TurnFrequencies turns;
  for (std::int64_t k = 0; k < n; ++k) turns.numerators.push_back(k);
  turns.denominators.assign(static_cast<std::size_t>(n), n);
  return {.d_model = 2 * n, .frequencies = turns};
}

template <class T>
void fill(const Rotary& rotary, Roots<T>& roots) {
  const auto columns = static_cast<std::int64_t>(2 * roots.size());
  // The layout of std::complex is that of an array of two.
  const MatrixView<T> row = {reinterpret_cast<T*>(roots.data()), 1, columns, columns};
  rotary.cache(RowRange{-1, 1}, RotaryLayout::interleaved, row);
}

template <class T>
void report(benchmark::State& state, const Roots<T>& roots) {
  const auto n = static_cast<std::int64_t>(roots.size());
  const Reference reference(spec_of(n), ReferenceMethod::integers);
  double max_ulp = 0, wrong = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const ReferencePair exact = reference(k, -1);
    const auto compare = [&](T got, bool is_cosine, long double value, double rest) {
      const auto nearest =
          static_cast<T>(reference.nearest(k, -1, is_cosine, value, data_type_of<T>));
      wrong += got != nearest;
      // Of an exact 0, the ulp below 1 counts.
      const T magnitude = nearest == 0 ? std::nextafter(T{1}, T{0}) : std::fabs(nearest);
      const T ulp = magnitude - std::nextafter(magnitude, T{0});
      const long double error = (static_cast<long double>(got) - value) - rest;
      max_ulp = std::max(max_ulp, static_cast<double>(std::fabs(error) / ulp));
    };
    const std::complex<T> root = roots[static_cast<std::size_t>(k)];
    compare(root.real(), true, exact.cosine, exact.cosine_rest);
    compare(root.imag(), false, exact.sine, exact.sine_rest);
  }
  state.SetItemsProcessed(state.iterations() * n);
  state.counters["max_ulp"] = max_ulp;
  state.counters["wrongly_rounded"] = wrong;
}

template <class T>
void by_posenc(benchmark::State& state, std::int64_t n) {
  const Rotary rotary(RotarySpec{.angles = one_axis(spec_of(n))});
  Roots<T> roots(static_cast<std::size_t>(n));
  for (auto _ : state) {
    fill(rotary, roots);
    benchmark::ClobberMemory();
  }
  report(state, roots);
}

template <class T>
void by_posenc_planned(benchmark::State& state, std::int64_t n) {
  const RotarySpec spec = {.angles = one_axis(spec_of(n))};
  Roots<T> roots(static_cast<std::size_t>(n));
  for (auto _ : state) {
    fill(Rotary(spec), roots);
    benchmark::ClobberMemory();
  }
  report(state, roots);
}

#ifdef POSENC_BENCH_EIGEN_FFT
template <class T>
void by_kissfft(benchmark::State& state, std::int64_t n) {
  Eigen::internal::kiss_cpx_fft<T> transform;
  for (auto _ : state) {
    transform.make_twiddles(static_cast<int>(n), /*inverse=*/false);
    benchmark::DoNotOptimize(transform.m_twiddles.data());
    benchmark::ClobberMemory();
  }
  report(state, transform.m_twiddles);
}
#endif

template <class T>
void register_type(std::int64_t n) {
  const std::string suffix = fmt::format("/n:{}/type:{}", n, to_string(data_type_of<T>));
  add("twiddles/posenc" + suffix, by_posenc<T>, n);
  add("twiddles/posenc_planned" + suffix, by_posenc_planned<T>, n);
#ifdef POSENC_BENCH_EIGEN_FFT
  add("twiddles/kissfft" + suffix, by_kissfft<T>, n);
#endif
}

void register_benchmarks() {
  for (const std::int64_t n : {std::int64_t{1000}, std::int64_t{4096}, std::int64_t{65536}}) {
    register_type<float>(n);
    register_type<double>(n);
  }
}

}  // namespace
}  // namespace posenc::bench

int main(int argc, char** argv) {
  return posenc::bench::run(argc, argv, posenc::bench::register_benchmarks);
}
