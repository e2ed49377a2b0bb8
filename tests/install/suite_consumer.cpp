// A program that measures and links posenc::suite, which links posenc::posenc.
#include <posenc/posenc.h>
#include <posenc/suite/accuracy_report.h>
#include <posenc/suite/pick.h>

#include <cstdio>

int main() {
  const auto encoder = posenc::backend("rotation").plan({.d_model = 64});
  const auto complaint = posenc::suite::verify(*encoder, {.first = 0, .count = 100});
  std::puts(complaint.empty() ? "verified" : complaint.c_str());
  return complaint.empty() ? 0 : 1;
}
