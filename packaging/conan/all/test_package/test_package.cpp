#include <posenc/posenc.h>

int main() {
  const posenc::Matrix table = posenc::encode(4, 8);
  return table(0, 1) == 1.0f ? 0 : 1;  // cos 0
}
