// Helpers of most tests: GoogleTest and its matchers, the backends that run here, readable
// parameter names, refusals, guarded memory, temporary folders.
#pragma once

#include "posenc/encoder.h"
#include "posenc/frequency_rule_text.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/spec.h"
#include "posenc/suite/accuracy_report.h"
#include "posenc/suite/measure_accuracy.h"
#include "posenc/support/with_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace posenc {

namespace suite {}
using namespace suite;  // tests of the suite stand beside those of tables

/// GoogleTest prints parameters by these functions. Otherwise it would write their addresses and
/// bytes, which took half of the time to start a test.
inline void PrintTo(const Backend* backend, std::ostream* out) { *out << backend->full_name(); }

inline void PrintTo(DataType type, std::ostream* out) { *out << to_string(type); }

inline void PrintTo(const Preset& preset, std::ostream* out) { *out << preset.name; }

inline void PrintTo(const EncodingSpec& spec, std::ostream* out) {
  *out << spec.d_model << " channels, base " << spec.base << ", " << to_string(spec.layout) << ", "
       << to_string(spec.spacing) << ", " << to_string(spec.frequencies);
}

}  // namespace posenc

namespace posenc::test {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__
#endif
#if __has_feature(thread_sanitizer) && !defined(__SANITIZE_THREAD__)
#define __SANITIZE_THREAD__
#endif
#endif
#ifdef __SANITIZE_THREAD__
inline constexpr bool is_thread_sanitizer = true;
#else
inline constexpr bool is_thread_sanitizer = false;
#endif
// True under sanitizers, which slow code down tenfold: sampled tests then take fewer samples.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = is_thread_sanitizer;
#endif

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A std::jthread, which libc++ has from version 20 on.
class JoiningThread {
 public:
  template <class Work>
  explicit JoiningThread(Work work) : thread_(std::move(work)) {}
  JoiningThread(JoiningThread&&) = default;
  ~JoiningThread() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

/// Every registered backend that this CPU can run. Tests over this list cover a new backend as soon
/// as it is registered.
std::vector<const Backend*> running_backends();
/// The backends of one method, one for each ISA.
std::vector<const Backend*> running_backends(std::string_view name);

/// Name of a backend as GoogleTest allows it in a parameter: "rotation_avx2".
std::string identifier(const Backend& backend);

/// The name of a test of one backend.
inline std::string of_backend(const testing::TestParamInfo<const Backend*>& test) {
  return identifier(*test.param);
}

using BackendAndType = std::tuple<const Backend*, DataType>;
/// The name of a test of one backend and one element type.
inline std::string of_backend_and_type(const testing::TestParamInfo<BackendAndType>& test) {
  const auto& [backend, type] = test.param;
  return identifier(*backend) + "_" + std::string(to_string(type));
}

/// The positions of a range, one by one.
std::vector<std::int64_t> positions_of(RowRange rows);

/// The rows that an encoder writes.
template <class T = float>
BasicMatrix<T> encoded(const Encoder& encoder, RowRange rows, const EncodeOptions& options = {}) {
  BasicMatrix<T> table(rows.count, encoder.spec().d_model);
  encoder.encode(rows, table.view(), options);
  return table;
}

/// The accuracy report of one encoder.
inline AccuracyReport accuracy_of(const Encoder& encoder, RowRange rows,
                                  const AccuracyOptions& options = {}) {
  const Encoder* const one[] = {&encoder};
  return measure_accuracy(one, rows, options).front();
}

/// Frequencies whose sines and cosines, in turn, are within 2^-53 of a midpoint of two values of a
/// type at the position 2^log2_position, so that none is certain.
EncodingSpec spec_near_midpoints(DataType type, std::int64_t d_model, int log2_position,
                                 Layout layout = Layout::interleaved);

/// The result of refusal() if the call throws nothing.
constexpr std::string_view nothing_thrown = "(nothing thrown)";
/// The message of the InvalidArgument that `call` throws. If it throws another exception, a text in
/// parentheses that says so.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("(not an InvalidArgument) ") + error.what();
  }
  return std::string(nothing_thrown);
}

