// The backends of this build. See selection.h for which one is used if the caller does not say.
#pragma once

#include "posenc/encoder.h"
#include "posenc/export.h"
#include "posenc/isa.h"
#include "posenc/spec.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace POSENC_API posenc {

/// One method of computing an encoding, at one instruction set.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const noexcept = 0;         ///< the method: "rotation"
  virtual std::string_view description() const noexcept = 0;  ///< one line, for lists
  virtual Isa isa() const noexcept = 0;
  /// True for the library's own methods; a backend for comparison only is never picked.
  virtual bool can_be_picked() const noexcept { return true; }
  /// True if this CPU and its operating system can run the backend.
  bool runs_here() const noexcept;
  /// Throws InvalidArgument if the spec is not allowed or the backend does not run here.
  std::unique_ptr<const Encoder> plan(const EncodingSpec& spec) const;
  /// "rotation:avx2"
  std::string full_name() const;

 private:
  virtual std::unique_ptr<const Encoder> make_encoder(const EncodingSpec& spec) const = 0;
};

/// Every backend of this build, in the order of registration (simplest method first), each method
/// by ascending ISA.
std::vector<const Backend*> backends();

/// The backend of that name ("rotation", or "rotation:avx2" for one ISA): without an ISA, the best
/// that runs here. Throws InvalidArgument, listing the known ones, if there is none, or if it
/// does not run here.
const Backend& backend(std::string_view name);
const Backend& backend(std::string_view name, Isa isa);

/// Adds a backend, owned by the registry from then on. Throws InvalidArgument if one of its name
/// and ISA is known.
const Backend& register_backend(std::unique_ptr<Backend> added);

/// Takes a backend out again that register_backend() added, and gives it back. Encoders that it
/// planned stay valid as long as it lives. Throws InvalidArgument unless it was added so.
std::unique_ptr<Backend> unregister_backend(const Backend& added);

}  // namespace posenc
