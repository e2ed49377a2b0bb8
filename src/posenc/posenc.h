/// @file
/// Includes every header of tables. What models have around a table is in posenc/layers.h; what
/// measures and judges is in posenc/suite/.

/// @namespace posenc
/// Everything that is public in C++.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/backend.h"
#include "posenc/cpu.h"
#include "posenc/cursor.h"
#include "posenc/data_type.h"
#include "posenc/encode_options.h"
#include "posenc/encoder.h"
#include "posenc/error.h"
#include "posenc/frequency_rule.h"
#include "posenc/isa.h"
#include "posenc/matrix.h"
#include "posenc/presets.h"
#include "posenc/real_positions.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/spec.h"
#include "posenc/version.h"
