// The bash completion script that the command writes.
#include "command.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace posenc {
namespace {

using test::read_file;
using test::run_posenc;
using test::ScratchFolder;
using test::write_file;
using testing::HasSubstr;

TEST(Completion, BashCompletesCommandsOptionsAndNames) {
  const ScratchFolder folder;
  const auto script = run_posenc({"--completion", "bash"});
  ASSERT_EQ(script.exit_code, 0);
  write_file(folder / "completion", script.out);
  const auto completed = [&](const std::string& words, int at) {
    const std::string command = "bash -c 'source " + (folder / "completion").string() +
                                "; COMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(at) +
                                "; _posenc; echo \"${COMPREPLY[*]}\"' > " +
                                (folder / "offered").string();
    EXPECT_EQ(std::system(command.c_str()), 0);
    return read_file(folder / "offered");
  };
  write_file(folder / "words.csv", "");
  EXPECT_EQ(completed("posenc ac", 1), "accuracy\n");
  EXPECT_EQ(completed("posenc generate --output " + (folder / "wor").string(), 3),
            (folder / "words.csv").string() + "\n");
  EXPECT_EQ(completed("posenc generate --output = " + (folder / "wor").string(), 4),
            (folder / "words.csv").string() + "\n");
  EXPECT_EQ(completed("posenc compare " + (folder / "wor").string(), 2),
            (folder / "words.csv").string() + "\n");
  EXPECT_EQ(completed("posenc compare --forma", 2), "--format\n");
  EXPECT_EQ(completed("posenc generate --rows 1", 3), "\n") << "numbers have no names";
  // By default, COMP_WORDBREAKS contains = and :, and bash splits words like --preset=whi and
  // naive:sc.
  EXPECT_EQ(completed("posenc generate --preset = whi", 4), "whisper\n");
  EXPECT_THAT(completed("posenc generate --preset =", 3), HasSubstr("whisper"));
  EXPECT_EQ(completed("posenc generate --backend naive : sc", 5), "scalar\n");
  EXPECT_EQ(completed("posenc generate --backend naive :", 4), "scalar\n");
  EXPECT_EQ(completed("posenc generate --backend = naive : sc", 6), "scalar\n");
  EXPECT_EQ(completed("posenc generate --backend naive : scalar --for", 6), "--format\n");
  // If the user removes = and : from COMP_WORDBREAKS, bash leaves the words whole.
  EXPECT_EQ(completed("posenc generate --preset=whi", 2), "--preset=whisper\n");
  EXPECT_EQ(completed("posenc generate --backend naive:sc", 3), "naive:scalar\n");
  EXPECT_EQ(completed("posenc pick --max", 2), "--max-error --max-ulp\n");
  EXPECT_EQ(completed("posenc generate --preset whi", 3), "whisper\n");
  EXPECT_EQ(completed("posenc accuracy --format j", 3), "json\n");
  EXPECT_THAT(completed("posenc accuracy --backend rot", 3), HasSubstr("rotation32"));
  EXPECT_EQ(run_posenc({"--completion", "tcsh"}).exit_code, 2);
}

}  // namespace
}  // namespace posenc
