// posenc check: files of every format, its exit codes, and what it prints.
#include "command.h"
#include "posenc/data_type.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <utility>

namespace posenc {
namespace {

using test::Arguments;
using test::CommandResult;
using test::expect_refused;
using test::operator+;
using test::read_file;
using test::run_posenc;
using test::ScratchFolder;
using test::write_file;
using testing::HasSubstr;
using testing::StartsWith;

/// Writes a table by posenc generate, and returns its path.
std::string generated(const ScratchFolder& folder, const std::string& name,
                      const Arguments& options) {
  const std::string file = (folder / name).string();
  const CommandResult result = run_posenc(
      Arguments{"generate", "--rows", "300", "--d-model", "64", "--output", file} + options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return file;
}

/// The lines of a report that is printed, none of which is longer than a page is wide.
std::string checked(const Arguments& arguments, int exit_code) {
  const CommandResult result = run_posenc(Arguments{"check"} + arguments);
  EXPECT_EQ(result.exit_code, exit_code) << result.err << result.out;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  return result.out;
}

TEST(CheckCommand, FindsGoodTablesInEveryFormatAndType) {
  const ScratchFolder folder;
  for (const DataType type : all_data_types) {
    const std::string dtype(to_string(type));
    const Arguments options = {"--dtype", dtype, "--preset", "fairseq"};
    const std::string tensors = generated(folder, dtype + ".safetensors", options),
                      raw = generated(folder, dtype + ".raw", options);
    EXPECT_THAT(checked({tensors}, 0), StartsWith("good: "));
    EXPECT_THAT(checked({raw, "--dtype", dtype, "--d-model", "64"}, 0),
                HasSubstr("300 x 64 of " + dtype + ", halves, positions 2 .. 301"));
    if (type == DataType::bfloat16) continue;
    EXPECT_THAT(checked({generated(folder, dtype + ".npy", options), "--preset", "fairseq"}, 0),
                HasSubstr("cause: none, the table is good"));
  }
}

TEST(CheckCommand, NamesWhatIsWrong) {
  const ScratchFolder folder;
  const std::string phases = generated(folder, "phases.npy", {"--like", "tutorial"}),
                    shifted = generated(folder, "shifted.npy", {"--first", "1"});
  EXPECT_THAT(checked({phases}, 1), HasSubstr("phases in float32, as PyTorch's tutorial"));
  EXPECT_THAT(checked({phases, "--max-error", "1e-3"}, 0), StartsWith("good: "));
  EXPECT_THAT(checked({shifted}, 0), HasSubstr("positions 1 .. 300"));
  EXPECT_THAT(checked({shifted, "--preset", "tutorial"}, 1),
              HasSubstr("cause: the first row is position 1, not 0"));
}

TEST(CheckCommand, JudgesTheCacheOfAModel) {
  const ScratchFolder folder;
  const std::string llama = (folder / "llama.json").string(),
                    other = (folder / "other.json").string();
  const std::string keys =
      R"({"model_type": "llama", "hidden_size": 256, "num_attention_heads": 4,)"
      R"("max_position_embeddings": 300, "rope_theta": )";
  write_file(llama, keys + "500000.0}");
  write_file(other, keys + "10000.0}");
  const std::string cache = (folder / "cache.npy").string();
  ASSERT_EQ(run_posenc({"generate", "--config", llama, "--output", cache}).exit_code, 0);
  EXPECT_THAT(checked({cache, "--config", llama}, 0), StartsWith("good: "));
  EXPECT_THAT(checked({cache, "--config", other}, 1), HasSubstr("the base is 500000, not 10000"));
  expect_refused(run_posenc({"check", cache, "--config", llama, "--base", "5"}), "--config");
}

TEST(CheckCommand, WritesJson) {
  const ScratchFolder folder;
  const std::string table = generated(folder, "table.npy", {"--like", "transformers"}),
                    report = (folder / "report.json").string();
  EXPECT_EQ(run_posenc({"check", table, "--output", report}).exit_code, 1);
  const auto document = nlohmann::json::parse(read_file(report));
  EXPECT_EQ(document.at("version"), 1);
  EXPECT_EQ(document.at("good"), false);
  EXPECT_EQ(document.at("table").at("rows"), 300);
  EXPECT_EQ(document.at("causes").at(0).at("kind"), "float32_phases");
}

TEST(CheckCommand, TakesATensorByName) {
  const ScratchFolder folder;
  const std::string file = (folder / "apart.safetensors").string();
  ASSERT_EQ(run_posenc({"generate", "--rows", "300", "--d-model", "64", "--rotary", "apart",
                        "--repeat", "halves", "--output", file})
                .exit_code,
            0);
  EXPECT_THAT(checked({file, "--tensor", "cosines"}, 0), HasSubstr("cosines_twice"));
  EXPECT_THAT(checked({file, "--tensor", "sines"}, 0), HasSubstr("sines_twice"));
  const CommandResult ambiguous = run_posenc({"check", file});
  expect_refused(ambiguous, "cosines");
  expect_refused(run_posenc({"check", file, "--tensor", "pe"}), "pe");
}

TEST(CheckCommand, RefusesWhatIsNoTable) {
  const ScratchFolder folder;
  const auto refused = [&](const std::string& name, const std::string& content,
                           const Arguments& options = {}) {
    const std::string file = (folder / name).string();
    write_file(file, content);
    SCOPED_TRACE(name);
    expect_refused(run_posenc(Arguments{"check", file} + options), "");
  };
  const std::string table = read_file(generated(folder, "good.npy", {}));
  refused("empty.npy", "");
  refused("empty.safetensors", "");
  refused("text.npy", "positions, sines, cosines");
  refused("truncated.npy", table.substr(0, table.size() - 1));
  refused("header.npy", table.substr(0, 20));
  refused("longer.npy", table + "x");
  std::string of_integers = table;
  of_integers.replace(of_integers.find("<f4"), 3, "<i4");
  refused("integers.npy", of_integers);
  const std::string tensors = read_file(generated(folder, "good.safetensors", {}));
  refused("truncated.safetensors", tensors.substr(0, tensors.size() - 1));
  refused("huge.safetensors", std::string(7, '\xff') + '\x7f' + tensors.substr(8));
  refused("raw.raw", "abc", {"--d-model", "2"});
  refused("raw_without_columns.raw", "abcd");
  expect_refused(run_posenc({"check", (folder / "missing.npy").string()}), "missing.npy");
  expect_refused(run_posenc({"check", folder.path().string()}), folder.path().string());
  expect_refused(run_posenc({"check"}), "TABLE");
}

TEST(CheckCommand, FindsMemoryThatWasNeverWritten) {
  const ScratchFolder folder;
  std::string table = read_file(generated(folder, "table.npy", {}));
  const std::size_t row_bytes = 64 * sizeof(float);
  std::fill(table.end() - static_cast<std::ptrdiff_t>(10 * row_bytes), table.end(), '\xff');
  const std::string file = (folder / "nan.npy").string();
  write_file(file, table);
  EXPECT_THAT(checked({file}, 1), HasSubstr("cause: rows 290 .. 299 have NaN or infinity"));
}

}  // namespace
}  // namespace posenc
