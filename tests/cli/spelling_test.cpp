// Suggestions for mistyped names.
#include "cli/text.h"
#include "posenc/support/edit_distance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace posenc::cli {
namespace {

using testing::IsEmpty;

TEST(Spelling, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("preset", "preset"), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("preste", "preset"), 1U) << "neighbours swapped";
  EXPECT_EQ(edit_distance("ca", "abc"), 3U) << "no letter is edited twice";
}

TEST(Spelling, SuggestsSimilarNames) {
  const std::vector<std::string> known = {"naive", "rotation", "rotation32", "xsimd"};
  EXPECT_EQ(did_you_mean("rotaton", known), "; did you mean 'rotation'?");
  EXPECT_EQ(did_you_mean("niave", known), "; did you mean 'naive'?");
  EXPECT_THAT(did_you_mean("rotation", known), IsEmpty()) << "it is known: something else is wrong";
  EXPECT_THAT(did_you_mean("fastest", known), IsEmpty());
  EXPECT_THAT(did_you_mean("x", known), IsEmpty());
  EXPECT_THAT(did_you_mean("", {}), IsEmpty());
}

}  // namespace
}  // namespace posenc::cli
