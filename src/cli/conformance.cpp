#include "cli/conformance.h"

#include "cli/commands.h"
#include "cli/little_endian.h"

#include "posenc/check/table.h"
#include "posenc/check/table_file.h"
#include "posenc/frequency_rule_text.h"
#include "posenc/model/rotary.h"
#include "posenc/suite/files.h"
#include "posenc/support/with_type.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

namespace posenc::cli {

using namespace model;
using namespace suite;

namespace {

/// Positions where float32 phases are still right, positions where they fail, and one that does not
/// fit in int32.
const std::vector<std::int64_t> conformance_positions = {0,     1,      40,      2048,
                                                         65536, 131071, 1048576, 2147483648};

struct ConformanceTable {
  std::string name;
  EncodingSpec spec;
  Names presets = {};  ///< the presets with this convention

  /// The attention factor of the rule, by which all entries are multiplied.
  double factor() const { return attention_factor(spec.frequencies); }
};

/// The conventions of the presets, each once, in 64 channels, and rules of rotary embeddings.
std::vector<ConformanceTable> conformance_tables() {
  std::vector<ConformanceTable> all;
  for (const Preset& preset : presets()) {
    EncodingSpec spec = preset.spec;
    spec.d_model = 64;
    const auto same = std::ranges::find(all, spec, &ConformanceTable::spec);
    if (same == all.end()) {
      all.push_back({std::string(preset.name), spec, {std::string(preset.name)}});
    } else {
      same->presets.emplace_back(preset.name);
    }
  }
  const struct {
    const char* name;
    std::int64_t d_model;
    double base;
    const char* rule;
  } rotary[] = {
      {"rotary_llama_3_2", 64, 5e5, "llama3:factor=32"},
      {"rotary_llama_4", 128, 5e5, "llama3:factor=16,high_frequency_factor=1"},
      {"rotary_qwen_2_5", 128, 1e6, "yarn:factor=4,trained_rows=32768,attention_factor=1"},
      {"rotary_deepseek_v3", 64, 1e4, "yarn:factor=40,trained_rows=4096,attention_factor=1"},
      {"rotary_gpt_oss", 64, 1.5e5,
       "yarn:factor=32,trained_rows=4096,truncate=false,attention_factor=1"},
      // The factor is a power of two, so that products are exact. An implementation that ignores
      // attention factors fails this table.
      {"rotary_attention_factor_2", 128, 1e6,
       "yarn:factor=4,trained_rows=32768,attention_factor=2"},
      {"rotary_gemma_3", 256, 1e6, "linear:factor=8"},
      {"rotary_code_llama", 128, 1e6, "base"},
      {"rotary_dynamic", 128, 1e4, "ntk:factor=2"},
      {"rotary_modernbert", 64, 1.6e5, "base"},
      {"rotary_smollm_3", 128, 5e6, "base"},
      {"rotary_gpt_neox", 24, 1e4, "base"},
      {"rotary_widest_base", 64, 1e8, "base"},
  };
  for (const auto& [name, d_model, base, rule] : rotary)
    all.push_back({name,
                   {.d_model = d_model,
                    .base = base,
                    .layout = Layout::halves_cos_first,
                    .frequencies = parse_frequency_rule(rule)}});
  return all;
}

std::string file_of(const ConformanceTable& table, DataType type) {
  return fmt::format("{}.{}", table.name, to_string(type));
}

/// SHA-256 as in FIPS 180-4. The constants are the leading bits of the fractional parts of the cube
/// and square roots of the first primes.
std::string sha256_of(std::string_view message) {
  static constexpr std::uint32_t constants[] = {
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
      0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
      0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
      0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
      0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
      0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
      0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
      0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
      0xc67178f2};
  std::array<std::uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::string padded(message);
  padded += '\x80';
  padded.resize((padded.size() + 8 + 63) / 64 * 64 - 8);
  for (int shift = 56; shift >= 0; shift -= 8)
    padded += static_cast<char>(8 * message.size() >> shift & 0xff);
  for (std::size_t block = 0; block < padded.size(); block += 64) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 64; ++i)
      w[i / 4] = w[i / 4] << 8 | static_cast<unsigned char>(padded[block + i]);
    for (std::size_t i = 16; i < 64; ++i) {
      const std::uint32_t a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + w[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) +
             (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                  ((e & f) ^ (~e & g)) + constants[i] + w[i],
                          second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) +
                                   ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    const std::array<std::uint32_t, 8> added = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state[i] += added[i];
  }
  std::string text;
  for (const std::uint32_t each : state) text += fmt::format("{:08x}", each);
  return text;
}

/// The elements of a table in the byte order of files.
std::string bytes_of(const ConformanceTable& table, DataType type) {
  return with_type(type, [&]<class T>(T) {
    BasicMatrix<T> matrix(std::ssize(conformance_positions), table.spec.d_model);
    if (table.factor() == 1)
      backend("rotation").plan(table.spec)->encode(std::span(conformance_positions), matrix.view());
    else
      Rotary(rotary_spec(table.spec))
          .cache(conformance_positions, RotaryLayout::halves, matrix.view());
    const std::span elements(matrix.data(),
                             static_cast<std::size_t>(matrix.rows() * matrix.columns()));
    to_little_endian(elements);
    return std::string(reinterpret_cast<const char*>(elements.data()), elements.size_bytes());
  });
}

}  // namespace

