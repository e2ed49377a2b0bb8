// A program that measures and links posenc::suite, which links posenc::posenc.
#include <posenc/posenc.h>
#include <posenc/suite/measure_accuracy.h>
#include <posenc/suite/pick.h>

#include <cstdio>

int main() {
  const auto encoder = posenc::backend("rotation").plan({.d_model = 64});
  const posenc::Encoder* const one[] = {encoder.get()};
  const auto report = posenc::suite::measure_accuracy(one, {.first = 0, .count = 100}).front();
  std::puts(report.reference.c_str());
  return report.wrongly_rounded == 0 ? 0 : 1;
}
