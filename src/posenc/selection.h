// Which backend computes if the program names none: the program says how accurate, measurements say
// what is fastest.
//
//   auto table = posenc::encode(5000, 512);                         // correctly rounded
//   auto fast = posenc::encode(rows, spec, posenc::Accuracy::within(1e-6));
//   std::puts(posenc::select_backend(spec, rows).reason.c_str());   // which backend, and why
#pragma once

#include "posenc/cpu.h"
#include "posenc/data_type.h"
#include "posenc/encoder.h"
#include "posenc/export.h"
#include "posenc/profile.h"
#include "posenc/registry.h"
#include "posenc/spec.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace POSENC_API posenc {

/// What a program asks of the values. Backends that promise it, by proof, compete in speed; nothing
/// else decides what is computed.
class Accuracy {
 public:
  enum class Measure { correctly_rounded, absolute, ulp };

  /// Correctly rounded.
  constexpr Accuracy() noexcept = default;

  /// Every entry is the value of its type nearest to the exact one: the same bits on every machine,
  /// whatever was measured there.
  static constexpr Accuracy correctly_rounded() noexcept { return {}; }

  /// |entry - exact value| <= error, for every entry. Throws InvalidArgument unless it is finite
  /// and above 0.
  static Accuracy within(double error);

  /// The same in ulp, spacings of the type at the exact value. Only a backend that promises its
  /// error in ulp has it (Encoder::ulp_bound): what is correctly rounded, which is within half an
  /// ulp, does, and of the library's own nothing else. Throws InvalidArgument unless it is finite
  /// and above 0.
  static Accuracy within_ulp(double ulp);

  Measure measure() const noexcept { return measure_; }
  /// The error that is allowed; 0 if correctly rounded.
  double most() const noexcept { return most_; }

  /// Whether the encoder promises it for tables of that type over these rows.
  bool is_promised_by(const Encoder& encoder, RowRange rows, DataType type) const noexcept;

  bool operator==(const Accuracy&) const = default;

 private:
  constexpr Accuracy(Measure measure, double most) noexcept : measure_(measure), most_(most) {}

  Measure measure_ = Measure::correctly_rounded;
  double most_ = 0;
};

/// "correctly rounded", "within 1e-06", "within 1 ulp"
std::string to_string(const Accuracy& accuracy);

struct SelectionOptions {
  Accuracy accuracy = {};
  DataType type = DataType::float32;
  int threads = 1;
  /// Prefers what can add encodings to an input in one pass (Encoder::supports_add), as layers do.
  bool adds = false;
  /// Where the memory is that is written: by default the class of a table of all rows.
  std::optional<ShapeClass> shape = {};
};

/// What decided a selection, strongest first.
enum class SelectionSource { environment, profile, built_in };

struct Selection {
  const Backend* backend = nullptr;
  SelectionSource source = SelectionSource::built_in;
  std::string reason;  ///< one line: which source applied, and why no stronger one
};

/// The backend for a table of that shape if the program names none. The first of these that
/// applies:
/// - POSENC_BACKEND, for an experiment: a name or name:isa, whatever its accuracy. Throws
///   InvalidArgument if it is unknown.
/// - A valid profile with measurements of the shape class and type, with the most threads up to
///   options.threads: the fastest backend that promises the accuracy; of a tie the simplest method.
/// - The built-in order: rotation32 if its bound is within the accuracy, else rotation; each at its
///   best ISA.
/// A profile therefore never changes a number beyond what the accuracy allows: with the default
/// accuracy it changes the ISA alone. The environment and the profile are read once, at first use.
/// Throws InvalidArgument if no backend promises the accuracy.
Selection select_backend(const EncodingSpec& spec, RowRange rows,
                         const SelectionOptions& options = {});

/// A selected backend, planned: for one that is used at once.
struct SelectedEncoder {
  std::unique_ptr<const Encoder> encoder;
  Selection selection;
};
SelectedEncoder plan_selected(const EncodingSpec& spec, RowRange rows,
                              const SelectionOptions& options = {});

/// The profile that selection joins with the accuracy, or why there is none: read once.
const LoadedProfile& profile_in_use();

/// The encodings of positions rows.first .., by the backend that selection gives for this shape:
/// correctly rounded.
Matrix encode(RowRange rows, const EncodingSpec& spec, EncodeOptions options = {});

/// The same, as accurate as the program asks for.
Matrix encode(RowRange rows, const EncodingSpec& spec, const Accuracy& accuracy,
              EncodeOptions options = {});

/// Positions 0 .. rows - 1 in the paper's convention: shape (rows, d_model).
Matrix encode(std::int64_t rows, std::int64_t d_model);

}  // namespace posenc
