// posenc check: formats of tables, its exit codes, its outputs, and the files it refuses.
#include "command.h"
#include "posenc/matrix.h"
#include "posenc/model/rotary.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace posenc::test {

using namespace model;
namespace {

/// The bytes of a table of shape (60, 32), in the format.
std::string generated(const std::string& format, const std::string& more = "") {
  return run_line("generate --rows 60 --d-model 32 --format " + format + " " + more).out;
}

/// A file, and the verdicts of posenc check on its contents.
class CheckCommand : public testing::Test {
 protected:
  CommandResult check(const std::string& more = "") const {
    return run_line("check " + file + " " + more);
  }
  void expect(const std::string& verdict, const std::string& more = "",
              const std::string& detail = "") const {
    const CommandResult result = check(more);
    EXPECT_EQ(result.exit_code, verdict == "good" ? 0 : 1) << result.err;
    EXPECT_THAT(result.out, AllOf(StartsWith(verdict + ": "), HasSubstr(detail))) << more;
    EXPECT_THAT(result.err, IsEmpty());
  }
  nlohmann::json json(const std::string& more = "") const {
    return json_of("check " + file + " " + more);
  }

  ScratchFolder folder;
  std::string file = folder / "table";
};

/// A .safetensors file.
std::string safetensors(const std::string& header, const std::string& elements) {
  const std::uint64_t size = header.size();
  return bytes_of(std::span(&size, 1)) + header + elements;
}

TEST_F(CheckCommand, ReadsEveryFormatAndType) {
  for (const std::string type : {"float32", "float64", "float16", "bfloat16"}) {
    for (const std::string format : {"npy", "safetensors"}) {
      if (format == "npy" && type == "bfloat16") continue;  // `generate` does not write it
      file = folder / ("table." + format);
      write_file(file, generated(format, "--dtype " + type));
      expect("good");
    }
  }
  file = folder / "table.raw";
  write_file(file, generated("raw", "--dtype bfloat16"));
  expect("good", "--d-model 32 --dtype bfloat16");
  expect_refused(check(), "--d-model");
  expect_refused(check("--d-model 31"), "the file has 3840 bytes");
}

TEST_F(CheckCommand, JudgesByTheConventionAskedFor) {
  write_file(file, generated("npy"));
  expect("good", "--first 0 --layout interleaved");
  expect("wrong", "--base 500000", "cause: the base is 10000, not 500000");
  expect("wrong", "--layout halves");
  write_file(file, generated("npy", "--dtype float16"));
  expect("good", "--max-error 1e-2");
  expect("wrong", "--max-error 1e-5");
}

/// If a table is something else than what is claimed, it is wrong, although its values are right.
TEST_F(CheckCommand, AcceptsNothingElseThanWhatIsClaimed) {
  const std::string tutorial = "--preset tutorial --d-model 32";
  for (const Repeat repeat : {Repeat::halves, Repeat::interleaved}) {
    Matrix cosines(60, 32), sines(60, 32);
    Rotary(32).cosines_and_sines(RowRange{0, 60}, repeat, cosines.view(), sines.view());
    write_file(file, bytes_of(cosines));
    const bool is_twice = repeat == Repeat::halves;
    expect("wrong", tutorial, "not interleaved");
    expect(is_twice ? "good" : "wrong", tutorial + " --twice");
    expect(is_twice ? "wrong" : "good", tutorial + " --repeated");
  }
}

TEST_F(CheckCommand, JudgesByThePositionsOfAFile) {
  write_file(file, generated("raw"));
  const std::string positions = folder / "positions.npy";
  const auto write = [&](std::int32_t last, const std::string& shape) {
    std::vector<std::int32_t> all(60);
    std::iota(all.begin(), all.end(), last - 59);
    write_file(positions, npy_file("<i4", shape, bytes_of(std::span(std::as_const(all)))));
  };
  const std::string more = "--d-model 32 --positions " + positions;
  write(59, "(60,)");
  expect("good", more);
  write(60, "(60,)");
  expect("wrong", more);
  for (const std::string shape : {"(59,)", "(2, 30)", "()"}) {
    write(59, shape);
    expect_refused(check(more), "--positions is");
  }
}

TEST_F(CheckCommand, JudgesTheCacheOfAModel) {
  const std::string llama = folder / "llama.json", other = folder / "other.json";
  const std::string keys =
      R"({"model_type": "llama", "hidden_size": 256, "num_attention_heads": 4,)"
      R"("max_position_embeddings": 300, "rope_theta": )";
  write_file(llama, keys + "500000.0}");
  write_file(other, keys + "10000.0}");
  ASSERT_EQ(run_line("generate --config " + llama + " --output " + file).exit_code, 0);
  expect("good", "--config " + llama);
  expect("wrong", "--config " + other, "the base is 500000, not 10000");
}

TEST_F(CheckCommand, JudgesRotatedHeads) {
  std::vector<float> heads(60 * 4 * 32);
  for (std::size_t i = 0; i < heads.size(); ++i)
    heads[i] = static_cast<float>(i * 7919 % 1009) / 500 - 1;
  const auto write = [&](const std::string& name) {
    write_file(name, npy_file("<f4", "(1, 60, 4, 32)", bytes_of(std::span(std::as_const(heads)))));
  };
  const std::string before = folder / "before.npy", rotated = "--rotated " + before;
  write(before);
  Rotary(32).apply(rows_first(heads.data(), 1, 60, 4, 32));
  write(file);
  expect("good", rotated, "every angle is within 5.9");
  expect("wrong", rotated + " --base 500000");
  EXPECT_EQ(json(rotated + " --rotary interleaved").at("causes").at(0).at("kind"),
            "other_arrangement");
}

TEST_F(CheckCommand, TakesStepsOffsetsAndGridsOfModels) {
  // Time steps 3, 3.75, 4.5, ... are multiples of 1/4.
  std::vector<std::int64_t> quarters;
  for (std::int64_t row = 0; row < 60; ++row) quarters.push_back(12 + 3 * row);
  Matrix table(60, 32);
  backend("rotation")
      .plan({.d_model = 32, .frequencies = LinearScaling{4}})
      ->encode(std::span(std::as_const(quarters)), table.view());
  write_file(file, npy_file("<f4", "(60, 32)", bytes_of(table)));
  expect("good", "--first 3 --step 0.75");
  expect("good", "--first 3 --step 0.75 --base 10000");
  expect("wrong", "--first 3 --step 0.5 --base 10000");
  expect("wrong", "--first 3 --step 0.75 --base 20000", "the base is 10000, not 20000");

  const std::string before = folder / "before.npy", config = folder / "config.json";
  std::vector<float> heads(48 * 4 * 128);
  for (std::size_t i = 0; i < heads.size(); ++i)
    heads[i] = static_cast<float>(i * 7919 % 1009) / 500 - 1;
  const auto write = [&](const std::string& name, const std::vector<float>& of) {
    write_file(name, npy_file("<f4", "(48, 4, 128)", bytes_of(std::span(of))));
  };
  write(before, heads);
  // The last 64 channels turn, at positions in steps of 1/4.
  std::vector<float> turned = heads;
  HeadsView view = rows_first(turned.data() + 64, 1, 48, 4, 128);
  view.columns = 64;
  Rotary(64, 10000, RotaryLayout::halves, LinearScaling{4}).apply(view);
  write(file, turned);
  expect("good", "--rotated " + before + " --offset 64 --step 0.25");
  expect("wrong", "--rotated " + before + " --d-model 64 --step 0.25",
         "the pairs of channels are (64 + k, 96 + k), halves, not (k, 32 + k), halves");
  expect_refused(check("--rotated " + before + " --offset 127"), "d_model is 1");

  write_file(config, R"({"model_type": "qwen2_5_vl", "hidden_size": 512, "num_attention_heads": 4,
      "rope_theta": 1000000.0, "max_position_embeddings": 300,
      "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}})");
  const std::string grid = " --config " + config + " --grid 2,4,6";
  const std::int64_t sizes[] = {2, 4, 6};
  const std::vector<std::int64_t> positions = grid_positions(sizes);
  turned = heads;
  Rotary({.angles = axes_in_sections({16, 24, 24}, {.d_model = 128, .base = 1e6})})
      .apply(rows_first(turned.data(), 1, 48, 4, 128), RowPositions(positions.data(), 3, 48, 48));
  write(file, turned);
  expect("good", "--rotated " + before + grid);
  expect("wrong", "--rotated " + before + " --config " + config);
  ASSERT_EQ(run_line("generate" + grid + " --format npy --output " + file).exit_code, 0);
  expect("good", grid, "3 axes in sections of 16, 24, 24");
  expect("wrong", " --config " + config + " --grid 2,6,4");
  expect_refused(check("--grid 1,2,3"), "--grid requires --axes");
  expect_refused(run_line("generate" + grid + " --rows 3"), "--rows is given with --grid");
}

TEST_F(CheckCommand, NamesTheLayersOfAModel) {
  const std::string before = folder / "before.npy", config = folder / "config.json";
  std::vector<float> heads(60 * 4 * 256);
  for (std::size_t i = 0; i < heads.size(); ++i)
    heads[i] = static_cast<float>(i * 7919 % 1009) / 500 - 1;
  const auto write = [&](const std::string& name) {
    write_file(name, npy_file("<f4", "(60, 4, 256)", bytes_of(std::span(std::as_const(heads)))));
  };
  write(before);
  Rotary(256).apply(rows_first(heads.data(), 1, 60, 4, 256));
  write(file);
  write_file(config, R"({"model_type": "gemma3_text", "hidden_size": 3840, "head_dim": 256,
      "num_attention_heads": 16, "max_position_embeddings": 131072, "rope_theta": 1000000,
      "rope_local_base_freq": 10000, "sliding_window": 1024, "sliding_window_pattern": 6,
      "rope_scaling": {"factor": 8.0, "rope_type": "linear"}})");
  const std::string rotated = "--rotated " + before + " --config " + config + " --layers ";
  expect("good", rotated + "sliding_attention");
  expect("wrong", rotated + "full_attention",
         "the rotary embedding is that of the layers sliding_attention");
}

