/// @file
/// Includes every public header that a program needs to encode. Layers have posenc/layers.h, and
/// measuring has separate headers: tuning/accuracy_report.h, tuning/measure.h and tuning/pick.h.

/// @namespace posenc
/// Everything that is public in C++.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/axes.h"
#include "posenc/axes_presets.h"
#include "posenc/backend.h"
#include "posenc/cpu.h"
#include "posenc/cursor.h"
#include "posenc/data_type.h"
#include "posenc/encode_options.h"
#include "posenc/encoder.h"
#include "posenc/error.h"
#include "posenc/frequency_rule.h"
#include "posenc/grid.h"
#include "posenc/isa.h"
#include "posenc/matrix.h"
#include "posenc/parity.h"
#include "posenc/presets.h"
#include "posenc/real_positions.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/spec.h"
#include "posenc/version.h"
