#include <gtest/gtest.h>

#include <cstdlib>

// The library reads its environment once, at first use. Clear it before the tests, so that the
// user's profile or POSENC_BACKEND decides no test.
int main(int argc, char** argv) {
  setenv("POSENC_PROFILE", "/nonexistent/posenc/profile.json", 1);
  unsetenv("POSENC_BACKEND");
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