void add_conformance(CLI::App& app, Options& options, const std::string& description) {
  const std::vector<CLI::Option*> others = app.get_options();
  CLI::Option* const option =
      add_text(app, "--conformance", "DIR", options.conformance, description);
  for (CLI::Option* const each : others) {
    if (each != app.get_help_ptr()) option->excludes(each);
  }
}

void write_conformance_set(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  Json manifest = {{"format", "posenc conformance"},
                   {"version", 1},
                   {"positions", conformance_positions},
                   {"tables", Json::array()}};
  for (const ConformanceTable& table : conformance_tables()) {
    Json entry = {{"name", table.name},
                  {"presets", table.presets},
                  {"d_model", table.spec.d_model},
                  {"base", table.spec.base},
                  {"layout", to_string(table.spec.layout)},
                  {"spacing", to_string(table.spec.spacing)},
                  {"frequencies", to_string(table.spec.frequencies)}};
    if (table.factor() != 1) entry["attention_factor"] = table.factor();
    for (const DataType type : all_data_types) {
      const std::string bytes = bytes_of(table, type);
      write_all((folder / file_of(table, type)).string(), bytes);
      entry["sha256"][std::string(to_string(type))] = sha256_of(bytes);
    }
    manifest["tables"].push_back(std::move(entry));
  }
  write_all((folder / "manifest.json").string(), manifest.dump(1) + "\n");
}

int check_conformance_set(const Options& options) {
  Json document = new_document();
  document["files"] = Json::array();
  std::int64_t missing = 0;
  bool are_good = true;
  for (const ConformanceTable& table : conformance_tables()) {
    for (const DataType type : all_data_types) {
      const std::string name = file_of(table, type);
      const std::filesystem::path file = std::filesystem::path(options.conformance) / name;
      if (!std::filesystem::exists(file)) {
        ++missing;
        continue;
      }
      const check::TableInMemory answer =
          check::read_table(file, {.type = type, .columns = table.spec.d_model});
      const check::TableReport report =
          check::table(answer.view(), {.spec = table.spec,
                                       .arrangements = {check::arrangement_of(table.spec.layout)},
                                       .positions = conformance_positions,
                                       .max_error = options.max_error});
      are_good = are_good && report.is_good;
      document["files"].push_back({{"file", name},
                                   {"good", report.is_good},
                                   {"verdict", report.is_good ? "good" : "wrong"},
                                   {"error", to_json(report.errors.error)},
                                   {"correctly_rounded", report.errors.error.correctly_rounded},
                                   {"cause", check::cause_text(report)}});
    }
  }
  const Json& files = document["files"];
  if (files.empty())
    throw_invalid(
        "--conformance is '{}'; allowed: a folder with files of posenc generate --conformance",
        options.conformance);
  document["good"] = are_good;
  document["missing"] = missing;
  std::string page =
      table(files, {text("file", "/file"), text("verdict", "/verdict"),
                    number("max |error|", "/error/max_abs", error_text),
                    number("max ulp", "/error/max_ulp", ulp_text),
                    number("correctly rounded", "/correctly_rounded", percent_text)});
  for (const Json& each : files)
    if (!each.at("good"))
      page += wrapped("\n" + each.at("file").get<std::string>() + ": " +
                      each.at("cause").get<std::string>() + "\n");
  if (missing > 0) page += fmt::format("\n{} files of the set are not in the folder\n", missing);
  write_document(options, document, page);
  return are_good ? good : check_failed;
}

}  // namespace posenc::cli