TEST_F(CheckCommand, ReadsOneOfSeveralTensors) {
  Matrix cosines(60, 16), sines(60, 16);
  Rotary(32).cosines_and_sines(RowRange{0, 60}, Repeat::once, cosines.view(), sines.view());
  const std::string header =
      R"({"cosines":{"dtype":"F32","shape":[60,16],"data_offsets":[0,3840]},)"
      R"("sines":{"dtype":"F32","shape":[60,16],"data_offsets":[3840,7680]}})";
  file = folder / "table.safetensors";
  write_file(file, safetensors(header, bytes_of(cosines) + bytes_of(sines)));
  expect_refused(check(), "2 tensors; allowed: one of them (give --tensor): cosines, sines");
  expect_refused(check("--tensor pe"), "tensor is 'pe'; allowed: cosines, sines");
  expect("good", "--tensor cosines");
  expect("good", "--tensor sines");
}

TEST_F(CheckCommand, JsonHasAVersionAndTheFigures) {
  write_file(file, generated("npy", "--first 2"));
  const nlohmann::json parsed = json();
  EXPECT_EQ(parsed.at("version"), 1);
  EXPECT_EQ(parsed.at("good"), true);
  EXPECT_EQ(parsed.at("table"),
            (nlohmann::json{{"rows", 60}, {"columns", 32}, {"dtype", "float32"}}));
  EXPECT_EQ(parsed.at("identity").at("first"), 2);
  EXPECT_EQ(parsed.at("entries_off"), 0);
  EXPECT_EQ(parsed.at("correctly_rounded"), 1.0);
  EXPECT_LE(parsed.at("error").at("max_abs"), 0x1p-25);
  EXPECT_THAT(parsed.at("causes"), IsEmpty());
}

