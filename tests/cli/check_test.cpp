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
#include <vector>

namespace posenc::test {

using namespace model;
namespace {

/// The bytes of a table of shape (60, 32), in the format.
std::string generated(const std::string& format, const std::string& more = "") {
  return run_line("generate --rows 60 --d-model 32 --format " + format + " " + more).out;
}

struct FileTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::string bytes;
  std::string dtype = "F32";
};

/// A .safetensors file.
std::string safetensors(const std::vector<FileTensor>& tensors) {
  auto header = nlohmann::json::object();
  std::string data;
  for (const auto& [name, shape, bytes, dtype] : tensors) {
    header[name] = {{"dtype", dtype},
                    {"shape", shape},
                    {"data_offsets", {data.size(), data.size() + bytes.size()}}};
    data += bytes;
  }
  const std::uint64_t size = header.dump().size();
  return bytes_of(std::span(&size, 1)) + header.dump() + data;
}

/// The elements of a cache.
struct Cache {
  std::string cosines, sines;
};
Cache cache_of(const Rotary& rotary, std::int64_t rows, Repeat repeat) {
  const std::int64_t columns = rotary.dimension() / (repeat == Repeat::once ? 2 : 1);
  Matrix cosines(rows, columns), sines(rows, columns);
  rotary.cosines_and_sines(RowRange{0, rows}, repeat, cosines.view(), sines.view());
  return {bytes_of(cosines), bytes_of(sines)};
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
  nlohmann::json report(const std::string& more = "") const {
    return json_of("check " + file + " " + more);
  }
  /// The option --config, with a file of this text.
  std::string config(const std::string& text) const {
    write_file(folder / "config.json", text);
    return " --config " + (folder / "config.json").string();
  }

  ScratchFolder folder;
  std::string file = folder / "table";
};

TEST_F(CheckCommand, ReadsEveryFormat) {
  for (const auto& [format, type, more] : std::vector<std::array<std::string, 3>>{
           {"npy", "float16", ""},
           {"safetensors", "float64", ""},
           {"raw", "bfloat16", "--d-model 32 --dtype bfloat16"}}) {
    file = folder / ("table." + format);
    write_file(file, generated(format, "--dtype " + type));
    expect("good", more);
  }
  expect_refused(check(), "--d-model");
  expect_refused(check("--d-model 31"), "the file has 3840 bytes");
}

TEST_F(CheckCommand, JudgesByWhatIsClaimed) {
  const std::string shape = "--rows 60 --d-model 32 ", half = shape + "--dtype float16",
                    // Positions 3, 3.25, 3.5, ... are multiples of 1/4.
      quarters = shape + "--first 12 --frequencies linear:factor=4",
                    grid = "--axes flux --grid 1,6,8";
  for (const auto& [table, claim, verdict, detail] : std::vector<std::array<std::string, 4>>{
           {shape, "--first 0 --layout interleaved", "good", ""},
           {shape, "--base 500000", "wrong", "cause: the base is 10000, not 500000"},
           {shape, "--layout halves", "wrong", ""},
           {half, "--max-error 1e-2", "good", ""},
           {half, "--max-error 1e-5", "wrong", ""},
           {quarters, "--first 3 --step 0.25", "good", ""},
           {quarters, "--first 3 --step 0.25 --base 10000", "good", ""},
           {quarters, "--first 3 --step 0.5 --base 10000", "wrong", ""},
           {quarters, "--first 3 --step 0.25 --base 20000", "wrong", "is 10000, not 20000"},
           {grid, "--axes wan --grid 1,6,8", "wrong", ""},
           {grid, grid, "good", ""}}) {
    run_line("generate --format npy --output " + file + " " + table);
    expect(verdict, claim, detail);
  }
  EXPECT_EQ(report().at("identity").at("axes").dump(), R"({"grid":[1,6,8],"name":"flux"})");
}

/// If a table is something else than what is claimed, it is wrong, although its values are right.
TEST_F(CheckCommand, AcceptsNothingElseThanWhatIsClaimed) {
  const std::string tutorial = "--preset tutorial --d-model 32";
  for (const Repeat repeat : {Repeat::halves, Repeat::interleaved}) {
    write_file(file, cache_of(Rotary(32), 60, repeat).cosines);
    const bool is_twice = repeat == Repeat::halves;
    expect("wrong", tutorial, "not interleaved");
    expect(is_twice ? "good" : "wrong", tutorial + " --twice");
    expect(is_twice ? "wrong" : "good", tutorial + " --repeated");
  }
}

TEST_F(CheckCommand, JudgesByThePositionsOfAFile) {
  write_file(file, generated("raw"));
  const std::string positions = folder / "positions.npy";
  const auto judged = [&](auto last, const std::string& descr, const std::string& shape) {
    std::vector<decltype(last)> all(60);
    std::iota(all.begin(), all.end(), last - 59);
    write_file(positions, npy_file(descr, shape, bytes_of(std::span<const decltype(last)>(all))));
    return check("--d-model 32 --positions " + positions);
  };
  EXPECT_EQ(judged(std::int64_t{59}, "<i8", "(60,)").exit_code, 0);
  EXPECT_EQ(judged(std::int32_t{59}, "<i4", "(60,)").exit_code, 0);
  EXPECT_EQ(judged(std::int32_t{60}, "<i4", "(60,)").exit_code, 1);
  for (const std::string shape : {"(59,)", "(2, 30)", "()"})
    expect_refused(judged(std::int32_t{59}, "<i4", shape), "--positions is");
}

/// The name of a cache says which function it holds.
TEST_F(CheckCommand, JudgesTheCacheOfAModel) {
  const std::string keys = R"({"model_type": "llama", "head_dim": 64,
      "max_position_embeddings": 300, "rope_theta": )";
  const std::string model = "--d-model 64" + config(keys + "10000.0}");
  const auto [cosines, sines] = cache_of(Rotary(64), 300, Repeat::halves);
  const auto write = [&](const std::string& name, const std::string& content) {
    file = folder / name;
    write_file(file, content);
  };
  for (const char* const name :
       {"sin_cached.raw", "table.raw", "missing.raw", "cos_sin_cache.raw"}) {
    write(name, sines);
    expect("good", model);
  }
  write("cos_cached.raw", sines);
  expect("wrong", model, "the table is sines_twice, not cosines_twice");
  write("cos_cached.raw", cosines);
  expect("good", model);
  config(keys + "500000.0}");
  expect("wrong", model, "the base is 10000, not 500000");
}

