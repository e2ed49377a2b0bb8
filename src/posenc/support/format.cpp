#include "posenc/support/format.h"

#include <fmt/args.h>
#include <fmt/format.h>

namespace posenc {

std::string format_arguments(std::string_view pattern,
                             std::initializer_list<FormatArgument> arguments) {
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  for (const FormatArgument& each : arguments) {
    std::visit([&](const auto& value) { store.push_back(value); }, each.value());
  }
  return fmt::vformat(pattern, store);
}

}  // namespace posenc
