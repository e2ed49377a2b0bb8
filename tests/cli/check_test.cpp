// posenc check: formats of tables, its exit codes, its outputs, and the files it refuses.
#include "command.h"
#include "posenc/model/rotary.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace posenc::test {

using namespace model;
namespace {

/// The bytes of a table of shape (60, 32), in the format.
std::string generated(const std::string& format, const Arguments& more = {}) {
  return run_posenc(Arguments{"generate", "--rows", "60", "--d-model", "32", "--format", format} +
                    more)
      .out;
}

/// The bytes of cosines and of sines of 60 rows, of dimension 32.
std::pair<std::string, std::string> rotary_tables(Repeat repeat) {
  const std::int64_t columns = repeat == Repeat::once ? 16 : 32;
  Matrix cosines(60, columns), sines(60, columns);
  Rotary(32).cosines_and_sines(RowRange{0, 60}, repeat, cosines.view(), sines.view());
  return {bytes_of(cosines), bytes_of(sines)};
}

CommandResult run_check(const std::string& file, const Arguments& more = {}) {
  return run_posenc(Arguments{"check", file} + more);
}

void expect_exit(const CommandResult& result, int exit_code, const std::string& begin) {
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_THAT(result.out, StartsWith(begin));
  EXPECT_THAT(result.err, IsEmpty());
}

/// A .safetensors file.
std::string safetensors(const std::string& header, const std::string& elements) {
  const std::uint64_t size = header.size();
  return bytes_of(std::span(&size, 1)) + header + elements;
}

TEST(CheckCommand, ReadsEveryFormatAndType) {
  const ScratchFolder folder;
  for (const std::string format : {"npy", "safetensors"}) {
    for (const std::string type : {"float32", "float64", "float16", "bfloat16"}) {
      if (format == "npy" && type == "bfloat16") continue;  // `generate` does not write it
      const std::string file = folder / ("table." + format);
      write_file(file, generated(format, {"--dtype", type}));
      expect_exit(run_check(file), 0, "good: ");
    }
  }
  const std::string raw = folder / "table.raw";
  write_file(raw, generated("raw", {"--dtype", "bfloat16"}));
  expect_exit(run_check(raw, {"--d-model", "32", "--dtype", "bfloat16"}), 0, "good: ");
  expect_refused(run_check(raw), "--d-model");
  expect_refused(run_check(raw, {"--d-model", "31"}), "the file has 3840 bytes");
}

TEST(CheckCommand, JudgesByTheConventionAskedFor) {
  const ScratchFolder folder;
  const std::string file = folder / "table.npy";
  write_file(file, generated("npy"));
  expect_exit(run_check(file, {"--first", "0", "--layout", "interleaved"}), 0, "good: ");
  const CommandResult other = run_check(file, {"--base", "500000"});
  expect_exit(other, 1, "wrong: ");
  EXPECT_THAT(other.out, HasSubstr("cause: the base is 10000, not 500000"));
  expect_exit(run_check(file, {"--layout", "halves"}), 1, "wrong: ");
  expect_refused(run_check(file, {"--max-error", "0"}), "--max-error is '0'");
  write_file(file, generated("npy", {"--dtype", "float16"}));
  expect_exit(run_check(file, {"--max-error", "1e-2"}), 0, "good: ");
  expect_exit(run_check(file, {"--max-error", "1e-5"}), 1, "wrong: ");
}

/// Of a table that is something else than what is claimed, its values are right and it is wrong.
TEST(CheckCommand, AcceptsNothingElseThanWhatIsClaimed) {
  const ScratchFolder folder;
  const std::string twice = folder / "twice.raw", repeated = folder / "repeated.raw";
  write_file(twice, rotary_tables(Repeat::halves).first);
  write_file(repeated, rotary_tables(Repeat::interleaved).first);
  const Arguments tutorial = {"--preset", "tutorial", "--d-model", "32"};
  for (const std::string& file : {twice, repeated}) {
    const CommandResult claimed = run_check(file, tutorial);
    expect_exit(claimed, 1, "wrong: ");
    EXPECT_THAT(claimed.out, HasSubstr("not interleaved"));
    const bool is_twice = file == twice;
    expect_exit(run_check(file, tutorial + "--twice"), is_twice ? 0 : 1,
                is_twice ? "good: " : "wrong: ");
    expect_exit(run_check(file, tutorial + "--repeated"), is_twice ? 1 : 0,
                is_twice ? "wrong: " : "good: ");
  }
  expect_refused(run_check(twice, {"--twice", "--repeated"}), "--repeated");
}

TEST(CheckCommand, JudgesByThePositionsOfAFile) {
  const ScratchFolder folder;
  const std::string table = folder / "table.raw", positions = folder / "positions.npy";
  write_file(table, generated("raw"));
  const auto npy = [](std::int32_t last, const std::string& shape) {
    std::vector<std::int32_t> all(60);
    std::iota(all.begin(), all.end(), last - 59);
    return npy_file("<i4", shape, bytes_of(std::span(std::as_const(all))));
  };
  const Arguments more = {"--d-model", "32", "--positions", positions};
  write_file(positions, npy(59, "(60,)"));
  expect_exit(run_check(table, more), 0, "good");
  write_file(positions, npy(60, "(60,)"));
  expect_exit(run_check(table, more), 1, "wrong");
  for (const std::string shape : {"(59,)", "(2, 30)", "()"}) {
    write_file(positions, npy(59, shape));
    expect_refused(run_check(table, more), "--positions is");
  }
}

TEST(CheckCommand, JudgesTheCacheOfAModel) {
  const ScratchFolder folder;
  const std::string llama = folder / "llama.json", other = folder / "other.json",
                    cache = folder / "cache.npy";
  const std::string keys =
      R"({"model_type": "llama", "hidden_size": 256, "num_attention_heads": 4,)"
      R"("max_position_embeddings": 300, "rope_theta": )";
  write_file(llama, keys + "500000.0}");
  write_file(other, keys + "10000.0}");
  ASSERT_EQ(run_posenc({"generate", "--config", llama, "--output", cache}).exit_code, 0);
  EXPECT_EQ(run_posenc({"check", cache, "--config", llama}).exit_code, 0);
  const CommandResult wrong = run_posenc({"check", cache, "--config", other});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.out, HasSubstr("the base is 500000, not 10000"));
  expect_refused(run_posenc({"check", cache, "--config", llama, "--base", "5"}), "--config");
}