TEST_F(CheckCommand, TheNameOfACacheSaysWhichFunctionItHolds) {
  const std::string config = folder / "config.json";
  write_file(config, R"({"model_type": "llama", "head_dim": 64,
      "rope_theta": 10000.0, "max_position_embeddings": 300})");
  Matrix cosines(300, 64), sines(300, 64);
  Rotary(64).cosines_and_sines(RowRange{0, 300}, Repeat::halves, cosines.view(), sines.view());
  const auto judged = [&](const std::string& name, const Matrix& table) {
    write_file(folder / name, bytes_of(table));
    return run_line("check " + (folder / name).string() + " --d-model 64 --config " + config);
  };
  EXPECT_EQ(judged("cos_cached.raw", cosines).exit_code, 0);
  EXPECT_EQ(judged("sin_cached.raw", sines).exit_code, 0);
  for (const char* const other : {"table.raw", "missing.raw", "cos_sin_cache.raw"})
    EXPECT_EQ(judged(other, sines).exit_code, 0) << other;
  const auto exchanged = judged("cos_cached.raw", sines);
  EXPECT_EQ(exchanged.exit_code, 1);
  EXPECT_THAT(exchanged.out, HasSubstr("the table is sines_twice, not cosines_twice"));
}

TEST_F(CheckCommand, TakesTablesOverAxes) {
  run_line("generate --format npy --axes flux --grid 1,6,8 --output " + file);
  expect("good", "--axes flux --grid 1,6,8");
  expect("wrong", "--axes wan --grid 1,6,8");
  const auto identity = json().at("identity");
  EXPECT_EQ(identity.at("axes").at("name"), "flux");
  EXPECT_EQ(identity.at("axes").at("grid").dump(), "[1,6,8]");
}

