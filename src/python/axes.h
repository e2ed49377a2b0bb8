// The class Axes of the module.
#pragma once

#include "posenc/axes.h"

namespace posenc::python {

/// Which pairs of a row's channels are on which axis.
struct PyAxes {
  AxesSpec spec;
};

}  // namespace posenc::python
