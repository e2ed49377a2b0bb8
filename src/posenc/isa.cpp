#include "posenc/isa.h"

#include "posenc/spec.h"
#include "posenc/support/format.h"

#include <array>
#include <cstddef>

namespace posenc {
namespace {

constexpr std::array isa_names =
    std::to_array<std::string_view>({"scalar", "sse2", "avx2", "avx512", "neon64"});

}  // namespace

std::string_view to_string(Isa isa) noexcept { return isa_names[static_cast<std::size_t>(isa)]; }

Isa parse_isa(std::string_view name) {
  for (std::size_t i = 0; i < isa_names.size(); ++i) {
    if (isa_names[i] == name) return static_cast<Isa>(i);
  }
  throw InvalidArgument(format_text("ISA is '{}'; allowed: {}", name, join(isa_names, ", ")));
}

}  // namespace posenc
