#include "posenc/selection.h"

#include <gtest/gtest.h>

// The user's POSENC_BACKEND decides no test.
int main(int argc, char** argv) {
  posenc::ignore_posenc_backend();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
