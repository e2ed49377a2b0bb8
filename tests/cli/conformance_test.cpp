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
  const std::string set = (folder / "set").string();
  ASSERT_EQ(run_posenc({"generate", "--conformance", set}).exit_code, 0);
  // Compared with sha256sum of each file when it was made.
  EXPECT_EQ(read_file(folder / "set/manifest.json"),
            read_file(std::filesystem::path(POSENC_TEST_DATA) / "conformance.json"));
  std::uintmax_t bytes = 0;
  for (const auto& each : std::filesystem::directory_iterator(set))
    bytes += std::filesystem::file_size(each);
  EXPECT_LT(bytes, 500'000U);
}

TEST(ConformanceSet, JudgesTheFilesThatAreThere) {
  const ScratchFolder folder;
  const std::string set = (folder / "set").string();
  run_posenc({"generate", "--conformance", set});
  const auto judged = [&] {
    return run_posenc({"check", "--conformance", set, "--format", "json"});
  };
  auto result = judged();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  auto document = nlohmann::json::parse(result.out);
  for (const auto& each : document.at("files")) EXPECT_EQ(each.at("correctly_rounded"), 1) << each;
  const std::size_t all = document.at("files").size();

  // The table of an implementation with another base, and one that is not there.
  std::filesystem::remove(folder / "set/tutorial.float64");
  std::filesystem::rename(folder / "set/llama_3.bfloat16", folder / "set/llama_3_1.bfloat16");
  result = judged();
  EXPECT_EQ(result.exit_code, 1) << result.err;
  document = nlohmann::json::parse(result.out);
  EXPECT_EQ(document.at("missing"), 2);
  EXPECT_EQ(document.at("files").size(), all - 2);
  for (const auto& each : document.at("files"))
    EXPECT_EQ(each.at("good"), each.at("file") != "llama_3_1.bfloat16") << each;
  const auto page = run_posenc({"check", "--conformance", set});
  EXPECT_THAT(page.out, HasSubstr("\nllama_3_1.bfloat16: cause: "));
  EXPECT_THAT(page.out, HasSubstr("2 files of the set are not in the folder"));
}

TEST(ConformanceSet, RefusesOtherFoldersAndFiles) {
  const ScratchFolder folder;
  const std::string set = folder.path().string();
  expect_refused(run_posenc({"check", "--conformance", set}), "--conformance is '" + set);
  write_file(folder / "llama_3.float32", "1234");
  expect_refused(run_posenc({"check", "--conformance", set}), "the file has 4 bytes");
  expect_refused(run_posenc({"check"}), "TABLE is not given; allowed: a file, or --conformance");
  expect_refused(run_posenc({"generate", "--conformance", set, "--rows", "3"}), "--rows");
}

}  // namespace
}  // namespace posenc::test
