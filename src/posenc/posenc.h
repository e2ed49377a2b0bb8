/// @file
/// Includes every header of posenc::posenc, the tables. The other libraries have posenc/model.h,
/// posenc/suite.h and posenc/check.h.

/// @namespace posenc
/// Tables: what to encode, backends and encoders. Each of the other libraries has a namespace
/// inside this one.
#pragma once

#include "posenc/accuracy.h"
#include "posenc/backend.h"
#include "posenc/cpu.h"
#include "posenc/cursor.h"
#include "posenc/cxx20.h"
#include "posenc/data_type.h"
#include "posenc/encode_options.h"
#include "posenc/encoder.h"
#include "posenc/error.h"
#include "posenc/frequency_rule.h"
#include "posenc/frequency_rule_text.h"
#include "posenc/isa.h"
#include "posenc/limits.h"
#include "posenc/matrix.h"
#include "posenc/method.h"
#include "posenc/presets.h"
#include "posenc/real_positions.h"
#include "posenc/registry.h"
#include "posenc/row_writer.h"
#include "posenc/selection.h"
#include "posenc/spec.h"
#include "posenc/threads.h"
#include "posenc/version.h"
