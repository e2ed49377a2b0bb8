// The byte order of files, the same on every machine.
#include "posenc/support/little_endian.h"

#include "posenc/data_type.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace posenc::test {
namespace {

template <class T>
std::vector<std::byte> little_endian_bytes(std::vector<T> elements) {
  to_little_endian(std::span(elements));
  const auto bytes = std::as_bytes(std::span(elements));
  return {bytes.begin(), bytes.end()};
}

template <class... Byte>
std::vector<std::byte> bytes(Byte... each) {
  return {static_cast<std::byte>(each)...};
}

TEST(LittleEndian, LowestByteComesFirst) {
  EXPECT_EQ(little_endian_bytes<float>({1.0f, -2.5f}),
            bytes(0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0x20, 0xc0));
  EXPECT_EQ(little_endian_bytes<double>({-2.5}), bytes(0, 0, 0, 0, 0, 0, 0x04, 0xc0));
  EXPECT_EQ(little_endian_bytes<BFloat16>({{0x3f80}, {0x1234}}), bytes(0x80, 0x3f, 0x34, 0x12));
  EXPECT_EQ(little_endian_bytes<std::uint64_t>({0x0102030405060708}),
            bytes(8, 7, 6, 5, 4, 3, 2, 1));
  EXPECT_EQ(little_endian_bytes<float>({}), bytes());
}

}  // namespace
}  // namespace posenc::test
