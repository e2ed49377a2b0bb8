/// @file
/// A profile: measurements of this CPU that a program loads to select backends by them.
/// `posenc pick --save FILE` and `posenc measure --output FILE.json` write such a document.
///
///     const auto profile = posenc::suite::Profile::load("profile.json");
///     const posenc::Selection fastest = profile.select(spec, rows);
///     auto encoder = fastest.backend->plan(spec);
#pragma once

#include "posenc/selection.h"
#include "posenc/suite/measurement.h"
#include "posenc/suite/pick.h"

#include <filesystem>
#include <string>
#include <vector>

namespace posenc::suite {

/// The measurements of this CPU. Immutable.
class Profile {
 public:
  /// Makes a profile of a document. Throws InvalidArgument unless the document is from this CPU and
  /// from the kernels of this build.
  explicit Profile(const Measurements& document);
  /// Loads a profile. Throws InvalidArgument with a one-line message that names the file, also if
  /// the file cannot be read.
  static Profile load(const std::filesystem::path& file);

  /// The fastest measured backend that promises the accuracy, for a table of this shape and this
  /// number of threads; in a tie, the simplest method. POSENC_BACKEND does not affect this choice.
  /// If the profile has no such backend, returns the result of select_backend(), which
  /// POSENC_BACKEND may decide. Throws InvalidArgument if threads < 1, and throws as
  /// select_backend() does.
  Selection select(const EncodingSpec& spec, RowRange rows, const SelectionOptions& options = {},
                   int threads = 1) const;

 private:
  std::vector<MeasuredClass> classes_;
};

/// The reason why the document cannot be a profile here: another CPU, or other kernels. Empty if it
/// can.
std::string why_not_of_this_machine(const Measurements& document);

}  // namespace posenc::suite
