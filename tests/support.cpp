#include "support.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace posenc::test {

std::vector<const Backend*> running_backends() {
  std::vector<const Backend*> running = backends();
  std::erase_if(running, [](const Backend* each) { return !each->runs_here(); });
  return running;
}

std::vector<const Backend*> running_backends(std::string_view name) {
  std::vector<const Backend*> running = running_backends();
  std::erase_if(running, [name](const Backend* each) { return each->name() != name; });
  return running;
}

std::string identifier(const Backend& backend) {
  std::string name = backend.full_name();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

std::vector<std::int64_t> positions_of(RowRange rows) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(rows.count));
  std::iota(positions.begin(), positions.end(), rows.first);
  return positions;
}

bool same_bits(std::span<const float> a, std::span<const float> b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](float x, float y) { return bits(x) == bits(y); });
}

EncodingSpec spec_near_midpoints(DataType type, std::int64_t d_model, int log2_position,
                                 Layout layout) {
  OwnFrequencies rule;
  for (std::int64_t k = 0; k < d_model / 2; ++k) {
    const double ulp = 2 * half_ulp_of_one(type);  // of values from 1/2 to 1
    const double value = 0.5 + 0.9 * static_cast<double>(k) / static_cast<double>(d_model);
    const long double midpoint = std::floor(value / ulp) * ulp + ulp / 2;
    const long double phase = k % 2 == 0 ? std::asin(midpoint) : std::acos(midpoint);
    rule.values.push_back(std::ldexp(static_cast<double>(phase), -log2_position));
  }
  return {.d_model = d_model, .layout = layout, .frequencies = rule};
}

ScratchFolder::ScratchFolder() {
  std::random_device random;
  do {
    const std::string name = "posenc_test_" + std::to_string(random()) + std::to_string(random());
    path_ = std::filesystem::temp_directory_path() / name;
  } while (!std::filesystem::create_directory(path_));  // throws if there can be none
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> ScratchFolder::listing() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  std::ostringstream content;
  content << in.rdbuf();
  return std::move(content).str();
}

void write_file(const std::filesystem::path& file, std::string_view content) {
  std::ofstream out(file, std::ios::binary);
  out << content;
  if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

std::string npy_file(const std::string& descr, const std::string& shape,
                     const std::string& elements) {
  const std::string fields =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(fields.size() & 0xff) +
         static_cast<char>(fields.size() >> 8) + fields + elements;
}

}  // namespace posenc::test
