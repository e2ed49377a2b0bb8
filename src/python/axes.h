// The classes Axes and AxesEncoder of the module.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/data_type.h"
#include "posenc/model/axes.h"

namespace posenc::python {

/// Which pairs of a row's channels are on which axis.
struct PyAxes {
  AxesSpec spec;
};

/// Encodings, and what they are planned for.
struct PyAxesEncoder {
  PyAxesEncoder(const AxesSpec& spec, const Accuracy& asked, DataType of_tables)
      : encoder(spec, asked, of_tables), accuracy(asked), type(of_tables) {}

  AxesEncoder encoder;
  Accuracy accuracy;
  DataType type;
};

}  // namespace posenc::python
