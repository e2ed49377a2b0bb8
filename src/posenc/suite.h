/// @file
/// Includes every header of posenc::suite: the reference, accuracy reports, measurements and
/// documents, pick, compare and profiles.
#pragma once

#include "posenc/suite/accuracy_report.h"
#include "posenc/suite/candidate.h"
#include "posenc/suite/compare.h"
#include "posenc/suite/document.h"
#include "posenc/suite/measure.h"
#include "posenc/suite/measure_accuracy.h"
#include "posenc/suite/measurement.h"
#include "posenc/suite/microarchitecture.h"
#include "posenc/suite/parity.h"
#include "posenc/suite/pick.h"
#include "posenc/suite/profile.h"
#include "posenc/suite/shape_class.h"
