/// @file
/// Integers in the caller's memory, such as positions or the ids of tokens.
#pragma once

#include "posenc/cxx20.h"

#include <cstdint>
#include <span>

namespace posenc {

/// 32-bit or 64-bit integers. Converts implicitly from a span or a vector of them; a vector must
/// outlive the view.
class IntegerView {
 public:
  IntegerView() = default;
  IntegerView(const std::int64_t* first, std::int64_t count) noexcept  ///< Of 64 bits.
      : data_(first), count_(count), is_wide_(true) {}
  IntegerView(const std::int32_t* first, std::int64_t count) noexcept  ///< Of 32 bits.
      : data_(first), count_(count), is_wide_(false) {}
  /// Of a span or a vector.
  template <class Integers>
  requires requires(const Integers& each) { IntegerView(each.data(), 0); }
  IntegerView(const Integers& each) noexcept  // NOLINT: implicit
      : IntegerView(each.data(), static_cast<std::int64_t>(each.size())) {}

  const void* data() const noexcept { return data_; }               ///< the first one
  std::int64_t count() const noexcept { return count_; }            ///< how many
  bool is_wide() const noexcept { return is_wide_; }                ///< of 64 bits
  std::int64_t bytes() const noexcept { return is_wide_ ? 8 : 4; }  ///< of one
  std::int64_t operator[](std::int64_t i) const noexcept {          ///< integer i
    return is_wide_ ? static_cast<const std::int64_t*>(data_)[i]
                    : static_cast<const std::int32_t*>(data_)[i];
  }
  /// The integers begin .. begin + count - 1.
  IntegerView part(std::int64_t begin, std::int64_t count) const noexcept {
    IntegerView some = *this;
    some.data_ = static_cast<const char*>(data_) + begin * bytes();
    some.count_ = count;
    return some;
  }
  /// Calls use(span), of 64-bit or of 32-bit integers.
  template <class Use>
  decltype(auto) as_span(const Use& use) const {
    const auto count = static_cast<std::size_t>(count_);
    return is_wide_ ? use(std::span(static_cast<const std::int64_t*>(data_), count))
                    : use(std::span(static_cast<const std::int32_t*>(data_), count));
  }

 private:
  const void* data_ = nullptr;
  std::int64_t count_ = 0;
  bool is_wide_ = true;
};

}  // namespace posenc
