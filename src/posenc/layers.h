/// @file
/// Includes every header of the layers: what stands around a table in a model.
#pragma once

#include "posenc/layers/dropout.h"
#include "posenc/layers/heads_view.h"
#include "posenc/layers/input_embedding.h"
#include "posenc/layers/positional_encoding.h"
#include "posenc/layers/rotary.h"
#include "posenc/layers/rotary_cache_view.h"
#include "posenc/layers/rotary_config.h"
#include "posenc/layers/rotary_spec.h"
#include "posenc/layers/sequence_view.h"
#include "posenc/layers/tied_output.h"
