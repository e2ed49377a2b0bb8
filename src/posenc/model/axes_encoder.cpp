#include "posenc/model/axes/rows.h"
#include "posenc/support/check.h"
#include "posenc/support/parallel_for.h"

namespace posenc {

void AxesEncoder::encode(const RowPositions& positions, OutputView out,
                         EncodeOptions options) const {
  detail::check_positions(positions, plan_->axes);
  check_threads(options.threads);
  check_view(out, positions.count(), d_model());
  const detail::PreparedRows rows(*this, positions, out.type, options.threads);
  if (rows.count() == 0) return;
  if (rows.are_equal_on_all_axes()) return rows.write_equal(0, rows.count(), out, options);
  const StorePolicy stores =
      is_non_temporal(options.stores, rows.count() * d_model() * size_of(out.type))
          ? StorePolicy::non_temporal
          : StorePolicy::cached;
  parallel_for(rows.count(), rows_per_piece(d_model()), options.threads,
               [&](std::int64_t begin, std::int64_t end, int) {
                 OutputView part = out;
                 part.data = static_cast<char*>(out.data) + begin * out.stride * size_of(out.type);
                 part.rows = end - begin;
                 rows.write(begin, end - begin, part, stores);
               });
}

}  // namespace posenc
