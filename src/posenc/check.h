/// @file
/// Includes every header of posenc::check: the judge of tables, of frequencies and of rotated
/// heads.
#pragma once

#include "posenc/check/frequencies.h"
#include "posenc/check/heads.h"
#include "posenc/check/report.h"
#include "posenc/check/table.h"
