// What several tests share: the backends that run here, readable parameter names, guarded memory,
// scratch folders.
#pragma once

#include "posenc/encoder.h"
#include "posenc/registry.h"
#include "posenc/spec.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace posenc {

/// What GoogleTest prints of a parameter: the name and not the address.
inline void PrintTo(const Backend* backend, std::ostream* out) { *out << backend->full_name(); }

}  // namespace posenc

namespace posenc::test {

// Sanitizers cost a factor of ten: sampled tests take fewer samples under them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

/// Every registered backend that this CPU can run: tests over it cover a new backend as soon as it
/// is registered.
std::vector<const Backend*> running_backends();

/// Name of a backend as GoogleTest allows it in a parameter: "rotation_avx2".
std::string identifier(const Backend& backend);

/// What `call` throws as InvalidArgument; a message that says so if it throws nothing or
/// something else.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("(not an InvalidArgument) ") + error.what();
  }
  return "(nothing thrown)";
}

/// The bits of a float, so that comparisons see signs of zero and payloads.
std::uint32_t bits(float value) noexcept;
bool same_bits(std::span<const float> a, std::span<const float> b) noexcept;

/// Memory for a matrix whose surroundings are watched: guard floats before and after it and in the
/// gaps between rows.
class GuardedMatrix {
 public:
  /// `offset` floats past a 64-byte boundary, so that odd values make unaligned rows.
  GuardedMatrix(std::int64_t rows, std::int64_t columns, std::int64_t stride, std::int64_t offset);

  MatrixView<float> view() noexcept { return {data_, rows_, columns_, stride_}; }
  std::span<const float> row(std::int64_t r) const noexcept {
    return {data_ + r * stride_, static_cast<std::size_t>(columns_)};
  }
  /// Whether every float outside the rows still has its first value.
  bool surroundings_untouched() const noexcept;
  /// Whether nothing at all has been written.
  bool untouched() const noexcept;

 private:
  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t stride_;
  Matrix memory_;
  float* data_;
};

/// A folder of its own for one test, removed with all that is in it.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const noexcept { return path_; }
  /// Names of the files in it, sorted.
  std::vector<std::string> listing() const;

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& file);
void write_file(const std::filesystem::path& file, std::string_view content);

}  // namespace posenc::test
