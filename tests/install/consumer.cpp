// A program that encodes and links posenc::posenc only. It catches an exception of the library's,
// whose type a shared library must export.
#include <posenc/posenc.h>

#include <cmath>
#include <cstdio>

int main() {
  const posenc::Matrix table = posenc::encode(3, 4);
  const bool good =
      std::fabs(table(1, 0) - 0.8415f) < 1e-4f && std::fabs(table(2, 3) - 0.9998f) < 1e-4f;
  std::printf("posenc %s, %s\n", posenc::library_version().c_str(), posenc::compiler().c_str());
  try {
    posenc::backend("none of this name");
  } catch (const posenc::InvalidArgument&) {
    return good ? 0 : 1;
  }
  return 1;
}