TEST_F(CheckCommand, NamesRowsOfNaN) {
  const std::string nan_bytes("\x00\x00\xc0\x7f", 4);
  std::string bytes = generated("raw");
  bytes.replace(30 * 32 * 4, 4, nan_bytes);
  write_file(file, bytes);
  expect("wrong", "--d-model 32", "row 30 has NaN or infinity");
  for (std::size_t i = 0; i < bytes.size(); i += 4) bytes.replace(i, 4, nan_bytes);
  write_file(file, bytes);
  expect("not recognised", "--d-model 32");
  EXPECT_EQ(json("--d-model 32").at("entries_not_finite"), 60 * 32);
}

TEST_F(CheckCommand, RefusesBadFiles) {
  const std::string npy = generated("npy"), tensors = generated("safetensors"),
                    integers = safetensors(
                        R"({"n": {"dtype": "I32", "shape": [1, 2], "data_offsets": [0, 8]}})",
                        "12345678");
  std::string of_integers = npy;
  of_integers.replace(of_integers.find("<f4"), 3, "<i4");
  for (const auto& [name, content, reason] : std::vector<std::array<std::string, 3>>{
           {"a.npy", "", "the file is empty"},
           {"a.npy", "text", "not in NumPy's format"},
           {"a.npy", npy.substr(0, 9), "has 9 bytes; allowed: at least 10"},
           {"a.npy", npy.substr(0, 60), "the header of the .npy file has"},
           {"a.npy", npy.substr(0, npy.size() - 1), "allowed with shape (60, 32): 7680"},
           {"a.npy", of_integers, "descr is '<i4'"},
           {"a.safetensors", tensors.substr(0, 5), "allowed: at least 8"},
           {"a.safetensors", tensors.substr(0, tensors.size() - 1), "data_offsets of tensor"},
           {"a.safetensors", safetensors("{}", ""), "none of the 0 tensors is a table"},
           {"a.safetensors", integers, "none of the 1 tensors is a table"}}) {
    write_file(folder / name, content);
    expect_refused(run_posenc({"check", folder / name}), reason);
  }
  expect_refused(run_posenc({"check", folder / "a.safetensors", "--tensor", "n"}),
                 "dtype of tensor n is I32");
  expect_refused(check(), file);
}

