// cached_copy: the table is computed once and copied from then on, as in systems that keep one.
//
// It grows, to a power of two rows, when more rows are asked for, up to 256 MiB; rows beyond are
// computed each time. The first call pays for the table and later ones for the copy, which is what
// benchmarks time.
#include "peer.h"

#include <bit>
#include <cstring>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <tuple>

namespace posenc::peers {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{256} << 20;

/// Keeps a table of each type that is asked for.
class CachedCopy final : public Encoder {
 public:
  explicit CachedCopy(const EncodingSpec& spec)
      : Encoder(spec, "cached_copy", Isa::scalar),
        source_(posenc::backend("rotation").plan(spec)) {}

  double error_bound(RowRange rows, DataType type) const noexcept override {
    return source_->error_bound(rows, type);
  }

 private:
  void encode_rows(const RowTask& task) const noexcept override {
    with_type(task.type, [&]<class T>(T) { copy_rows<T>(task); });
  }

  template <class T>
  std::int64_t row_bytes() const noexcept {
    return spec().d_model * std::int64_t{sizeof(T)};
  }

  template <class T>
  void copy_rows(const RowTask& task) const noexcept {
    const std::int64_t end = task.first + task.count;
    if (end <= most_bytes / row_bytes<T>()) {
      if (copied<T>(task)) return;
      grow<T>(end);
      if (copied<T>(task)) return;
    }
    const OutputView out(task.row<T>(0), task.count, spec().d_model, task.stride);
    source_->encode({.first = task.first, .count = task.count}, out,
                    {1, task.non_temporal ? StorePolicy::non_temporal : StorePolicy::cached});
  }

  /// False if the table is too short.
  template <class T>
  bool copied(const RowTask& task) const noexcept {
    const std::shared_lock lock(mutex_);
    const auto& table = std::get<BasicMatrix<T>>(tables_);
    if (task.first + task.count > table.rows()) return false;
    const T* const from = table.data() + task.first * spec().d_model;
    if (task.stride == spec().d_model) {
      std::memcpy(task.out, from, static_cast<std::size_t>(task.count * row_bytes<T>()));
    } else {
      for (std::int64_t row = 0; row < task.count; ++row) {
        std::memcpy(task.row<T>(row), from + row * spec().d_model,
                    static_cast<std::size_t>(row_bytes<T>()));
      }
    }
    return true;
  }

  /// Makes the table at least `rows` long; leaves it as it is if there is no memory for that.
  template <class T>
  void grow(std::int64_t rows) const noexcept {
    const std::unique_lock lock(mutex_);
    auto& table = std::get<BasicMatrix<T>>(tables_);
    if (table.rows() >= rows) return;
    try {
      const auto doubled =
          static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(rows)));
      BasicMatrix<T> longer(std::min(doubled, most_bytes / row_bytes<T>()), spec().d_model);
      source_->encode({.first = 0, .count = longer.rows()}, longer.view());
      table = std::move(longer);
    } catch (const std::bad_alloc&) {
    }
  }

  std::unique_ptr<const Encoder> source_;
  mutable std::shared_mutex mutex_;
  mutable std::tuple<BasicMatrix<float>, BasicMatrix<double>, BasicMatrix<Float16>,
                     BasicMatrix<BFloat16>>
      tables_;
};

}  // namespace

void add_cached_copy(Peers& peers) {
  peers.push_back(std::make_unique<PeerBackend>(
      "cached_copy", Isa::scalar,
      "a copy of rotation's table, kept after the first call up to 256 MiB",
      [](const EncodingSpec& spec) { return std::make_unique<CachedCopy>(spec); }));
}

}  // namespace posenc::peers
