// Documents are read whole, or refused with a reason; the byte order of files is the same on every
// machine.
#include "posenc/suite/files.h"

#include "cli/little_endian.h"
#include "posenc/data_type.h"
#include "support.h"

#include <array>
#include <bit>
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
}

/// The bytes of two elements that are made little-endian.
template <class T>
std::vector<int> little_endian_bytes(T one, T other) {
  std::array elements = {one, other};
  to_little_endian(std::span<T>(elements));
  const auto bytes = std::bit_cast<std::array<unsigned char, sizeof elements>>(elements);
  return {bytes.begin(), bytes.end()};
}

TEST(LittleEndian, LowestByteComesFirst) {
  EXPECT_THAT(little_endian_bytes(1.0f, -2.5f), ElementsAre(0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0));
  EXPECT_THAT(little_endian_bytes(1.0, -2.5),
              ElementsAre(0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0x04, 0xc0));
  EXPECT_THAT(little_endian_bytes(BFloat16{0x3f80}, BFloat16{0x1234}),
              ElementsAre(0x80, 0x3f, 0x34, 0x12));
}

}  // namespace
}  // namespace posenc::test
