// What encoders do with the floating-point environment of a host, and what its does to their bits.
#include "posenc/encoder.h"
#include "posenc/model/rotary.h"
#include "posenc/registry.h"
#include "support.h"

#include <cfenv>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace posenc::test {
namespace {

using Bytes = std::vector<char>;

/// Plans an encoder and encodes rows of each type that the backend supports.
Bytes encode_all(const Backend& backend, const EncodingSpec& spec, RowRange rows) {
  Bytes bytes;
  const auto encoder = backend.plan(spec);
  for (const DataType type : all_data_types) {
    if (!backend.supports(type)) continue;
    with_type(type, [&]<class T>(T) {
      const auto table = encoded<T>(*encoder, rows);
      const char* const first = reinterpret_cast<const char*>(table.data());
      bytes.insert(bytes.end(), first, first + rows.count * spec.d_model * std::int64_t{sizeof(T)});
    });
  }
  return bytes;
}

const EncodingSpec planned_specs[] = {
    {.d_model = 512},
    {.d_model = 6},
    {.d_model = 130, .base = 1e9, .layout = Layout::halves},
    {.d_model = 64, .base = 1.5, .layout = Layout::halves_cos_first},
    // Entries that are subnormal in every type but float64, and entries that round to 0.
    {.d_model = 66, .base = 1e48},
    {.d_model = 66, .base = 1e300},
};
const RowRange kept_rows[] = {
    {0, 1}, {0, 300}, {-40, 50}, {1'000'000, 70}, {max_position - 90, 90}};

class FloatingPoint : public testing::TestWithParam<const Backend*> {};

TEST_P(FloatingPoint, RaisesNothingButInexactAndUnderflow) {
  for (const EncodingSpec& spec : planned_specs) {
    for (const RowRange rows : kept_rows) {
      std::feclearexcept(FE_ALL_EXCEPT);
      encode_all(*GetParam(), spec, rows);
      EXPECT_EQ(std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW), 0)
          << "d_model " << spec.d_model << ", first " << rows.first;
    }
  }
}

/// An environment of a host: sets it, and says whether it is still set.
struct Environment {
  std::string name;
  std::function<void()> set;
  std::function<bool()> is_set;
};

std::vector<Environment> environments() {
  std::vector<Environment> all;
  for (const auto& [name, mode] : {std::pair{"upward", FE_UPWARD},
                                   {"downward", FE_DOWNWARD},
                                   {"toward zero", FE_TOWARDZERO}}) {
    all.push_back({name, [mode = mode] { std::fesetround(mode); },
                   [mode = mode] { return std::fegetround() == mode; }});
  }
  // As a program that is linked with -ffast-math sets it.
#if defined(__x86_64__)
  constexpr unsigned flush_to_zero_and_denormals_are_zero = 0x8040;
  all.push_back({"flushed subnormals",
                 [] { _mm_setcsr(_mm_getcsr() | flush_to_zero_and_denormals_are_zero); },
                 [] { return (_mm_getcsr() & flush_to_zero_and_denormals_are_zero) != 0; }});
#elif defined(__aarch64__)
  constexpr std::uint64_t flush_to_zero = 1 << 24;
  const auto control = [] {
    std::uint64_t value = 0;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  };
  all.push_back({"flushed subnormals",
                 [=] {
                   asm volatile("msr fpcr, %0" : : "r"(control() | flush_to_zero));
                 },
                 [=] { return (control() & flush_to_zero) != 0; }});
#endif
  return all;
}

TEST_P(FloatingPoint, OfTheHostDoesNotChangeBitsAndIsRestored) {
  for (const EncodingSpec& spec : planned_specs) {
    for (const RowRange rows : kept_rows) {
      const Bytes expected = encode_all(*GetParam(), spec, rows);
      for (const Environment& environment : environments()) {
        std::fenv_t before;
        std::fegetenv(&before);
        environment.set();
        const Bytes bytes = encode_all(*GetParam(), spec, rows);
        const bool is_restored = environment.is_set();
        std::fesetenv(&before);
        EXPECT_TRUE(bytes == expected) << environment.name << ", first " << rows.first;
        EXPECT_TRUE(is_restored) << environment.name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FloatingPoint, testing::ValuesIn(running_backends()), of_backend);

}  // namespace
}  // namespace posenc::test
