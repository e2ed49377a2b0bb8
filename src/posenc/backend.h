/// @file
/// One method of computing an encoding at one instruction set, which plans encoders.
#pragma once

#include "posenc/data_type.h"
#include "posenc/encoder.h"
#include "posenc/isa.h"
#include "posenc/method.h"
#include "posenc/spec.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace posenc {

namespace detail {
class Frequencies;
struct Planning;
}  // namespace detail

/// A registered method. Encoders are valid as long as their backend exists.
class Backend {
 public:
  /// Throws InvalidArgument unless the method has a name, a type and make_writer.
  explicit Backend(Method method);
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// The facts that hold for every spec.
  const Method& method() const noexcept { return method_; }
  std::string_view name() const noexcept { return method_.name; }  ///< Method::name
  /// Method::description
  std::string_view description() const noexcept { return method_.description; }
  std::string_view phases() const noexcept { return method_.phases; }    ///< Method::phases
  Isa isa() const noexcept { return method_.isa; }                       ///< Method::isa
  bool can_be_picked() const noexcept { return method_.can_be_picked; }  ///< Method::can_be_picked
  /// True if its encoders can write `type`.
  bool supports(DataType type) const noexcept { return posenc::supports(method_, type); }
  /// True if its tables of that type are correctly rounded (Method::is_correctly_rounded).
  bool is_correctly_rounded(DataType type) const noexcept {
    return method_.is_correctly_rounded && supports(type);
  }
  /// Throws InvalidArgument, with the allowed types, unless supports(type).
  void check_supports(DataType type) const { posenc::check_supports(method_, type); }
  /// True if this CPU and its operating system can run the backend.
  bool runs_here() const noexcept;
  /// Throws InvalidArgument, listing the ISAs that this CPU supports, unless runs_here().
  void check_runs_here() const;
  /// Throws InvalidArgument if the spec is not allowed, or if the backend does not run here. Also
  /// throws if the spec's rule of frequencies has an attention factor other than 1, because only
  /// Rotary applies attention factors.
  std::unique_ptr<const Encoder> plan(const EncodingSpec& spec) const;
  /// Name and ISA: "rotation:avx2".
  std::string full_name() const;

 private:
  friend struct detail::Planning;

  Method method_;
  /// Set for posenc's own methods, which also plan frequencies that no spec describes.
  std::function<std::unique_ptr<const RowWriter>(
      const EncodingSpec& spec, const std::shared_ptr<const detail::Frequencies>& frequencies)>
      make_from_frequencies_;
};

}  // namespace posenc
