#include "encoders.h"

#include "posenc/tuning/accuracy_report.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

namespace posenc::bench {
namespace {

bool is_any_wrong = false;

struct Planned {
  const Backend* backend;
  EncodingSpec spec;
  std::unique_ptr<const Encoder> encoder;
};

const Encoder& planned_encoder(const Backend& backend, const EncodingSpec& spec) {
  static std::vector<Planned> all;
  for (const Planned& each : all) {
    if (each.backend == &backend && each.spec == spec) return *each.encoder;
  }
  return *all.emplace_back(Planned{&backend, spec, backend.plan(spec)}).encoder;
}

}  // namespace

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

const Encoder* verified(benchmark::State& state, const Backend& backend, const Table& table) {
  const Encoder& encoder = planned_encoder(backend, table.spec);
  return is_verified(state, encoder, table.rows, table.type) ? &encoder : nullptr;
}

bool is_verified(benchmark::State& state, const Encoder& encoder, RowRange rows, DataType type) {
  static std::map<std::tuple<const Encoder*, std::int64_t, std::int64_t, DataType>, std::string>
      errors;
  const auto [place, is_new] = errors.try_emplace({&encoder, rows.first, rows.count, type});
  if (is_new) place->second = verify(encoder, rows, type);
  if (place->second.empty()) return true;
  is_any_wrong = true;
  state.SkipWithError(place->second.c_str());
  return false;
}

bool is_any_encoder_wrong() { return is_any_wrong; }

}  // namespace posenc::bench
