// Documents are read whole, or refused with a reason.
#include "posenc/support/files.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace posenc {
namespace {

using test::ScratchFolder;
using test::write_file;

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

}  // namespace
}  // namespace posenc
