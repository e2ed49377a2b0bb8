// The names of the enumerators.
#include "posenc/data_type.h"
#include "posenc/encode_options.h"
#include "posenc/isa.h"
#include "posenc/spec.h"
#include "posenc/support/enum_names.h"

namespace posenc {
namespace {

constexpr auto type_names =
    enum_names<DataType>("dtype", "float32", "float64", "float16", "bfloat16");
constexpr auto store_names =
    enum_names<StorePolicy>("stores", "automatic", "cached", "non_temporal");
constexpr auto isa_names = enum_names<Isa>("ISA", "portable", "sse2", "avx2", "avx512", "neon64");
constexpr auto layout_names =
    enum_names<Layout>("layout", "interleaved", "halves", "halves_cos_first");
constexpr auto spacing_names = enum_names<Spacing>("spacing", "paper", "inclusive");

}  // namespace

std::string_view to_string(DataType type) noexcept { return type_names[type]; }
std::string_view to_string(StorePolicy policy) noexcept { return store_names[policy]; }
std::string_view to_string(Isa isa) noexcept { return isa_names[isa]; }
std::string_view to_string(Layout layout) noexcept { return layout_names[layout]; }
std::string_view to_string(Spacing spacing) noexcept { return spacing_names[spacing]; }

DataType parse_data_type(std::string_view name) { return type_names.parse(name); }
StorePolicy parse_store_policy(std::string_view name) { return store_names.parse(name); }
Isa parse_isa(std::string_view name) { return isa_names.parse(name); }
Layout parse_layout(std::string_view name) { return layout_names.parse(name); }
Spacing parse_spacing(std::string_view name) { return spacing_names.parse(name); }

void validate(Layout layout) { layout_names.check(layout); }
void validate(Spacing spacing) { spacing_names.check(spacing); }

}  // namespace posenc
