/// @file
/// One method of computing an encoding at one instruction set, which plans encoders.
#pragma once

#include "posenc/data_type.h"
#include "posenc/encoder.h"
#include "posenc/isa.h"
#include "posenc/spec.h"

#include <memory>
#include <string>
#include <string_view>

namespace posenc {

/// A method at one instruction set, and what it can do for every spec. Encoders are valid as long
/// as their backend exists.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const noexcept = 0;         ///< the method: "rotation"
  virtual std::string_view description() const noexcept = 0;  ///< one line, for lists
  virtual Isa isa() const noexcept = 0;                       ///< that it is compiled for
  /// How position times frequency is rounded before a sine sees it, for lists: "exact", "double",
  /// "float32". It decides the error at large positions. Empty if it is not said.
  virtual std::string_view phases() const noexcept { return {}; }

  /// True if its encoders can write `type`.
  virtual bool supports(DataType) const noexcept { return true; }
  /// True if every entry of a table of that type is the type's value nearest to the exact one, with
  /// the same bits on every ISA and compiler, for every row and spec (float64: if frequencies are 0
  /// or at least 2^-100 radians per position). docs/how-it-works.md says how far this is proven.
  virtual bool is_correctly_rounded(DataType) const noexcept { return false; }
  /// Throws InvalidArgument, with the allowed types, unless supports(type).
  void check_supports(DataType type) const;

  /// False for a backend that is registered for comparison only: it is never selected or picked.
  virtual bool can_be_picked() const noexcept { return true; }
  /// True if this CPU and its operating system can run the backend.
  bool runs_here() const noexcept;
  /// Throws InvalidArgument, listing the ISAs that this CPU supports, unless runs_here().
  void check_runs_here() const;
  /// Throws InvalidArgument if the spec is not allowed, if its rule of frequencies has an attention
  /// factor other than 1, which no encoding applies, or if the backend does not run here.
  std::unique_ptr<const Encoder> plan(const EncodingSpec& spec) const;
  /// Name and ISA: "rotation:avx2".
  std::string full_name() const;

 private:
  virtual std::unique_ptr<const Encoder> make_encoder(const EncodingSpec& spec) const = 0;
};

}  // namespace posenc
