// The conformance set: its hashes, which never change, and the verdicts on an implementation's.
#include "command.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace posenc::test {
namespace {

TEST(ConformanceSet, HasTheHashesThatAreKept) {
  const ScratchFolder folder;
  ASSERT_EQ(run_line("generate --conformance " + folder.path().string()).exit_code, 0);
  // Compared with sha256sum of each file when it was made.
  EXPECT_EQ(read_file(folder / "manifest.json"),
            read_file(std::filesystem::path(POSENC_TEST_DATA) / "conformance.json"));
  std::uintmax_t bytes = 0;
  for (const auto& each : std::filesystem::directory_iterator(folder.path()))
    bytes += std::filesystem::file_size(each);
  EXPECT_LT(bytes, 500'000U);
}

TEST(ConformanceSet, JudgesTheFilesThatAreThere) {
  const ScratchFolder folder;
  const std::string set = folder.path();
  run_line("generate --conformance " + set);
  const std::string command = "check --conformance " + set;
  const nlohmann::json right = json_of(command);
  for (const auto& each : right.at("files")) EXPECT_EQ(each.at("correctly_rounded"), 1) << each;

  // The table of an implementation with another base, and one that is not there.
  std::filesystem::remove(folder / "tutorial.float64");
  std::filesystem::rename(folder / "llama_3.bfloat16", folder / "llama_3_1.bfloat16");
  const nlohmann::json wrong = json_of(command);
  EXPECT_EQ(wrong.at("missing"), 2);
  EXPECT_EQ(wrong.at("files").size(), right.at("files").size() - 2);
  for (const auto& each : wrong.at("files"))
    EXPECT_EQ(each.at("good"), each.at("file") != "llama_3_1.bfloat16") << each;
  const auto page = run_line(command);
  EXPECT_EQ(page.exit_code, 1) << page.err;
  EXPECT_THAT(page.out, AllOf(HasSubstr("\nllama_3_1.bfloat16: cause: "),
                              HasSubstr("2 files of the set are not in the folder")));
}

TEST(ConformanceSet, RefusesOtherFoldersAndFiles) {
  const ScratchFolder folder;
  const std::string set = folder.path();
  expect_refused(run_line("check --conformance " + set), "--conformance is '" + set);
  write_file(folder / "llama_3.float32", "1234");
  expect_refused(run_line("check --conformance " + set), "the file has 4 bytes");
}

}  // namespace
}  // namespace posenc::test
