// Documents are read whole, or refused with a reason; the byte order of files is the same on every
// machine.
#include "posenc/suite/files.h"

#include "cli/little_endian.h"
#include "posenc/data_type.h"
#include "support.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace posenc::test {
namespace {

TEST(ReadDocument, ReportsWhyAFileCannotBeRead) {
  const ScratchFolder folder;
  const auto reason = [](const std::filesystem::path& file) {
    try {
      return "read: " + read_document(file);
    } catch (const std::system_error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_THAT(reason(folder / "nothing"), testing::EndsWith("nothing: No such file or directory"));
  EXPECT_THAT(reason(folder.path()), testing::EndsWith("Is a directory"));
  write_file(folder / "large", std::string(100'000, 'x'));
  EXPECT_EQ(read_document(folder / "large"), std::string(100'000, 'x'));
  EXPECT_THAT(reason("/dev/zero"), testing::EndsWith("File too large"));
  std::filesystem::resize_file(folder / "large", std::uintmax_t{1} << 32);  // it has holes
  EXPECT_THAT(reason(folder / "large"), testing::EndsWith("File too large"));
}

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
