// A correctly rounded table of sinusoidal positional encodings in one file, to be read and ported.
//
// Method  Every 16th row is an anchor: its phases are reduced exactly, then std::sin and std::cos
//         are right to two units in the last place. The rows after it follow by angle addition, in
//         double. An entry that the error bound leaves between two floats is recomputed with pairs
//         of doubles, about 100 bits.
// Error   none: each entry is the float nearest to the exact value. Where 100 bits do not suffice
//         to tell which float that is, the program says so and stops; no such entry is known.
// Range   positions from 0 to 2^53
// Cost    eight operations an entry, and one in thousands is recomputed
//
// Build without -ffast-math and with -ffp-contract=off:
//   c++ -std=c++20 -O2 -ffp-contract=off correctly_rounded_table.cpp -o correctly_rounded_table
//   ./correctly_rounded_table 5000 512          prints a hash of the bits of 5000 rows of 512
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace {

/// An unevaluated sum of two doubles, of which `low` is at most half a unit of `high`. Operations
/// are right to 2^-102 of their result, and sums of what has the same sign (Dekker, 1971).
struct Wide {
  double high, low;
};

Wide exact_sum(double a, double b) {
  const double sum = a + b, b_of_sum = sum - a;
  return {sum, (a - (sum - b_of_sum)) + (b - b_of_sum)};
}

Wide exact_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

Wide operator-(Wide a) { return {-a.high, -a.low}; }

Wide operator+(Wide a, Wide b) {
  const Wide high = exact_sum(a.high, b.high), low = exact_sum(a.low, b.low);
  const Wide sum = exact_sum(high.high, high.low + low.high);
  return exact_sum(sum.high, sum.low + low.low);
}

Wide operator*(Wide a, Wide b) {
  const Wide product = exact_product(a.high, b.high);
  return exact_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

Wide operator/(Wide a, double b) {
  const double quotient = a.high / b;
  const Wide back = exact_product(quotient, b);
  return exact_sum(quotient, ((a.high - back.high) - back.low + a.low) / b);
}

constexpr Wide ln_2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
constexpr Wide half_pi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
constexpr Wide two_over_pi = {0x1.45f306dc9c883p-1, -0x1.6b01ec5417056p-55};

/// first + first x / (n + 1) + ..., each term `step` factors on, until terms no longer count.
Wide series(Wide first, Wide x, int n, int step) {
  Wide sum = first, term = first;
  while (std::abs(term.high) > 0x1p-110 * std::abs(first.high)) {
    term = term * x;
    for (int i = 0; i < step; ++i) term = term / ++n;
    sum = sum + term;
  }
  return sum;
}

Wide exp(Wide x) {
  const double n = std::nearbyint(x.high / ln_2.high);
  const Wide power = series({1, 0}, x + Wide{-n, 0} * ln_2, 0, 1);
  return {std::ldexp(power.high, static_cast<int>(n)), std::ldexp(power.low, static_cast<int>(n))};
}

/// One step of Newton's method for exp(y) = x squares the error of std::log.
Wide log(double x) {
  const double y = std::log(x);
  return Wide{y, 0} + Wide{x, 0} * exp({-y, 0}) + Wide{-1, 0};
}

/// A phase as whole quarter turns, and radians in [-pi / 4, pi / 4] or just beyond.
struct Phase {
  std::int64_t quarters;
  Wide radians;
};

/// The phase of a position, from the quarter turns of one position. The whole quarters of the first
/// product go by an exact subtraction; that is the reduction, whatever the position.
Phase phase_at(std::int64_t position, Wide quarters) {
  const Wide product = exact_product(static_cast<double>(position), quarters.high);
  const double whole = std::nearbyint(product.high);
  const Wide rest = exact_sum(product.high - whole, product.low) +
                    Wide{static_cast<double>(position) * quarters.low, 0};
  return {static_cast<std::int64_t>(whole), rest * half_pi};
}

/// The sine of a phase, from the sine and cosine of its radians.
template <class Value>
Value in_quarter(std::int64_t quarters, Value sine, Value cosine) {
  const Value value = quarters % 2 == 0 ? sine : cosine;
  return (quarters & 2) == 0 ? value : -value;
}

struct Rotation {
  double cosine, sine;
};

Rotation rotation_of(const Phase& phase) {
  const auto [x, tail] = phase.radians;
  const double sine = std::sin(x) + tail * std::cos(x), cosine = std::cos(x) - tail * std::sin(x);
  return {in_quarter(phase.quarters + 1, sine, cosine), in_quarter(phase.quarters, sine, cosine)};
}

/// The float nearest to a value. A double is rounded to odd on the way, so that a double that lies
/// between two floats keeps the side on which the value is (Boldo and Melquiond, 2008).
float nearest_float(Wide value) {
  double odd = value.high;
  if (value.low != 0 && std::bit_cast<std::uint64_t>(odd) % 2 == 0)
    odd = std::nextafter(odd, value.low > 0 ? 2 : -2);
  return static_cast<float>(odd);
}

/// A sine or cosine with all bits that there are, rounded once.
float recomputed(const Phase& phase, bool is_cosine) {
  const Wide x = phase.radians, minus_square = -(x * x);
  const std::int64_t quarters = phase.quarters + is_cosine;
  const Wide sine = series(x, minus_square, 1, 2), cosine = series({1, 0}, minus_square, 0, 2);
  const Wide value = in_quarter(quarters, sine, cosine);
  // Errors of frequency and reduction grow with the phase. A sine before the first quarter is as
  // right as its phase, relative to its value.
  const double size = quarters == 0 ? value.high : 1 + static_cast<double>(phase.quarters);
  const float below = nearest_float(value + Wide{-0x1p-96 * size, 0}),
              above = nearest_float(value + Wide{0x1p-96 * size, 0});
  if (below != above) throw std::runtime_error("100 bits do not suffice to round an entry");
  return below;
}

constexpr std::int64_t rows_per_anchor = 16;
/// In units of 2^-53: an anchor is right to 2. A rotation adds 3.2: the constants' roundings 0.7
/// and those of two products and their sum 1.5 for sine and cosine each, times sqrt(2) for both.
/// The 15 rotations keep the length of earlier errors. 2 sqrt(2) + 15 * 3.2 = 51.
constexpr double error_of_row = 64 * 0x1p-53;

/// Writes rows of PE[p, 2k] = sin(p base^(-2k / d)), PE[p, 2k + 1] = cos(p base^(-2k / d)), for
/// positions p from `first` on.
void encode(std::int64_t first, std::int64_t rows, std::int64_t d_model, double base,
            float* table) {
  const Wide log_base = log(base);
  for (std::int64_t k = 0; k < d_model / 2; ++k) {
    const Wide exponent =
        log_base * (Wide{static_cast<double>(-2 * k), 0} / static_cast<double>(d_model));
    const Wide quarters = exp(exponent) * two_over_pi;  // of one position
    const Rotation step = rotation_of(phase_at(1, quarters));
    Rotation at = {};
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t position = first + row;
      at = row == 0 || position % rows_per_anchor == 0
               ? rotation_of(phase_at(position, quarters))
               : Rotation{at.cosine * step.cosine - at.sine * step.sine,
                          at.sine * step.cosine + at.cosine * step.sine};
      for (const bool is_cosine : {false, true}) {
        const double value = is_cosine ? at.cosine : at.sine;
        const float below = static_cast<float>(value - error_of_row),
                    above = static_cast<float>(value + error_of_row);
        table[row * d_model + 2 * k + is_cosine] =
            below == above ? below : recomputed(phase_at(position, quarters), is_cosine);
      }
    }
  }
}

/// FNV-1a over the bytes of the bits, lowest first.
std::uint64_t hash_of(const std::vector<float>& table) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const float entry : table) {
    for (int shift = 0; shift < 32; shift += 8)
      hash = (hash ^ ((std::bit_cast<std::uint32_t>(entry) >> shift) & 0xff)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace

int main(int count, char** arguments) {
  const auto argument = [&](int i, double otherwise) {
    return count > i ? std::atof(arguments[i]) : otherwise;
  };
  const auto rows = static_cast<std::int64_t>(argument(1, 5000)),
             d_model = static_cast<std::int64_t>(argument(2, 512)),
             first = static_cast<std::int64_t>(argument(4, 0));
  std::vector<float> table(static_cast<std::size_t>(rows * d_model));
  encode(first, rows, d_model, argument(3, 10000), table.data());
  std::printf("0x%016llx\n", static_cast<unsigned long long>(hash_of(table)));
}