TEST(CheckCommand, JudgesRotatedHeads) {
  const ScratchFolder folder;
  std::vector<float> heads(60 * 4 * 32);
  for (std::size_t i = 0; i < heads.size(); ++i)
    heads[i] = static_cast<float>(i * 7919 % 1009) / 500 - 1;
  const auto write = [&](const std::string& file) {
    write_file(folder / file,
               npy_file("<f4", "(1, 60, 4, 32)", bytes_of(std::span(std::as_const(heads)))));
    return (folder / file).string();
  };
  const std::string before = write("before.npy");
  Rotary(32).apply(rows_first(heads.data(), 1, 60, 4, 32));
  const Arguments with = {"--rotated", before};
  const std::string after = write("after.npy");
  expect_exit(run_check(after, with), 0, "good: every angle is within 5.9");
  expect_exit(run_check(after, with + Arguments{"--base", "500000"}), 1, "wrong: ");
  const auto parsed = nlohmann::json::parse(
      run_check(after, with + Arguments{"--rotary", "interleaved", "--format", "json"}).out);
  EXPECT_EQ(parsed.at("causes").at(0).at("kind"), "other_arrangement");
  expect_refused(run_check(after, {"--rotary", "halves"}), "--rotary");
}

TEST(CheckCommand, ReadsOneOfSeveralTensors) {
  const ScratchFolder folder;
  const std::string file = folder / "table.safetensors";
  const auto [cosines, sines] = rotary_tables(Repeat::once);
  const std::string header =
      R"({"cosines":{"dtype":"F32","shape":[60,16],"data_offsets":[0,3840]},)"
      R"("sines":{"dtype":"F32","shape":[60,16],"data_offsets":[3840,7680]}})";
  write_file(file, safetensors(header, cosines + sines));
  expect_refused(run_check(file),
                 "2 tensors; allowed: one of them (give --tensor): cosines, sines");
  expect_refused(run_check(file, {"--tensor", "pe"}), "tensor is 'pe'; allowed: cosines, sines");
  expect_exit(run_check(file, {"--tensor", "cosines"}), 0, "good: ");
  expect_exit(run_check(file, {"--tensor", "sines"}), 0, "good: ");
}

TEST(CheckCommand, JsonHasAVersionAndTheFigures) {
  const ScratchFolder folder;
  const std::string file = folder / "table.npy", report = folder / "report.json";
  write_file(file, generated("npy", {"--first", "2"}));
  const CommandResult result = run_check(file, {"--format", "json", "--output", report});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, IsEmpty());
  const auto parsed = nlohmann::json::parse(read_file(report));
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

