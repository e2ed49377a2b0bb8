// Tables of the 16-bit types that C++23 has are equal to those of posenc's types.
#include <posenc/posenc.h>

#include <cstring>

namespace {

template <class Native, class Stored>
bool has_same_table() {
  static_assert(posenc::data_type_of<Native> == posenc::data_type_of<Stored> &&
                sizeof(Native) == sizeof(Stored));
  const auto encoder = posenc::backend("rotation").plan({.d_model = 34});
  const posenc::RowRange rows = {.first = 1'000'000, .count = 20};
  posenc::BasicMatrix<Native> native(rows.count, 34);
  posenc::BasicMatrix<Stored> stored(rows.count, 34);
  encoder->encode(rows, native.view());
  encoder->encode(rows, stored.view());
  return std::memcmp(native.data(), stored.data(), 20 * 34 * sizeof(Native)) == 0;
}

}  // namespace

int main() {
  bool is_good = true;
#ifdef __STDCPP_FLOAT16_T__
  is_good = has_same_table<std::float16_t, posenc::Float16>() && is_good;
#endif
#ifdef POSENC_HAS_NATIVE_BFLOAT16
  is_good = has_same_table<std::bfloat16_t, posenc::BFloat16>() && is_good;
#endif
  return is_good ? 0 : 1;
}
