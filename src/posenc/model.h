/// @file
/// Includes every header of posenc::model: axes, rotary embeddings, layers and configurations.

/// @namespace posenc::model
/// Positions on several axes, rotary embeddings, layers and configurations.
#pragma once

#include "posenc/model/axes.h"
#include "posenc/model/axes_encoder.h"
#include "posenc/model/axes_presets.h"
#include "posenc/model/dropout.h"
#include "posenc/model/grid.h"
#include "posenc/model/positional_encoding.h"
#include "posenc/model/rotary.h"
#include "posenc/model/rotary_config.h"
#include "posenc/model/row_positions.h"
#include "posenc/model/sequence_view.h"