/// With one NaN, at the start of row 30.
TEST(CheckCommand, TheNameOfACacheSaysWhichFunctionItHolds) {
  const ScratchFolder folder;
  write_file(folder / "config.json", R"({"model_type": "llama", "head_dim": 64,
      "rope_theta": 10000.0, "max_position_embeddings": 300})");
  run_posenc({"generate", "--config", folder / "config.json", "--format", "raw", "--dtype",
              "float64", "--output", folder / "cache.raw"});
  const std::string cache = read_file(folder / "cache.raw");
  std::string cosines, sines;  // each half twice
  constexpr std::size_t half = 32 * sizeof(double);
  for (std::size_t row = 0; row < 300; ++row) {
    const std::string cosine = cache.substr(2 * row * half, half),
                      sine = cache.substr((2 * row + 1) * half, half);
    cosines += cosine + cosine;
    sines += sine + sine;
  }
  const auto judged = [&](const char* name, const std::string& elements) {
    write_file(folder / name, elements);
    return run_posenc({"check", folder / name, "--d-model", "64", "--dtype", "float64", "--config",
                       folder / "config.json"});
  };
  EXPECT_EQ(judged("cos_cached.raw", cosines).exit_code, 0);
  EXPECT_EQ(judged("sin_cached.raw", sines).exit_code, 0);
  for (const char* const other : {"table.raw", "missing.raw", "cos_sin_cache.raw"})
    EXPECT_EQ(judged(other, sines).exit_code, 0) << other;
  const auto exchanged = judged("cos_cached.raw", sines);
  EXPECT_EQ(exchanged.exit_code, 1);
  EXPECT_THAT(exchanged.out, HasSubstr("the table is sines_twice, not cosines_twice"));
}

TEST(CheckCommand, TakesTablesOverAxes) {
  const ScratchFolder folder;
  const std::string table = folder / "table.npy";
  run_posenc({"generate", "--axes", "flux", "--grid", "1,6,8", "--output", table});
  const auto judged = [&](const Arguments& options) {
    return run_posenc(Arguments{"check", table, "--format", "json"} + options);
  };
  EXPECT_EQ(judged({"--axes", "flux", "--grid", "1,6,8"}).exit_code, 0);
  const auto found = judged({});
  EXPECT_EQ(found.exit_code, 0);
  const auto identity = nlohmann::json::parse(found.out).at("identity");
  EXPECT_EQ(identity.at("axes").at("name"), "flux");
  EXPECT_EQ(identity.at("axes").at("grid").dump(), "[1,6,8]");
  const auto other = judged({"--axes", "wan", "--grid", "1,6,8"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_EQ(nlohmann::json::parse(other.out).at("verdict"), "wrong");
}

TEST(CheckCommand, NamesRowsOfNaN) {
  const ScratchFolder folder;
  const std::string file = folder / "table.raw";
  std::string bytes = generated("raw");
  bytes.replace(30 * 32 * 4, 4, std::string("\x00\x00\xc0\x7f", 4));
  write_file(file, bytes);
  const CommandResult result = run_check(file, {"--d-model", "32"});
  expect_exit(result, 1, "wrong: ");
  EXPECT_THAT(result.out, HasSubstr("row 30 has NaN or infinity"));
  std::string all;
  for (int i = 0; i < 60 * 32; ++i) all += std::string("\x00\x00\xc0\x7f", 4);
  write_file(file, all);
  expect_exit(run_check(file, {"--d-model", "32"}), 1, "not recognised: ");
  EXPECT_EQ(nlohmann::json::parse(run_check(file, {"--d-model", "32", "--format", "json"}).out)
                .at("entries_not_finite"),
            60 * 32);
}

TEST(CheckCommand, RefusesBadFiles) {
  const ScratchFolder folder;
  const auto refused = [&](const std::string& name, const std::string& content,
                           const std::string& reason) {
    const std::string file = folder / name;
    write_file(file, content);
    expect_refused(run_check(file), reason);
  };
  const std::string npy = generated("npy");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = npy;
    return text.replace(text.find(from), from.size(), to);
  };
  refused("a.npy", "", "the file is empty");
  refused("a.npy", "text", "not one of NumPy's");
  refused("a.npy", npy.substr(0, 9), "has 9 bytes; allowed: at least 10");
  refused("a.npy", npy.substr(0, 60), "the header of the .npy file has");
  refused("a.npy", npy.substr(0, npy.size() - 1), "allowed with shape (60, 32): 7680");
  refused("a.npy", with("<f4", "<i4"), "descr is '<i4'");
  const std::string half = generated("safetensors");
  refused("a.safetensors", half.substr(0, 5), "allowed: at least 8");
  refused("a.safetensors", half.substr(0, half.size() - 1), "data_offsets of tensor");
  refused("a.safetensors", safetensors("{}", ""), "none of the 0 tensors is a table");
  const std::string integers = safetensors(
      R"({"n": {"dtype": "I32", "shape": [1, 2], "data_offsets": [0, 8]}})", "12345678");
  refused("a.safetensors", integers, "none of the 1 tensors is a table");
  expect_refused(run_check(folder / "a.safetensors", {"--tensor", "n"}),
                 "dtype of tensor n is I32");
  expect_refused(run_check(folder / "none.npy"), "none.npy");
  std::filesystem::create_directory(folder / "folder.npy");
  expect_refused(run_check(folder / "folder.npy"), "a regular file");
}

}  // namespace
}  // namespace posenc::test
