#include "posenc/model/axes_encoder.h"

#include "posenc/model/internal/axes_plan.h"
#include "posenc/model/internal/axes_rows.h"
#include "posenc/support/check.h"

namespace posenc {

const detail::AxesPlan& detail::plan_of(const model::AxesEncoder& encoder) noexcept {
  return *encoder.plan_;
}

namespace model {

AxesEncoder::AxesEncoder(const AxesSpec& spec, const Accuracy& accuracy, DataType type)
    : plan_(std::make_shared<detail::AxesPlan>(spec, accuracy, type)) {}

const AxesSpec& AxesEncoder::spec() const noexcept { return plan_->spec; }
std::int64_t AxesEncoder::d_model() const noexcept { return plan_->d_model; }
const Selection& AxesEncoder::selection() const noexcept { return plan_->selection; }

void AxesEncoder::encode(const RowPositions& positions, OutputView out,
                         EncodeOptions options) const {
  validate(positions, plan_->axes);
  check_threads(options.threads);
  check_view(out, positions.count(), d_model());
  detail::PreparedRows(*plan_, positions, out.type, options.threads)
      .write(0, positions.count(), out, options);
}

}  // namespace model
}  // namespace posenc
