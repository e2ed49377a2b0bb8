// drifting_rotation: each row is the one before, rotated in float32, and never re-anchored: the
// fastest recurrence that there is, and the error that it gathers over a long context.
//
// A row is a function of its position: contexts of 2^17 positions each begin with exact sines and
// drift from there to their end. Planning keeps the drifted state of every 4096th row of the first
// context, so that a row in its middle does not cost all those before it.
#include "peer.h"

namespace posenc::peers {
namespace {

constexpr std::int64_t context_rows = std::int64_t{1} << 17;
constexpr std::int64_t kept_every = 4096;

class DriftingRotation final : public Encoder {
 public:
  DriftingRotation(const EncodingSpec& spec, const Backend& backend, const Kernels* kernels)
      : Encoder(spec, backend),
        kernels_(*kernels),
        radians_(radians<double>(spec)),
        step_(state_at(1)) {
    // The next state is a row whose sines and cosines, padding included, are two blocks.
    const auto padded = static_cast<std::int64_t>(radians_.size());
    const DriftTables tables = {padded, padded, {false, 0, padded}, step_.data()};
    std::vector<float> state = state_at(0), next = state;
    for (std::int64_t first = 0; first < context_rows; first += kept_every) {
      kept_.push_back(state);
      kernels_.drift(tables, state.data(), kept_every,
                     {0, 1, next.data(), 2 * padded, DataType::float32});
      state.swap(next);
    }
  }

  /// A rotation adds three roundings of 2^-25 to each of sine and cosine, and the error of its own
  /// sine and cosine, 2^-25 each: together less than 6 * 2^-25 as a distance. The length drifts
  /// too, by less than a quarter over a context.
  double error_bound(RowRange rows, DataType) const noexcept override {
    const std::int64_t first = std::max<std::int64_t>(rows.first, 0), last = rows.farthest();
    const bool is_one_context = first / context_rows == last / context_rows;
    const auto rotations =
        static_cast<double>(is_one_context ? last % context_rows : context_rows - 1);
    const double anchor =
        static_cast<double>(last / context_rows * context_rows) * phase_error<double>(spec());
    return std::min(any_error, 0x1p-24 + anchor + 1.25 * rotations * 6 * 0x1p-25);
  }

 private:
  /// Exact sines and cosines, rounded to float32 (see DriftTables).
  std::vector<float> state_at(std::int64_t position) const {
    std::vector<float> state;
    const auto at = static_cast<double>(position);
    for (const double each : radians_) state.push_back(static_cast<float>(std::sin(at * each)));
    for (const double each : radians_) state.push_back(static_cast<float>(std::cos(at * each)));
    return state;
  }

  void encode_rows(const RowTask& task) const noexcept override {
    const DriftTables tables = {spec().d_model / 2, static_cast<std::int64_t>(radians_.size()),
                                columns_of(spec()), step_.data()};
    for (RowTask rest = task; rest.count > 0;) {
      const std::int64_t place = rest.first % context_rows;
      const RowTask part = rest.part(0, std::min(rest.count, context_rows - place));
      if (rest.first < context_rows) {
        const auto& kept = kept_[static_cast<std::size_t>(place / kept_every)];
        kernels_.drift(tables, kept.data(), place % kept_every, part);
      } else {
        kernels_.drift(tables, state_at(rest.first - place).data(), place, part);
      }
      rest = rest.after(part.count);
    }
  }

  const Kernels& kernels_;
  std::vector<double> radians_;
  std::vector<float> step_;
  std::vector<std::vector<float>> kept_;
};

}  // namespace

void register_drifting_rotation(const Kernels& kernels) {
  register_peer({"drifting_rotation", kernels.isa, "float32, row from row",
                 "a float32 rotation a row, never re-anchored over 2^17 rows",
                 maker<DriftingRotation>(&kernels)});
}

}  // namespace posenc::peers
