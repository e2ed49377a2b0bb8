#include "cli/conformance.h"

#include "cli/commands.h"
#include "cli/little_endian.h"

#include "posenc/check/heads.h"
#include "posenc/check/table.h"
#include "posenc/check/table_file.h"
#include "posenc/frequency_rule_text.h"
#include "posenc/model/rotary.h"
#include "posenc/model/rotary_config.h"
#include "posenc/suite/files.h"
#include "posenc/support/with_type.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
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
  const auto add = [&](const char* name, std::int64_t d_model, double base, const char* rule) {
    all.push_back({name,
                   {.d_model = d_model,
                    .base = base,
                    .layout = Layout::halves_cos_first,
                    .frequencies = parse_frequency_rule(rule)}});
  };
  add("rotary_llama_3_2", 64, 5e5, "llama3:factor=32");
  add("rotary_llama_4", 128, 5e5, "llama3:factor=16,high_frequency_factor=1");
  add("rotary_qwen_2_5", 128, 1e6, "yarn:factor=4,trained_rows=32768,attention_factor=1");
  add("rotary_deepseek_v3", 64, 1e4, "yarn:factor=40,trained_rows=4096,attention_factor=1");
  add("rotary_gpt_oss", 64, 1.5e5,
      "yarn:factor=32,trained_rows=4096,truncate=false,attention_factor=1");
  // The factor is a power of two, so that products are exact. An implementation that ignores
  // attention factors fails this table.
  add("rotary_attention_factor_2", 128, 1e6, "yarn:factor=4,trained_rows=32768,attention_factor=2");
  add("rotary_gemma_3", 256, 1e6, "linear:factor=8");
  add("rotary_code_llama", 128, 1e6, "base");
  add("rotary_dynamic", 128, 1e4, "ntk:factor=2");
  add("rotary_modernbert", 64, 1.6e5, "base");
  add("rotary_smollm_3", 128, 5e6, "base");
  add("rotary_gpt_neox", 24, 1e4, "base");
  add("rotary_widest_base", 64, 1e8, "base");
  return all;
}

/// The rows of all heads, and the heads of each row.
constexpr std::int64_t rows_of_heads = 8, heads_of_row = 4;

/// Heads that a rotary embedding turns.
struct ConformanceHeads {
  std::string name;
  RotarySpec rotary;
  /// positions[axis * rows_of_heads + row]
  std::vector<std::int64_t> positions = conformance_positions;
  std::int64_t channels = rotary.dimension(), offset = 0;

  RowPositions row_positions() const {
    return {positions.data(), rotary.angles.axes(), rows_of_heads, rows_of_heads};
  }
};

/// Kernels differ in the pairs of channels, the turned share of a head and its place, the axes, the
/// rules, and the order of positions.
std::vector<ConformanceHeads> conformance_heads() {
  const RotaryLayout halves = RotaryLayout::halves, interleaved = RotaryLayout::interleaved;
  const auto rule = [](std::int64_t dimension, double base, const char* text, RotaryLayout pairs) {
    return rotary_spec(
        {.d_model = dimension, .base = base, .frequencies = parse_frequency_rule(text)}, pairs);
  };
  const auto longrope = [](double growth) {
    LongRopeScaling scaling = {.factors = {}, .attention_factor = 1.1875};
    for (int k = 0; k < 32; ++k) scaling.factors.push_back(1 + growth * k * k);
    return rotary_spec({.d_model = 64, .frequencies = scaling});
  };
  const RotarySpec usual = rule(64, 1e4, "base", halves),
                   latent = rule(64, 1e4, "yarn:factor=40,trained_rows=4096,attention_factor=1",
                                 interleaved),
                   yarn =
                       rule(64, 1.5e5, "yarn:factor=32,trained_rows=4096,truncate=false", halves);
  // Words, then the cells of an image, and then words again.
  const std::vector<std::int64_t> words = {0, 1, 2, 2,      2, 2, 5, 131071, 0, 1, 2, 2,
                                           3, 4, 5, 131071, 0, 1, 2, 4,      3, 2, 5, 131071},
                                  cells = {0,  0,  0,   1,  1, 1, 20, 20, -2, -1, 0,  1,
                                           63, 64, -64, 65, 5, 4, 3,  2,  1,  0,  -7, 90},
                                  descending = {131071, 131070, 131069, 131068,
                                                131067, 131066, 131065, 131064},
                                  gathered = {2048, 7, 7, 131071, 0, 65536, 40, 131071};
  const AxesSpec sections = axes_in_sections({16, 24, 24}, {.d_model = 128, .base = 1e6}),
                 by_turns = axes_interleaved({24, 20, 20}, {.d_model = 128, .base = 5e6}),
                 blocks = axes_in_blocks({16, 56, 56}, {});
  return {{"heads_llama", rule(128, 5e5, "llama3:factor=8", halves)},
          {"heads_gpt_j", rule(64, 1e4, "base", interleaved)},
          {"heads_partial", rule(32, 1e4, "base", halves), conformance_positions, 64},
          {"heads_gemma_4", rule(128, 1e6, "proportional:turned=16", halves)},
          {"heads_latent", latent, conformance_positions, 192, 128},
          {"heads_sections", {.angles = sections}, words},
          {"heads_interleaved_axes", {.angles = by_turns}, words},
          {"heads_blocks", {.angles = blocks, .channels = interleaved}, cells},
          {"heads_yarn", yarn},
          {"heads_longrope_short", longrope(0x1p-10)},
          {"heads_longrope_long", longrope(0x1p-4)},
          {"heads_descending", usual, descending},
          {"heads_gathered", usual, gathered}};
}

