#include "limit.h"

#include "yardstick.h"

#include "store_bandwidth.h"

#include <algorithm>
#include <map>

namespace posenc::bench {

double limit_bytes_per_second(void* destination, std::int64_t bytes) {
  struct StorePolicy {
    Yardstick plain;
    Yardstick non_temporal;
  };
  static std::map<std::int64_t, StorePolicy> of_bytes;
  StorePolicy& stores = of_bytes[bytes];
  const double plain = stores.plain.seconds([=] { store_loop(destination, bytes); });
  const double non_temporal =
      stores.non_temporal.seconds([=] { non_temporal_store_loop(destination, bytes); });
  return static_cast<double>(bytes) / std::min(plain, non_temporal);
}

}  // namespace posenc::bench