TEST_F(CheckCommand, ReadsOneOfSeveralTensors) {
  file = folder / "table.safetensors";
  const auto [cosines, sines] = cache_of(Rotary(32), 60, Repeat::once);
  write_file(file, safetensors({{"cosines", {60, 16}, cosines}, {"sines", {60, 16}, sines}}));
  expect_refused(check(), "2 tensors; allowed: one of them (give --tensor): cosines, sines");
  expect_refused(check("--tensor pe"), "tensor is 'pe'; allowed: cosines, sines");
  expect("good", "--tensor cosines");
  expect("good", "--tensor sines");
  file = folder / "table.npy";
  write_file(file, generated("npy"));
  expect_refused(check("--tensor sines"), "--tensor is 'sines'; allowed: only with a .saf");
}

TEST_F(CheckCommand, JsonHasAVersionAndTheFigures) {
  write_file(file, generated("npy", "--first 2"));
  const nlohmann::json parsed = report();
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

TEST_F(CheckCommand, DoesNotRecogniseNaN) {
  std::string bytes;
  for (int i = 0; i < 60 * 32; ++i) bytes.append("\x00\x00\xc0\x7f", 4);
  write_file(file, bytes);
  expect("not recognised", "--d-model 32");
  EXPECT_EQ(report("--d-model 32").at("entries_not_finite"), 60 * 32);
}

TEST_F(CheckCommand, RefusesBadFiles) {
  const std::string npy = generated("npy"), tensors = generated("safetensors"),
                    integers = safetensors({{"n", {1, 2}, "12345678", "I32"}});
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
           {"a.safetensors", safetensors({}), "none of the 0 tensors is a table"},
           {"a.safetensors", integers, "none of the 1 tensors is a table"}}) {
    write_file(folder / name, content);
    expect_refused(run_posenc({"check", folder / name}), reason);
  }
  expect_refused(run_posenc({"check", folder / "a.safetensors", "--tensor", "n"}),
                 "dtype of tensor n is I32");
  expect_refused(check(), file);
}

