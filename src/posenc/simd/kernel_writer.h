// The writers of posenc's own kernels: they plan how a call is stored, and may add rows to an
// input. Internal: not installed.
#pragma once

#include "posenc/row_writer.h"
#include "posenc/simd/kernels.h"
#include "posenc/simd/row_task.h"

namespace posenc::detail {

class KernelWriter : public RowWriter {
 public:
  KernelWriter() noexcept { kernels_ = this; }

  /// How the rows of a call are stored. `non_temporal`: past the caches, if possible. `adds`: the
  /// rows are added to an input.
  virtual simd::StorePlan store_plan(const simd::RowTask& rows, bool non_temporal,
                                     bool adds) const noexcept = 0;

  /// Writes the rows. If `addition` is not null, which requires can_add(), writes the sums with
  /// the input instead, in float32.
  virtual void write(const simd::RowTask& rows, const simd::Addition* addition) const noexcept = 0;

  virtual bool can_add() const noexcept { return false; }

  void write(const OutputRows& rows) const noexcept final {
    write({rows.first, rows.count, rows.out, rows.stride, rows.type}, nullptr);
  }
};

}  // namespace posenc::detail
