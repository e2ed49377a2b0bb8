// The conformance set: its hashes, which never change, and the verdicts on an implementation's.
#include "command.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace posenc::test {
namespace {

/// A folder with the set.
class ConformanceSet : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(run_line("generate --conformance " + set).exit_code, 0); }

  const ScratchFolder folder;
  const std::string set = folder.path(), command = "check --conformance " + set;
};

TEST_F(ConformanceSet, HasTheHashesThatAreKeptAndIsRight) {
  // Compared with sha256sum of each file when it was made.
  EXPECT_EQ(read_file(folder / "manifest.json"),
            read_file(std::filesystem::path(POSENC_TEST_DATA) / "conformance.json"));
  std::uintmax_t of_tables = 0, of_heads = 0;
  for (const auto& each : std::filesystem::directory_iterator(folder.path()))
    (each.path().filename().string().starts_with("heads_") ? of_heads : of_tables) +=
        std::filesystem::file_size(each);
  EXPECT_LT(of_tables, 500'000U);
  EXPECT_LT(of_heads, 500'000U);

  const nlohmann::json right = json_of(command);
  EXPECT_EQ(right.at("missing"), 0);
  EXPECT_EQ(right.at("files").size(), 20U * 4);
  EXPECT_EQ(right.at("heads").size(), 13U * 3);
  for (const auto& each : right.at("heads")) EXPECT_EQ(each.at("good"), true) << each;
  for (const auto& each : right.at("files")) EXPECT_EQ(each.at("correctly_rounded"), 1) << each;
}

TEST_F(ConformanceSet, JudgesTheFilesThatAreThere) {
  // The table of an implementation with another base, and one that is not there.
  std::filesystem::remove(folder / "tutorial.float64");
  std::filesystem::rename(folder / "llama_3.bfloat16", folder / "llama_3_1.bfloat16");
  const nlohmann::json wrong = json_of(command);
  EXPECT_EQ(wrong.at("missing"), 2);
  for (const auto& each : wrong.at("files"))
    EXPECT_EQ(each.at("good"), each.at("file") != "llama_3_1.bfloat16") << each;
  const auto page = run_line(command);
  EXPECT_EQ(page.exit_code, 1) << page.err;
  EXPECT_THAT(page.out, AllOf(HasSubstr("\nllama_3_1.bfloat16: cause: "),
                              HasSubstr("2 files of the set are not in the folder")));
}

TEST_F(ConformanceSet, JudgesHeads) {
  // Each implementation does something else than it should.
  for (const auto& [asked, answered, cause] : std::vector<std::array<std::string, 3>>{
           {"heads_yarn", "heads_gpt_j", "the pairs of channels are (2k, 2k + 1), interleaved"},
           {"heads_longrope_long", "heads_longrope_short", "not recognised"},
           {"heads_gathered", "heads_descending", "not recognised"},
           {"heads_latent", "heads_before_192", "the heads are unchanged: nothing is turned"},
           {"heads_sections", "heads_before_128", "the heads are unchanged"},
           {"heads_partial", "heads_descending", "as if the turned share were ignored"}}) {
    const ScratchFolder answers;
    std::filesystem::copy(folder / (answered + ".float32"), answers / (asked + ".float32"));
    const std::string judged = "check --conformance " + answers.path().string();
    const nlohmann::json wrong = json_of(judged);
    ASSERT_EQ(wrong.at("heads").size(), 1U);
    EXPECT_EQ(wrong.at("heads").at(0).at("good"), false);
    EXPECT_THAT(wrong.at("heads").at(0).at("cause").get<std::string>(), HasSubstr(cause)) << asked;
    if (cause == "not recognised") {  // only angles are wrong, and any angle is allowed
      EXPECT_EQ(json_of(judged + " --max-error 4").at("heads").at(0).at("good"), true) << asked;
    }
  }
  // A shape in the file may be any of the allowed ones.
  const std::string elements = read_file(folder / "heads_llama.float32");
  write_file(folder / "heads_llama.float32", npy_file("<f4", "(1, 8, 4, 128)", elements));
  EXPECT_EQ(run_line(command).exit_code, 0);
}

TEST(ConformanceFolder, MustHoldFilesOfTheSet) {
  const ScratchFolder folder;
  const std::string command = "check --conformance " + folder.path().string();
  expect_refused(run_line(command), "--conformance is '" + folder.path().string());
  write_file(folder / "llama_3.float32", "1234");
  write_file(folder / "llama_3.float16", "123456");
  const CommandResult judged = run_line(command);
  EXPECT_EQ(judged.exit_code, 1) << judged.err;
  EXPECT_THAT(judged.out, AllOf(HasSubstr("not read"), HasSubstr("the file has 4 bytes"),
                                HasSubstr("the file has 6 bytes")));
}

}  // namespace
}  // namespace posenc::test
