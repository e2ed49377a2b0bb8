// Tables of the 16-bit types that this compiler has are equal to those of posenc's types.
#include <posenc/posenc.h>

#include <cstdio>

namespace {

template <class Native, class Stored>
bool has_same_table(const char* name) {
  static_assert(posenc::data_type_of<Native> == posenc::data_type_of<Stored> &&
                sizeof(Native) == sizeof(Stored));
  const auto encoder = posenc::backend("rotation").plan({.d_model = 34});
  const posenc::RowRange rows = {.first = 1'000'000, .count = 20};
  posenc::BasicMatrix<Native> native(rows.count, 34);
  posenc::BasicMatrix<Stored> stored(rows.count, 34);
  encoder->encode(rows, native.view());
  encoder->encode(rows, stored.view());
  int different = 0;
  for (std::int64_t r = 0; r < rows.count; ++r) {
    for (std::int64_t c = 0; c < 34; ++c) {
      if (static_cast<double>(native(r, c)) != posenc::to_double(stored(r, c))) ++different;
    }
  }
  std::printf("%s: %d entries differ\n", name, different);
  return different == 0;
}

}  // namespace

int main() {
  bool is_good = true;
#ifdef POSENC_HAS_NATIVE_FLOAT16
  is_good = has_same_table<_Float16, posenc::Float16>("_Float16") && is_good;
#endif
#ifdef __STDCPP_FLOAT16_T__
  is_good = has_same_table<std::float16_t, posenc::Float16>("std::float16_t") && is_good;
#endif
#ifdef POSENC_HAS_NATIVE_BFLOAT16
  is_good = has_same_table<std::bfloat16_t, posenc::BFloat16>("std::bfloat16_t") && is_good;
#endif
  return is_good ? 0 : 1;
}