TEST(CheckModel, JudgesTheFrequenciesAndCachesOfAModel) {
  const ScratchFolder folder;
  const std::string config = folder / "config.json", file = folder / "model.safetensors";
  write_file(config, R"({"model_type": "llama", "hidden_size": 8, "num_attention_heads": 1,
      "rope_theta": 5e5, "max_position_embeddings": 64})");
  const Rotary rotary(8, 5e5);
  Matrix cosines(64, 8), sines(64, 8);
  rotary.cosines_and_sines(RowRange{0, 64}, Repeat::halves, cosines.view(), sines.view());
  const auto frequencies = [](double base) {
    std::string bytes;
    for (int k = 0; k < 4; ++k) {
      const auto each = static_cast<float>(std::pow(base, -k / 4.0));
      bytes.append(reinterpret_cast<const char*>(&each), sizeof each);
    }
    return bytes;
  };
  const auto write = [&](const std::string& inv_freq, const std::string& cos) {
    std::string header, data;
    const auto add = [&](const char* name, const char* shape, const std::string& bytes) {
      header += header.empty() ? "{" : ", ";
      header += "\"" + std::string(name) + R"(": {"dtype": "F32", "shape": [)" + shape +
                R"(], "data_offsets": [)" + std::to_string(data.size()) + ", " +
                std::to_string(data.size() + bytes.size()) + "]}";
      data += bytes;
    };
    add("model.rotary_emb.inv_freq", "4", inv_freq);
    add("model.layers.0.cos_cached", "64, 8", cos);
    add("model.layers.0.sin_cached", "64, 8", bytes_of(sines));
    add("model.layers.0.q_proj.weight", "2, 2", std::string(16, '\0'));
    header += "}";
    std::string length;
    for (int i = 0; i < 8; ++i)
      length += static_cast<char>(i < 2 ? header.size() >> (8 * i) & 255 : 0);
    write_file(file, length + header + data);
  };
  const std::string line = "check " + file + " --config " + config;
  write(frequencies(5e5), bytes_of(cosines));
  EXPECT_EQ(run_line(line).exit_code, 0) << run_line(line).out;
  EXPECT_THAT(run_line(line).out, HasSubstr("3 tensors of frequencies and rotary caches, 0 of them "
                                            "wrong"));
  write(frequencies(1e4), bytes_of(sines));
  const CommandResult wrong = run_line(line);
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.out, AllOf(HasSubstr("3 tensors of frequencies and rotary caches, 2 of them"),
                               HasSubstr("model.rotary_emb.inv_freq  wrong"),
                               HasSubstr("frequencies are those of base 10000"),
                               HasSubstr("model.layers.0.sin_cached  right")));
  const json document = json_of(line);
  ASSERT_EQ(document.at("tensors").size(), 3U);
  write(std::string(16, '\0'), bytes_of(cosines));
  EXPECT_THAT(run_line(line).out, HasSubstr("frequencies 0 .. 3 are zero or nearly zero"));
}

TEST(CheckModel, KnowsKindsOfLayersAndTheLengthOfItsOwnCaches) {
  const ScratchFolder folder;
  const std::string config = folder / "config.json", file = folder / "cache.safetensors";
  write_file(config, R"({"model_type": "modernbert", "hidden_size": 128, "num_attention_heads": 2,
      "max_position_embeddings": 64})");
  for (const char* const base : {"1e4", "1.6e5"}) {
    std::string inv_freq;
    for (int k = 0; k < 32; ++k) {
      const auto each = static_cast<float>(std::pow(std::stod(base), -k / 32.0));
      inv_freq.append(reinterpret_cast<const char*>(&each), sizeof each);
    }
    const std::string header =
        R"({"layers.1.rotary_emb.inv_freq": {"dtype": "F32", "shape": [32], )"
        R"("data_offsets": [0, 128]}, "vision_tower.inv_freq": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})";
    write_file(file, std::string(1, static_cast<char>(header.size())) + std::string(7, '\0') +
                         header + inv_freq);
    const std::string line = "check " + file + " --config " + config;
    EXPECT_EQ(run_line(line).exit_code, 0) << run_line(line).out;
    EXPECT_EQ(run_line(line + " --layers sliding_attention").exit_code,
              std::string_view(base) == "1e4" ? 0 : 1);
    expect_refused(run_line(line + " --layers zz"), "layers is 'zz'; allowed for modernbert");
  }
  write_file(config, R"({"model_type": "llama", "hidden_size": 16, "num_attention_heads": 2,
      "max_position_embeddings": 32, "rope_scaling": {"rope_type": "dynamic", "factor": 2.0}})");
  const std::string cache = folder / "own.safetensors";
  ASSERT_EQ(run_line("generate --config " + config + " --rows 64 --output " + cache).exit_code, 0);
  EXPECT_EQ(run_line("check " + cache + " --config " + config).exit_code, 0);
}

}  // namespace
}  // namespace posenc::test
