#include <gtest/gtest.h>

#include <cstdlib>

// The library reads its environment once: a profile or a choice of this machine's user must not
// decide a test.
int main(int argc, char** argv) {
  setenv("POSENC_PROFILE", "/nonexistent/posenc/profile.json", 1);
  unsetenv("POSENC_BACKEND");
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
