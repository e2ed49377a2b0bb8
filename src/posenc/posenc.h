// Includes every public header that a program needs to encode. Measuring accuracy and speed has
// separate headers: tuning/accuracy.h and tuning/pick.h.
#pragma once

#include "posenc/backend.h"
#include "posenc/cpu.h"
#include "posenc/cursor.h"
#include "posenc/data_type.h"
#include "posenc/encode_options.h"
#include "posenc/encoder.h"
#include "posenc/error.h"
#include "posenc/isa.h"
#include "posenc/layers/dropout.h"
#include "posenc/layers/input_embedding.h"
#include "posenc/layers/positional_encoding.h"
#include "posenc/layers/rotary.h"
#include "posenc/layers/sequence_view.h"
#include "posenc/layers/tied_output.h"
#include "posenc/matrix.h"
#include "posenc/presets.h"
#include "posenc/registry.h"
#include "posenc/selection.h"
#include "posenc/spec.h"
#include "posenc/version.h"
