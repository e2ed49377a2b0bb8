// The tallies of encoders of which some have the same bits. Internal: not installed.
#pragma once

#include "posenc/backend.h"
#include "posenc/matrix.h"
#include "posenc/suite/error_tally.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace posenc::suite {

/// The tallies of several encoders. A backend often has the same bits at several ISAs: while the
/// bits of neighbouring encoders are the same, they share one tally.
class SharedTallies {
 public:
  SharedTallies(std::span<const Encoder* const> encoders, std::int64_t d_model)
      : tallies_(encoders.size(), Tally(d_model)), owner_(encoders.size()) {
    for (std::size_t i = 0; i < encoders.size(); ++i) {
      const bool may_share =
          i > 0 && encoders[i]->backend().name() == encoders[i - 1]->backend().name();
      owner_[i] = may_share ? owner_[i - 1] : i;
    }
  }

  /// Gives encoders whose next rows differ from those of the tally's owner a tally of their own.
  void separate(const std::vector<BasicMatrix<double>>& rows) {
    for (std::size_t i = 0; i < owner_.size(); ++i) {
      if (has_same_bits(rows[i], rows[owner_[i]])) continue;
      const std::size_t before = owner_[i];
      tallies_[i] = tallies_[before];
      for (std::size_t j = i; j < owner_.size(); ++j) {
        if (owner_[j] == before && has_same_bits(rows[j], rows[i])) owner_[j] = i;
      }
    }
  }

  bool is_owner(std::size_t encoder) const noexcept { return owner_[encoder] == encoder; }
  Tally& operator[](std::size_t encoder) noexcept { return tallies_[owner_[encoder]]; }

  std::vector<Tally> of_each() const {
    std::vector<Tally> all;
    for (const std::size_t owner : owner_) all.push_back(tallies_[owner]);
    return all;
  }

 private:
  static bool has_same_bits(const BasicMatrix<double>& a, const BasicMatrix<double>& b) noexcept {
    const auto entries = static_cast<std::size_t>(a.rows() * a.columns());
    return std::memcmp(a.data(), b.data(), entries * sizeof(double)) == 0;
  }

  std::vector<Tally> tallies_;
  std::vector<std::size_t> owner_;
};

}  // namespace posenc::suite
