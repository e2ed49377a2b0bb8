#include "posenc/isa.h"

#include "posenc/support/enum_names.h"

namespace posenc {
namespace {

constexpr auto isa_names = enum_names<Isa>("ISA", "portable", "sse2", "avx2", "avx512", "neon64");

}  // namespace

std::string_view to_string(Isa isa) noexcept { return isa_names[isa]; }
Isa parse_isa(std::string_view name) { return isa_names.parse(name); }

}  // namespace posenc