/// The types of heads.
constexpr DataType head_types[] = {DataType::float32, DataType::float16, DataType::bfloat16};

std::string file_of(std::string_view name, DataType type) {
  return fmt::format("{}.{}", name, to_string(type));
}

/// The name of heads before a rotation, which have no other content than their number of channels.
std::string before_of(const ConformanceHeads& heads) {
  return fmt::format("heads_before_{}", heads.channels);
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

/// The elements in the byte order of files.
template <class T>
std::string in_file_order(std::span<T> elements) {
  to_little_endian(elements);
  return std::string(reinterpret_cast<const char*>(elements.data()), elements.size_bytes());
}

std::string bytes_of(const ConformanceTable& table, DataType type) {
  return with_type(type, [&]<class T>(T) {
    BasicMatrix<T> matrix(std::ssize(conformance_positions), table.spec.d_model);
    if (table.factor() == 1)
      backend("rotation").plan(table.spec)->encode(std::span(conformance_positions), matrix.view());
    else
      Rotary(rotary_spec(table.spec))
          .cache(conformance_positions, RotaryLayout::halves, matrix.view());
    return in_file_order(
        std::span(matrix.data(), static_cast<std::size_t>(matrix.rows() * matrix.columns())));
  });
}

/// Heads before their rotation: odd multiples of 1/128 between -2 and 2, which every type holds.
template <class T>
std::vector<T> elements_before(const ConformanceHeads& heads) {
  std::mt19937_64 random;  // the standard defines its numbers
  std::vector<T> elements;
  for (std::int64_t i = 0; i < rows_of_heads * heads_of_row * heads.channels; ++i)
    elements.push_back(nearest<T>((2 * static_cast<double>(random() >> 56) - 255) / 128));
  return elements;
}

std::string bytes_of(const ConformanceHeads& heads, DataType type, bool is_turned) {
  return with_type(type, [&]<class T>(T) -> std::string {
    std::vector<T> elements = elements_before<T>(heads);
    if constexpr (!std::is_same_v<T, double>) {
      HeadsView turned =
          rows_first(elements.data(), 1, rows_of_heads, heads_of_row, heads.channels);
      turned.data = elements.data() + heads.offset;
      turned.columns -= heads.offset;
      if (is_turned) Rotary(heads.rotary).apply(turned, heads.row_positions());
    }
    return in_file_order(std::span(elements));
  });
}

/// A rotation, as docs/kernels.md describes it.
Json json_of(const ConformanceHeads& heads) {
  const RotarySpec& rotary = heads.rotary;
  Json positions = Json::array(), parts = Json::array();
  for (std::int64_t axis = 0; axis < rotary.angles.axes(); ++axis)
    positions.push_back(heads.row_positions().list(axis).list());
  for (const AxisPairs& part : rotary.angles.parts) {
    parts.push_back({{"axis", part.axis},
                     {"d_model", part.spec.d_model},
                     {"base", part.spec.base},
                     {"frequencies", to_string(part.spec.frequencies)}});
    if (!part.pairs.empty()) parts.back()["pairs"] = part.pairs;
  }
  return {{"name", heads.name},
          {"before", before_of(heads)},
          {"shape", {rows_of_heads, heads_of_row, heads.channels}},
          {"positions", positions},
          {"rotary", to_string(rotary)},
          {"channels", rotary.channels == RotaryLayout::halves ? "halves" : "interleaved"},
          {"offset", heads.offset},
          {"attention_factor", rotary.attention_factor},
          {"parts", parts}};
}

/// Reads an answer to a table, and judges it.
Json verdict_on(const std::filesystem::path& file, const ConformanceTable& table, DataType type,
                const std::optional<double>& max_error) {
  const check::TableInMemory answer =
      check::read_table(file, {.type = type, .columns = table.spec.d_model});
  const check::TableReport report =
      check::table(answer.view(), {.spec = table.spec,
                                   .arrangements = {check::arrangement_of(table.spec.layout)},
                                   .positions = conformance_positions,
                                   .max_error = max_error});
  return {{"good", report.is_good},
          {"verdict", report.is_good ? "good" : "wrong"},
          {"error", cli::to_json(report.errors.error)},
          {"correctly_rounded", report.errors.error.correctly_rounded},
          {"cause", check::cause_text(report)}};
}

/// Reads an answer to heads, and judges it.
Json verdict_on(const std::filesystem::path& file, const ConformanceHeads& heads, DataType type,
                const std::optional<double>& max_error) {
  const check::TableInMemory answer = check::read_table(
      file, {.type = type, .columns = heads.channels, .holds = check::Holds::heads});
  check::HeadsTable after = answer.heads();
  const std::array<std::int64_t, 3> shape = {rows_of_heads, heads_of_row, heads.channels};
  const std::int64_t elements = shape[0] * shape[1] * shape[2];
  if (after.sizes[1] == 1 && after.sizes[0] * after.sizes[2] == elements)  // rows only, if raw
    after.sizes = shape, after.strides = {shape[1] * shape[2], shape[2], 1};
  const check::HeadsReport report = with_type(after.type, [&]<class T>(T) {
    const std::vector<T> before = elements_before<T>(heads);
    return check::heads(
        {before.data(), after.type, shape, after.strides}, after, heads.rotary,
        {.positions = heads.row_positions(), .offset = heads.offset, .max_error = max_error});
  });
  return {{"good", report.is_good},          {"verdict", report.is_good ? "good" : "wrong"},
          {"max", report.errors.max},        {"noise", report.errors.noise},
          {"angles_off", report.angles_off}, {"cause", check::cause_text(report.causes)}};
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
  Json manifest = {{"format", "posenc conformance"},     {"version", 1},
                   {"positions", conformance_positions}, {"tables", Json::array()},
                   {"heads_before", Json::object()},     {"heads", Json::array()}};
  const auto add_file = [&](Json& entry, const std::string& name, DataType type,
                            const std::string& bytes) {
    write_all((folder / file_of(name, type)).string(), bytes);
    entry["sha256"][std::string(to_string(type))] = sha256_of(bytes);
  };
  for (const ConformanceTable& table : conformance_tables()) {
    Json entry = {{"name", table.name},
                  {"presets", table.presets},
                  {"d_model", table.spec.d_model},
                  {"base", table.spec.base},
                  {"layout", to_string(table.spec.layout)},
                  {"spacing", to_string(table.spec.spacing)},
                  {"frequencies", to_string(table.spec.frequencies)}};
    if (table.factor() != 1) entry["attention_factor"] = table.factor();
    for (const DataType type : all_data_types)
      add_file(entry, table.name, type, bytes_of(table, type));
    manifest["tables"].push_back(std::move(entry));
  }
  for (const ConformanceHeads& heads : conformance_heads()) {
    Json entry = json_of(heads);
    Json& before = manifest["heads_before"][before_of(heads)];
    for (const DataType type : head_types) {
      if (!before["sha256"].contains(to_string(type)))
        add_file(before, before_of(heads), type, bytes_of(heads, type, false));
      add_file(entry, heads.name, type, bytes_of(heads, type, true));
    }
    manifest["heads"].push_back(std::move(entry));
  }
  write_all((folder / "manifest.json").string(), manifest.dump(1) + "\n");
}

int check_conformance_set(const Options& options) {
  Json document = new_document();
  document["files"] = document["heads"] = Json::array();
  std::int64_t missing = 0;
  bool are_good = true;
  const auto add = [&](const char* list, const std::string& name, const auto& judge) {
    const std::filesystem::path file = std::filesystem::path(options.conformance) / name;
    if (!std::filesystem::exists(file)) {
      ++missing;
      return;
    }
    Json row = {{"file", name}};
    try {
      row.update(judge(file));
    } catch (const InvalidArgument& error) {  // the other files are judged all the same
      row.update(Json{{"good", false}, {"verdict", "not read"}, {"cause", error.what()}});
    }
    are_good = are_good && row["good"];
    document[list].push_back(std::move(row));
  };
  for (const ConformanceTable& table : conformance_tables())
    for (const DataType type : all_data_types)
      add("files", file_of(table.name, type),
          [&](const auto& file) { return verdict_on(file, table, type, options.max_error); });
  for (const ConformanceHeads& heads : conformance_heads())
    for (const DataType type : head_types)
      add("heads", file_of(heads.name, type),
          [&](const auto& file) { return verdict_on(file, heads, type, options.max_error); });
  document["good"] = are_good;
  document["missing"] = missing;
  const Json &files = document["files"], &heads = document["heads"];
  if (files.empty() && heads.empty())
    throw_invalid(
        "--conformance is '{}'; allowed: a folder with files of posenc generate --conformance",
        options.conformance);
  std::string page =
      table(files, {text("file", "/file"), text("verdict", "/verdict"),
                    number("max |error|", "/error/max_abs", error_text),
                    number("max ulp", "/error/max_ulp", ulp_text),
                    number("correctly rounded", "/correctly_rounded", percent_text)});
  page += "\n" + table(heads, {text("heads", "/file"), text("verdict", "/verdict"),
                               number("max |error| of an angle", "/max", error_text),
                               number("noise", "/noise", error_text),
                               number("angles off", "/angles_off", count_text)});
  for (const Json* const all : {&files, &heads})
    for (const Json& each : *all)
      if (!each.at("good"))
        page += wrapped("\n" + each.at("file").get<std::string>() + ": " +
                        each.at("cause").get<std::string>() + "\n");
  if (missing > 0) page += fmt::format("\n{} files of the set are not in the folder\n", missing);
  write_document(options, document, page);
  return are_good ? good : check_failed;
}

}  // namespace posenc::cli
