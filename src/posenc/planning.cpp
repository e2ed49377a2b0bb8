#include "posenc/planning.h"

#include "posenc/support/floating_point.h"
#include "posenc/support/format.h"

#include <utility>

namespace posenc::detail {

std::unique_ptr<Backend> Planning::make_backend(Method method, MakeWriter make) {
  method.make_writer = [make](const EncodingSpec& spec) { return make(spec, nullptr); };
  auto backend = std::make_unique<Backend>(std::move(method));
  backend->make_from_frequencies_ = std::move(make);
  return backend;
}

std::unique_ptr<const Encoder> Planning::plan(
    const Backend& backend, Layout layout, const std::shared_ptr<const Frequencies>& frequencies) {
  if (!backend.make_from_frequencies_)
    throw_invalid("backend is '{}'; allowed for frequencies that no spec describes: {}",
                  backend.full_name(), "posenc's own backends");
  backend.check_runs_here();
  const DefaultFloatingPoint environment;
  OwnFrequencies nearest;
  for (std::int64_t k = 0; k < frequencies->count(); ++k)
    nearest.values.push_back(to_radians((*frequencies)[k]));
  const EncodingSpec spec = {
      .d_model = 2 * frequencies->count(), .layout = layout, .frequencies = std::move(nearest)};
  return std::make_unique<Encoder>(spec, backend, backend.method(),
                                   backend.make_from_frequencies_(spec, frequencies));
}

}  // namespace posenc::detail
