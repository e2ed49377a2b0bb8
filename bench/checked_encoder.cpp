#include "checked_encoder.h"

#include "posenc/tuning/accuracy_report.h"

#include <memory>
#include <utility>

namespace posenc::bench {
namespace {

bool is_any_wrong = false;

struct CheckedEncoder {
  std::unique_ptr<const Encoder> encoder;
  std::string error;
};

CheckedEncoder plan_and_check(const Backend& backend, const TableShape& shape, PlannedRows rows) {
  CheckedEncoder checked = {rows == PlannedRows::any
                                ? backend.plan(shape.spec)
                                : backend.plan(shape.spec, {shape.rows, shape.type}),
                            ""};
  checked.error = verify(*checked.encoder, shape.rows, shape.type);
  is_any_wrong |= !checked.error.empty();
  return checked;
}

}  // namespace

void add_checked(const std::string& name, const Backend& backend, const TableShape& shape,
                 EncoderBody body, std::vector<Ratio> ratios, Clock clock, PlannedRows rows) {
  const auto checked = std::make_shared<CheckedEncoder>();
  const auto checked_body = [=, &backend, body = std::move(body)](benchmark::State& state) {
    if (!checked->encoder) *checked = plan_and_check(backend, shape, rows);
    if (checked->error.empty()) {
      body(state, *checked->encoder);
    } else {
      state.SkipWithError(checked->error.c_str());
    }
  };
  add(name, checked_body, std::move(ratios), clock);
}

bool is_any_encoder_wrong() { return is_any_wrong; }

}  // namespace posenc::bench
