// Measurements that tests make up.
#pragma once

#include "posenc/suite/document.h"
#include "posenc/suite/measurement.h"
#include "support.h"

#include <string>
#include <utility>
#include <vector>

namespace posenc::test {

/// Medians of nine processes around `seconds`.
inline std::vector<double> samples(double seconds, double noise = 0.001) {
  std::vector<double> all;
  for (const double offset : {0.0, 1.0, -1.0, 0.5, -0.5, 1.0, -1.0, 0.5, -0.5})
    all.push_back(seconds * (1 + noise * offset));
  return all;
}

/// A backend on a table of 40 x 64, which has an error of half its bound.
inline Measurement measured(std::string backend, double seconds, double max_abs = 1e-8) {
  return {{{.backend = std::move(backend), .isa = "portable"}, table_of({.d_model = 64}, {0, 40})},
          samples(seconds),
          {},
          MeasuredError{{max_abs, max_abs / 6e-8, max_abs / 3}, 0.5},
          Promise{2 * max_abs, 2 * max_abs / 6e-8, false}};
}

inline Measurements document_of(std::vector<Measurement> rows) {
  Measurements document = measurements_of_this_machine();
  document.all = std::move(rows);
  return document;
}

}  // namespace posenc::test
