// What planning computes from frequencies alone, shared by all encoders of a process that need it.
#pragma once

#include "posenc/exact/frequency.h"
#include "posenc/simd/kernels.h"
#include "posenc/spec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace posenc::detail {

/// What a value depends on: frequencies, and for some values the layout or the kernels.
struct SharedKey {
  EncodingSpec spec;  ///< with the default layout, unless the value depends on it
  const simd::Kernels* kernels = nullptr;

  bool operator==(const SharedKey&) const = default;
};

/// The key of what is the same in every layout.
inline SharedKey key_of_any_layout(EncodingSpec spec, const simd::Kernels* kernels = nullptr) {
  spec.layout = {};
  return {std::move(spec), kernels};
}

/// The values that were asked for last, at most most_values, so that a search costs little beside
/// planning, and of at most most_frequencies frequencies in all: 4 MiB of RotationConstants.
///
/// Nobody waits for another thread, which a fork may have left behind: who finds the cache in use
/// computes a value of its own.
template <class Value>
class SharedValues {
 public:
  /// The value of a key, which is constructed from `from` unless it is kept.
  template <class... From>
  std::shared_ptr<const Value> get(const SharedKey& key, const From&... from) {
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) {
      const auto found = std::ranges::find(recent_, key, &Entry::key);
      if (found != recent_.end()) {
        recent_.splice(recent_.begin(), recent_, found);
        return found->value;
      }
    }
    auto made = std::make_shared<const Value>(from...);
    const std::int64_t frequencies = key.spec.d_model / 2;
    std::list<Entry> added = {{key, made}}, removed;  // allocated and freed without the lock
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || frequencies > most_frequencies) return made;
    frequencies_ += frequencies;
    recent_.splice(recent_.begin(), added);
    while (frequencies_ > most_frequencies || recent_.size() > most_values) {
      frequencies_ -= recent_.back().key.spec.d_model / 2;
      removed.splice(removed.begin(), recent_, std::prev(recent_.end()));
    }
    return made;
  }

  static constexpr std::int64_t most_frequencies = std::int64_t{1} << 14;
  static constexpr std::size_t most_values = 32;

 private:
  struct Entry {
    SharedKey key;
    std::shared_ptr<const Value> value;
  };

  std::mutex mutex_;
  std::list<Entry> recent_;  ///< the last one first
  std::int64_t frequencies_ = 0;
};

/// The process's values of that type. They are never destroyed, because encoders may be planned
/// while static objects are destroyed.
template <class Value>
SharedValues<Value>& shared_values() {
  static auto* const all = new SharedValues<Value>;
  return *all;
}

/// The frequencies of a valid spec, which are computed once a process while they are kept.
inline std::shared_ptr<const Frequencies> shared_frequencies(const EncodingSpec& spec) {
  return shared_values<Frequencies>().get(key_of_any_layout(spec), spec);
}

}  // namespace posenc::detail