/// Heads of shape (48, 4, 128), before a kernel and after it.
class CheckRotatedFiles : public CheckCommand {
 protected:
  CheckRotatedFiles() {
    for (std::size_t i = 0; i < heads.size(); ++i)
      heads[i] = static_cast<float>(i * 7919 % 1009) / 500 - 1;
    write(before);
  }
  void write(const std::string& name) const {
    write_file(name, npy_file("<f4", "(48, 4, 128)", bytes_of(std::span<const float>(heads))));
  }

  std::vector<float> heads = std::vector<float>(48 * 4 * 128);
  HeadsView view = rows_first(heads.data(), 1, 48, 4, 128);
  const std::string before = folder / "before.npy", rotated = "--rotated " + before;
};

TEST_F(CheckRotatedFiles, JudgesByTheEmbeddingAskedFor) {
  Rotary(128).apply(view);
  write(file);
  expect("good", rotated, "every angle is within 5.9");
  expect("wrong", rotated + " --base 500000");
  EXPECT_EQ(report(rotated + " --rotary interleaved").at("causes").at(0).at("kind"),
            "other_arrangement");
}

TEST_F(CheckRotatedFiles, TakesOffsetsAndSteps) {
  // The last 64 channels turn, at positions in steps of 1/4.
  view.data = heads.data() + 64;
  view.columns = 64;
  Rotary(64, 10000, RotaryLayout::halves, LinearScaling{4}).apply(view);
  write(file);
  expect("good", rotated + " --offset 64 --step 0.25");
  expect("wrong", rotated + " --d-model 64 --step 0.25",
         "the pairs of channels are (64 + k, 96 + k), halves, not (k, 32 + k), halves");
  expect_refused(check(rotated + " --offset 127"), "d_model is 1");
}

TEST_F(CheckRotatedFiles, TakesGridsOfModelsAsTablesDo) {
  const std::string model = config(R"({"model_type": "qwen2_5_vl", "hidden_size": 512,
      "num_attention_heads": 4, "rope_theta": 1000000.0, "max_position_embeddings": 300,
      "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}})");
  const std::int64_t sizes[] = {2, 4, 6};
  const std::vector<std::int64_t> positions = grid_positions(sizes);
  Rotary({.angles = axes_in_sections({16, 24, 24}, {.d_model = 128, .base = 1e6})})
      .apply(view, RowPositions(positions.data(), 3, 48, 48));
  write(file);
  expect("good", rotated + model + " --grid 2,4,6");
  expect("wrong", rotated + model);
  const std::string generate = "generate --format npy --grid 2,4,6" + model + " --output " + file;
  ASSERT_EQ(run_line(generate).exit_code, 0);
  expect("good", model + " --grid 2,4,6", "3 axes in sections of 16, 24, 24");
  expect("wrong", model + " --grid 2,6,4");
  expect_refused(check("--grid 1,2,3"), "--grid requires --axes");
  expect_refused(run_line(generate + " --rows 3"), "--rows is given with --grid");
}

TEST_F(CheckRotatedFiles, NamesTheLayersOfAModel) {
  const std::string model = config(R"({"model_type": "gemma3_text", "hidden_size": 3840,
      "head_dim": 128, "num_attention_heads": 16, "max_position_embeddings": 131072,
      "rope_theta": 1000000, "rope_local_base_freq": 10000, "sliding_window": 1024,
      "sliding_window_pattern": 6, "rope_scaling": {"factor": 8.0, "rope_type": "linear"}})");
  Rotary(128).apply(view);
  write(file);
  expect("good", rotated + model + " --layers sliding_attention");
  expect("wrong", rotated + model + " --layers full_attention",
         "the rotary embedding is that of the layers sliding_attention");
}

