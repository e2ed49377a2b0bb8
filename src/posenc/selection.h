// Selects a backend if the program names none. The program decides the accuracy, and measurements
// decide which backend is the fastest.
//
//   auto table = posenc::encode(5000, 512);                         // correctly rounded
//   auto fast = posenc::encode(rows, spec, posenc::Accuracy::within(1e-6));
//   std::puts(posenc::select_backend(spec, rows).reason.c_str());   // which backend, and why
#pragma once

#include "posenc/cpu.h"
#include "posenc/data_type.h"
#include "posenc/encoder.h"
#include "posenc/export.h"
#include "posenc/registry.h"
#include "posenc/spec.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace POSENC_API posenc {

struct LoadedProfile;  // see profile.h

/// The accuracy that a program asks for. The fastest backend whose proven bounds promise it is
/// selected; nothing else decides what is computed.
class Accuracy {
 public:
  enum class Measure { correctly_rounded, absolute, ulp };

  /// Correctly rounded.
  constexpr Accuracy() noexcept = default;

  /// Every entry is the value of its type nearest to the exact one. The bits are the same on every
  /// machine, with any profile.
  static constexpr Accuracy correctly_rounded() noexcept { return {}; }

  /// |entry - exact value| <= error, for every entry. Throws InvalidArgument unless `error` is
  /// finite and above 0.
  static Accuracy within(double error);

  /// The same in ulp, the spacing of the type at the exact value. Only backends with a finite
  /// Encoder::ulp_bound promise it. Of the library's backends, these are the correctly rounded
  /// ones, which are within half an ulp. Throws InvalidArgument unless `ulp` is finite and above 0.
  static Accuracy within_ulp(double ulp);

  Measure measure() const noexcept { return measure_; }
  /// The largest allowed error; 0 if correctly rounded.
  double most() const noexcept { return most_; }

  /// True if the encoder promises this accuracy for tables of that type over these rows.
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
  /// Prefers backends that can add encodings to an input in one pass (Encoder::supports_add).
  /// Layers set it.
  bool adds = false;
  /// Plans for these rows as rows that are encoded repeatedly (Backend::plan).
  bool repeated = false;
  /// The shape class of the memory that is written; by default that of a table of all rows.
  std::optional<ShapeClass> shape = {};
};

/// The source of a selection. The strongest comes first.
enum class SelectionSource { environment, profile, built_in };

struct Selection {
  const Backend* backend = nullptr;
  SelectionSource source = SelectionSource::built_in;
  std::string reason;  ///< one line: why this source applied, and no stronger one
};

/// The backend for a table of that shape if the program names none. The first source that applies
/// decides.
///
/// POSENC_BACKEND, for an experiment, names a backend, or one at an ISA (name:isa), of any
/// accuracy.
///
/// A valid profile with measurements of the shape class and type, for the largest number of threads
/// up to options.threads, gives the fastest backend that promises the accuracy; of a tie, the
/// simplest method.
///
/// The built-in order is rotation32 if its bound is within the accuracy, else rotation, each at its
/// best ISA.
///
/// A profile therefore never changes a number by more than the accuracy allows. With the default
/// accuracy, it does not change any number. The environment and the profile are read once, at first
/// use. Throws InvalidArgument if no backend promises the accuracy, if threads < 1, or if
/// POSENC_BACKEND is unknown, does not run here or does not write the type.
Selection select_backend(const EncodingSpec& spec, RowRange rows,
                         const SelectionOptions& options = {});

/// A selection and its planned encoder.
struct SelectedEncoder {
  std::unique_ptr<const Encoder> encoder;
  Selection selection;
};
SelectedEncoder plan_selected(const EncodingSpec& spec, RowRange rows,
                              const SelectionOptions& options = {});

/// The profile that selection uses, or the reason why there is none. It is read once.
const LoadedProfile& profile_in_use();

/// The correctly rounded encodings of these rows, by the backend that is selected for this shape.
Matrix encode(RowRange rows, const EncodingSpec& spec, EncodeOptions options = {});

/// The same with another accuracy.
Matrix encode(RowRange rows, const EncodingSpec& spec, const Accuracy& accuracy,
              EncodeOptions options = {});

/// The correctly rounded encodings of positions 0 .. rows - 1 in the paper's convention: shape
/// (rows, d_model).
Matrix encode(std::int64_t rows, std::int64_t d_model);

}  // namespace posenc
