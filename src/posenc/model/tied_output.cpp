#include "posenc/model/tied_output.h"

#include "posenc/model/internal/checks.h"
#include "posenc/support/parallel_for.h"

#include <algorithm>

// Eigen gets a different namespace: a program that uses Eigen with other flags must not share these
// inline functions with the library.
#define Eigen posenc_eigen
#define EIGEN_DONT_PARALLELIZE  // The caller says how many threads work.
#include <Eigen/Core>

namespace posenc {
namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Stride = Eigen::OuterStride<>;

auto map(const MatrixView<const float>& view) {
  return Eigen::Map<const RowMajor, Eigen::Unaligned, Stride>(view.data, view.rows, view.columns,
                                                              Stride(view.stride));
}

auto map(const MatrixView<float>& view) {
  return Eigen::Map<RowMajor, Eigen::Unaligned, Stride>(view.data, view.rows, view.columns,
                                                        Stride(view.stride));
}

}  // namespace

void TiedOutput::logits(MatrixView<const float> x, MatrixView<float> logits,
                        EncodeOptions options) const {
  check_threads(options.threads);
  check_equal("x", "columns", x.columns, "d_model", d_model());
  check_equal("logits", "columns", logits.columns, "the vocabulary", vocabulary());
  check_equal("logits", "rows", logits.rows, "as many as x", x.rows);
  const Strided output = strided("logits", InputView(logits));
  check_apart(output, strided("x", InputView(x)));
  check_apart(output, strided("weights", InputView(weights_)));
  // Threads divide the vocabulary, which is the longer dimension. In decoding, there is one row.
  // The parts, and with them the sums, do not depend on which thread is the faster one.
  if (x.rows == 0 || vocabulary() == 0) return;
  constexpr std::int64_t parts_per_thread = 8, least_products = 1 << 18;
  const std::int64_t most_parts =
      options.threads == 1 ? 1 : std::min(parts_per_thread * options.threads, vocabulary());
  const std::int64_t products = x.rows * d_model() * vocabulary();
  const std::int64_t parts = std::clamp<std::int64_t>(products / least_products, 1, most_parts);
  parallel_for(parts, 1, options.threads, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t part = first; part < last; ++part) {
      const std::int64_t begin = part_begin(vocabulary(), parts, part),
                         end = part_begin(vocabulary(), parts, part + 1);
      map(logits).middleCols(begin, end - begin).noalias() =
          map(x) * map(weights_).middleRows(begin, end - begin).transpose();
    }
  });
}

}  // namespace posenc