/// A .safetensors file of a model.
class CheckModel : public CheckCommand {
 protected:
  CheckModel() { file = folder / "model.safetensors"; }
  /// Frequencies in float32, in the order of a file.
  static std::string inv_freq(double base, int count) {
    std::vector<float> all;
    for (int k = 0; k < count; ++k)
      all.push_back(static_cast<float>(std::pow(base, -1.0 * k / count)));
    return bytes_of(std::span<const float>(all));
  }
};

TEST_F(CheckModel, JudgesTheFrequenciesAndCachesOfAModel) {
  const std::string model = config(R"({"model_type": "llama", "hidden_size": 8,
      "num_attention_heads": 1, "rope_theta": 5e5, "max_position_embeddings": 64})");
  const Cache cache = cache_of(Rotary(8, 5e5), 64, Repeat::halves);
  const auto judged = [&](const std::string& frequencies, const std::string& cos_cached) {
    write_file(file,
               safetensors({{"model.rotary_emb.inv_freq", {4}, frequencies},
                            {"model.layers.0.cos_cached", {64, 8}, cos_cached},
                            {"model.layers.0.sin_cached", {64, 8}, cache.sines},
                            {"model.layers.0.q_proj.weight", {2, 2}, std::string(16, '\0')}}));
    return check(model);
  };
  const CommandResult right = judged(inv_freq(5e5, 4), cache.cosines);
  EXPECT_EQ(right.exit_code, 0) << right.out;
  EXPECT_THAT(right.out, StartsWith("3 tensors of frequencies and rotary caches, 0 of them wrong"));
  const CommandResult wrong = judged(inv_freq(1e4, 4), cache.sines);
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.out, AllOf(HasSubstr("3 tensors of frequencies and rotary caches, 2 of them"),
                               HasSubstr("model.rotary_emb.inv_freq  wrong"),
                               HasSubstr("frequencies are those of base 10000"),
                               HasSubstr("model.layers.0.sin_cached  good")));
  EXPECT_EQ(report(model).at("tensors").size(), 3U);
  // A cache as Transformers computes it is right, but inexact.
  std::vector<float> phases_in_float32;
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < 8; ++column)
      phases_in_float32.push_back(std::cos(
          static_cast<float>(row) * static_cast<float>(std::pow(5e5, -0.25 * (column % 4)))));
  const CommandResult inexact =
      judged(inv_freq(5e5, 4), bytes_of(std::span<const float>(phases_in_float32)));
  EXPECT_EQ(inexact.exit_code, 0);
  EXPECT_THAT(inexact.out, AllOf(HasSubstr("caches, 0 of them wrong"),
                                 HasSubstr("model.layers.0.cos_cached  inexact"),
                                 HasSubstr("phases in float32")));
  EXPECT_THAT(judged(std::string(16, '\0'), cache.cosines).out,
              HasSubstr("frequencies 0 .. 3 are zero or nearly zero"));
}

TEST_F(CheckModel, KnowsKindsOfLayers) {
  const std::string model = config(R"({"model_type": "modernbert", "hidden_size": 128,
      "num_attention_heads": 2, "max_position_embeddings": 64})");
  for (const bool is_sliding : {false, true}) {
    write_file(
        file,
        safetensors({{"layers.1.rotary_emb.inv_freq", {32}, inv_freq(is_sliding ? 1e4 : 1.6e5, 32)},
                     {"vision_tower.inv_freq", {1}, "1234"}}));
    EXPECT_EQ(check(model).exit_code, 0) << check(model).out;
    EXPECT_EQ(check(model + " --layers sliding_attention").exit_code, is_sliding ? 0 : 1);
    expect_refused(check(model + " --layers zz"), "layers is 'zz'; allowed for modernbert");
  }
}

TEST_F(CheckModel, KnowsTheLengthOfItsOwnCaches) {
  const std::string model = config(R"({"model_type": "llama", "hidden_size": 16,
      "num_attention_heads": 2, "max_position_embeddings": 32,
      "rope_scaling": {"rope_type": "dynamic", "factor": 2.0}})");
  ASSERT_EQ(run_line("generate --rows 64 --output " + file + model).exit_code, 0);
  expect("good", model);
}

}  // namespace
}  // namespace posenc::test