/// A call that is refused with a message that has this part.
struct Refused {
  std::string message;
  std::function<void()> call;
};
inline void expect_refused(const std::vector<Refused>& all) {
  for (const auto& [message, call] : all) EXPECT_THAT(refusal(call), HasSubstr(message));
}

/// The bits of an element, so that comparisons see the sign of zero and the payload of a NaN.
template <class T>
auto bits(T element) noexcept {
  using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  return std::bit_cast<Bits>(element);
}
bool same_bits(std::span<const float> a, std::span<const float> b) noexcept;
template <class T>
bool same_bits(const BasicMatrix<T>& a, const BasicMatrix<T>& b) noexcept {
  const auto bytes = static_cast<std::size_t>(a.rows() * a.columns()) * sizeof(T);
  return a.rows() == b.rows() && a.columns() == b.columns() &&
         std::memcmp(a.data(), b.data(), bytes) == 0;
}

/// Memory for a table with guard elements before it, after it and in the gaps between rows.
template <class T>
class Guarded {
 public:
  /// The table begins `offset` elements past a 64-byte boundary: odd values make rows unaligned.
  Guarded(std::int64_t rows, std::int64_t columns, std::int64_t stride, std::int64_t offset)
      : rows_(rows),
        columns_(columns),
        stride_(stride),
        begin_(64 + offset),
        memory_(1, begin_ + rows * stride + 64) {
    std::memset(static_cast<void*>(memory_.data()), guard,
                static_cast<std::size_t>(memory_.columns()) * sizeof(T));
  }

  MatrixView<T> view() noexcept { return {memory_.data() + begin_, rows_, columns_, stride_}; }
  std::span<const T> row(std::int64_t r) const noexcept {
    return {memory_.data() + begin_ + r * stride_, static_cast<std::size_t>(columns_)};
  }
  /// True if every element outside the rows still has its initial value.
  bool surroundings_untouched() const noexcept { return is_untouched(false); }
  /// True if nothing has been written, inside the rows or outside.
  bool untouched() const noexcept { return is_untouched(true); }

 private:
  static constexpr unsigned char guard = 0xa5;

  bool is_untouched(bool with_rows) const noexcept {
    T initial;
    std::memset(static_cast<void*>(&initial), guard, sizeof initial);
    for (std::int64_t i = 0; i < memory_.columns(); ++i) {
      const std::int64_t at = i - begin_;
      const bool is_inside = at >= 0 && at < rows_ * stride_ && at % stride_ < columns_;
      if (is_inside && !with_rows) continue;
      if (std::memcmp(memory_.data() + i, &initial, sizeof initial) != 0) return false;
    }
    return true;
  }

  std::int64_t rows_, columns_, stride_, begin_;
  BasicMatrix<T> memory_;
};
using GuardedMatrix = Guarded<float>;

/// Expects that guarded memory has these rows, and nothing else is written.
template <class T>
void expect_rows(const Guarded<T>& got, const BasicMatrix<T>& expected, const std::string& how) {
  for (std::int64_t r = 0; r < expected.rows(); ++r) {
    const auto row = expected.row(r);
    ASSERT_EQ(std::memcmp(got.row(r).data(), row.data(), row.size_bytes()), 0)
        << how << ", row " << r;
  }
  ASSERT_TRUE(got.surroundings_untouched()) << how;
}

/// A temporary folder, removed with its contents in the destructor.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const noexcept { return path_; }
  /// Names of the files in the folder, sorted.
  std::vector<std::string> listing() const;

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& file);
void write_file(const std::filesystem::path& file, std::string_view content);

/// A .npy file of version 1 whose elements are these bytes.
std::string npy_file(const std::string& descr, const std::string& shape,
                     const std::string& elements);

}  // namespace posenc::test
