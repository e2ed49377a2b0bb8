#include "encoders.h"

#include <memory>
#include <utility>

namespace posenc::bench {

std::vector<const Backend*> running_backends() {
  std::vector<const Backend*> running = backends();
  std::erase_if(running, [](const Backend* each) { return !each->runs_here(); });
  return running;
}

std::vector<const Backend*> best_backends() {
  std::vector<const Backend*> best = running_backends();
  std::erase_if(best, [](const Backend* each) { return each != &backend(each->name()); });
  return best;
}

std::vector<const Backend*> fast_backends() {
  return {&backend("rotation"), &backend("rotation32")};
}

const Encoder& planned(const Backend& backend, const EncodingSpec& spec) {
  static std::vector<std::unique_ptr<const Encoder>> all;
  for (const auto& each : all) {
    if (&each->backend() == &backend && each->spec() == spec) return *each;
  }
  return *all.emplace_back(backend.plan(spec));
}

Expected expected_of(const Encoder& encoder, RowRange rows, DataType type) {
  return {[&encoder, rows](std::int64_t row, std::span<long double> values) {
            exact_row(encoder.spec(), rows.first + row, values);
          },
          encoder.error_bound(rows, type)};
}

}  // namespace posenc::bench
