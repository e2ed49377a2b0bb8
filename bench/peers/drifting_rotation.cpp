// drifting_rotation: each row is the one before, rotated in float32, and never re-anchored: the
// fastest recurrence that there is, and the error that it gathers over a long context.
//
// A row is a function of its position: contexts of 2^17 positions each begin with exact sines and
// drift from there to their end. Planning keeps the drifted state of every 4096th row, so that a
// row in the middle does not cost all those before it.
#include "peer.h"

namespace posenc::peers {
namespace {

constexpr std::int64_t context_rows = std::int64_t{1} << 17;
constexpr std::int64_t kept_every = 4096;
constexpr std::int64_t states = context_rows / kept_every;

class DriftingRotation final : public PeerEncoder {
 public:
  DriftingRotation(const EncodingSpec& spec, const Kernels& kernels)
      : PeerEncoder(spec, "drifting_rotation", kernels.isa),
        kernels_(kernels),
        radians_(radians<double>(spec)),
        sin_step_(radians_.size()),
        cos_step_(radians_.size()) {
    for (std::size_t k = 0; k < radians_.size(); ++k) {
      sin_step_[k] = static_cast<float>(std::sin(radians_[k]));
      cos_step_[k] = static_cast<float>(std::cos(radians_[k]));
    }
    keep_first_context();
  }

 private:
  /// A rotation adds three roundings of 2^-25 to each of sine and cosine, and the error of its own
  /// sine and cosine, 2^-25 each: together less than 6 * 2^-25 as a distance. The length drifts
  /// too, by less than a quarter over a context.
  double bound_before_narrowing(RowRange rows, DataType) const noexcept override {
    const std::int64_t last = std::max(rows.first, rows.first + rows.count - 1);
    const bool is_one_context = rows.first / context_rows == last / context_rows;
    const auto rotations =
        static_cast<double>(is_one_context ? last % context_rows : context_rows - 1);
    const double anchor =
        static_cast<double>(last / context_rows * context_rows) * phase_error<double>;
    return std::min(any_error, 0x1p-24 + anchor + 1.25 * rotations * 6 * 0x1p-25);
  }

  std::size_t padded() const noexcept { return radians_.size(); }

  DriftTables tables() const noexcept {
    return {spec().d_model / 2, columns_of(spec()), sin_step_.data(), cos_step_.data()};
  }

  void keep_first_context() {
    std::vector<float> sine(padded(), 0.0f), cosine(padded(), 1.0f);
    for (std::int64_t kept = 0; kept < states; ++kept) {
      kept_sines_.insert(kept_sines_.end(), sine.begin(), sine.end());
      kept_cosines_.insert(kept_cosines_.end(), cosine.begin(), cosine.end());
      kernels_.drift(tables(), kept_every, sine.data(), cosine.data());
    }
  }

  void write_rows(const RowTask& task) const noexcept override {
    for (RowTask rest = task; rest.count > 0;) {
      const std::int64_t place = rest.first % context_rows;
      RowTask part = rest;
      part.count = std::min(rest.count, context_rows - place);
      if (rest.first < context_rows) {
        const auto kept = static_cast<std::size_t>(place / kept_every) * padded();
        kernels_.drift_rows(tables(), place % kept_every, &kept_sines_[kept], &kept_cosines_[kept],
                            part);
      } else {
        write_from_anchor(part, place);
      }
      rest = rest.after(part.count);
    }
  }

  /// A piece of the columns at a time, so that the anchor needs no memory of its own.
  void write_from_anchor(const RowTask& task, std::int64_t place) const noexcept {
    const auto begin = static_cast<double>(task.first - place);
    const DriftTables all = tables();
    for (std::int64_t k = 0; k < all.frequencies; k += padding) {
      float sine[padding], cosine[padding];
      for (std::int64_t lane = 0; lane < padding; ++lane) {
        const double phase = begin * radians_[static_cast<std::size_t>(k + lane)];
        sine[lane] = static_cast<float>(std::sin(phase));
        cosine[lane] = static_cast<float>(std::cos(phase));
      }
      const DriftTables piece = {
          .frequencies = std::min(padding, all.frequencies - k),
          .columns = all.columns,
          .sin_step = all.sin_step + k,
          .cos_step = all.cos_step + k,
      };
      RowTask columns = task;
      columns.out = task.row<float>(0) + k * (all.columns.interleaved ? 2 : 1);
      kernels_.drift_rows(piece, place, sine, cosine, columns);
    }
  }

  const Kernels& kernels_;
  std::vector<double> radians_;
  std::vector<float> sin_step_, cos_step_;
  std::vector<float> kept_sines_, kept_cosines_;
};

}  // namespace

void add_drifting_rotation(Peers& peers) {
  for (const Kernels* each : peer_kernels()) {
    peers.push_back(
        std::make_unique<PeerBackend>("drifting_rotation", each->isa,
                                      "a float32 rotation a row, never re-anchored over 2^17 rows",
                                      [each](const EncodingSpec& spec) {
                                        return std::make_unique<DriftingRotation>(spec, *each);
                                      }));
  }
}

}  // namespace posenc::peers
