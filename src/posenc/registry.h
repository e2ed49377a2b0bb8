/// @file
/// The backends of this build.
///
///     auto encoder = posenc::backend("rotation").plan({.d_model = 512});
#pragma once

#include "posenc/backend.h"
#include "posenc/isa.h"
#include "posenc/method.h"

#include <memory>
#include <string_view>
#include <vector>

namespace posenc {

/// Every backend of this build in order of registration: the simplest method first, and each method
/// by ascending ISA.
std::vector<const Backend*> backends();

/// The backend with this name: "rotation" for the best ISA that runs here, or "rotation:avx2" for a
/// given ISA. Throws InvalidArgument, listing the known names, if there is none, or if it does not
/// run here.
const Backend& backend(std::string_view name);
/// The backend of that method and ISA. Throws InvalidArgument as above.
const Backend& backend(std::string_view name, Isa isa);

/// Adds a method as a backend, which the registry owns. Throws InvalidArgument if a backend with
/// this name and ISA exists, or the method has no name, type or make_writer.
const Backend& register_backend(Method method);
/// Adds a backend that unregister_backend() has returned. Throws as above, and if it is null.
const Backend& register_backend(std::unique_ptr<Backend> added);

/// Removes a backend, and returns it. Encoders that it planned stay valid as long as it exists.
/// Throws InvalidArgument if it is not registered.
std::unique_ptr<Backend> unregister_backend(const Backend& added);

}  // namespace posenc
