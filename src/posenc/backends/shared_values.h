// Values that planning computes from frequencies alone. All encoders of a process share them.
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
#include <vector>

namespace posenc::detail {

/// Keeps the values that were used last: at most most_values values, so that a search costs little
/// compared with planning, with at most most_frequencies frequencies in all, which is 4 MiB of
/// RotationConstants.
///
/// Never blocks: a fork may have left the lock held. A caller that finds the cache locked computes
/// its own value.
template <class Key, class Value>
class SharedValues {
 public:
  /// Returns the value of a key, which has `frequencies` frequencies. Calls make() unless the value
  /// is kept.
  template <class Make>
  std::shared_ptr<const Value> get(const Key& key, std::int64_t frequencies, const Make& make) {
    if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) {
      const auto found = std::ranges::find(recent_, key, &Entry::key);
      if (found != recent_.end()) {
        recent_.splice(recent_.begin(), recent_, found);
        return found->value;
      }
    }
    std::shared_ptr<const Value> made = make();
    std::list<Entry> added = {{key, frequencies, made}},
                     removed;  // allocated and freed without the lock
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || frequencies > most_frequencies) return made;
    frequencies_ += frequencies;
    recent_.splice(recent_.begin(), added);
    while (frequencies_ > most_frequencies || recent_.size() > most_values) {
      frequencies_ -= recent_.back().frequencies;
      removed.splice(removed.begin(), recent_, std::prev(recent_.end()));
    }
    return made;
  }

  static constexpr std::int64_t most_frequencies = std::int64_t{1} << 14;
  static constexpr std::size_t most_values = 32;

 private:
  struct Entry {
    Key key;
    std::int64_t frequencies;
    std::shared_ptr<const Value> value;
  };

  std::mutex mutex_;
  std::list<Entry> recent_;  ///< the most recently used entry first
  std::int64_t frequencies_ = 0;
};

/// The process-wide values of these types. They are never destroyed, because encoders may be
/// planned while static objects are destroyed.
template <class Key, class Value>
SharedValues<Key, Value>& shared_values() {
  static auto* const all = new SharedValues<Key, Value>;
  return *all;
}

/// The frequencies of a valid spec. The layout makes no difference.
inline std::shared_ptr<const Frequencies> shared_frequencies(EncodingSpec spec) {
  spec.layout = {};
  return shared_values<EncodingSpec, Frequencies>().get(
      spec, spec.d_model / 2, [&] { return std::make_shared<const Frequencies>(spec); });
}

/// Frequencies of others, which shared_frequencies() has returned.
inline std::shared_ptr<const Frequencies> shared_frequencies(
    const std::vector<PickedFrequency>& picked) {
  return shared_values<std::vector<PickedFrequency>, Frequencies>().get(
      picked, std::ssize(picked), [&] { return std::make_shared<const Frequencies>(picked); });
}

/// The constants of kernels depend on frequencies, by identity, and on the kernels.
struct ConstantsKey {
  std::shared_ptr<const Frequencies> frequencies;
  const simd::Kernels* kernels;
  bool is_interleaved = false;  ///< false if the layout makes no difference

  bool operator==(const ConstantsKey&) const = default;
};

template <class Constants>
std::shared_ptr<const Constants> shared_constants(const ConstantsKey& key) {
  return shared_values<ConstantsKey, Constants>().get(
      key, key.frequencies->count(), [&] { return std::make_shared<const Constants>(key); });
}

}  // namespace posenc::detail
