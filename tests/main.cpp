#include "support.h"

#include <gtest/gtest.h>

// The library reads its environment once, at first use. Clear it before the tests, so that the
// user's POSENC_BACKEND decides no test.
int main(int argc, char** argv) {
  posenc::test::set_environment("POSENC_BACKEND", "");
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
