// posenc list.
#include "command.h"
#include "posenc/cpu.h"
#include "posenc/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace posenc {
namespace {

using nlohmann::json;
using test::CommandResult;
using test::run_posenc;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(List, NamesEveryBackendTheCpuAndTheSelection) {
  const CommandResult result = run_posenc({"list"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, IsEmpty());
  for (const Backend* each : backends())
    EXPECT_THAT(result.out, HasSubstr(std::string(each->description())));
  EXPECT_THAT(result.out,
              AllOf(HasSubstr(cpu().model), HasSubstr("built-in order"), HasSubstr("no profile")));

  const json document = json::parse(run_posenc({"list", "--format", "json"}).out);
  EXPECT_EQ(document.at("version"), 1);
  EXPECT_EQ(document.at("backends").size(), backends().size());
  EXPECT_EQ(document.at("machine").at("cpu"), cpu().model);
}

}  // namespace
}  // namespace posenc
