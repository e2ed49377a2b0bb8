// posenc generate: its output in every format and type.
#include "command.h"
#include "posenc/check/table_file.h"
#include "posenc/encoder.h"
#include "posenc/model/axes.h"
#include "posenc/model/axes_presets.h"
#include "posenc/model/rotary.h"
#include "posenc/presets.h"
#include "posenc/registry.h"

#include <cstdint>
#include <span>

namespace posenc::test {

using namespace model;
namespace {

/// The bytes of the library's table, in the order of files.
template <class T = float>
std::string library_bytes(const Backend& backend, const EncodingSpec& spec, RowRange rows) {
  return bytes_of(encoded<T>(*backend.plan(spec), rows));
}

TEST(Generate, RawIsTheLibrarysBytes) {
  const EncodingSpec spec{.d_model = 66,
                          .base = 500,
                          .layout = Layout::halves_cos_first,
                          .spacing = Spacing::inclusive};
  const RowRange rows{1'000'000'000'000, 33};
  const std::string shape =
      "generate --rows 33 --first 1000000000000 --d-model 66 --base 500 --layout halves_cos_first "
      "--spacing inclusive --format raw ";
  for (const Backend* each : running_backends()) {
    const std::string expected = library_bytes(*each, spec, rows);
    EXPECT_EQ(run_line(shape + "--backend " + each->full_name()).out, expected)
        << each->full_name();
  }
  EXPECT_EQ(run_line(shape + "--threads 3").out, library_bytes(backend("rotation"), spec, rows));
}

TEST(Generate, TakesRulesOfFrequencies) {
  EncodingSpec spec = preset("llama_3_1").spec;
  const std::string command =
      "generate --first 100000 --rows 5 --format raw --preset llama_3_1 --frequencies ";
  for (const std::string rule :
       {"llama3:factor=8", "yarn:factor=4,truncate=false,attention_factor=1"}) {
    spec.frequencies = parse_frequency_rule(rule);
    EXPECT_EQ(run_line(command + rule).out, library_bytes(backend("rotation"), spec, {100'000, 5}));
  }
}

TEST(Generate, EveryTypeIsTheLibrarysBytesInEveryFormat) {
  for (const DataType type : all_data_types) {
    const std::string name(to_string(type));
    const std::string expected = with_type(type, [&]<class T>(T) {
      return library_bytes<T>(backend("rotation"), {.d_model = 66}, {1'000'000, 33});
    });
    const auto generated = [&](const std::string& format) {
      return run_line("generate --rows 33 --first 1000000 --d-model 66 --dtype " + name +
                      " --format " + format)
          .out;
    };
    EXPECT_EQ(generated("raw"), expected) << name;
    const std::string tensors = generated("safetensors");
    const check::StoredTable tensor =
        check::parse_safetensors(tensors, std::ssize(tensors), "positional_encoding");
    EXPECT_EQ(std::tuple(tensor.type, tensor.rows, tensor.columns), std::tuple(type, 33, 66));
    EXPECT_EQ(tensors.substr(static_cast<std::size_t>(tensor.offset)), expected) << name;
    EXPECT_THAT(tensors,
                HasSubstr(R"({"__metadata__":{"description":"encoding, base 10000, layout )"
                          R"(interleaved, spacing paper, first position 1000000"},)"));
    if (type == DataType::bfloat16) continue;
    const std::string npy = generated("npy");
    const check::NpyHeader header = check::parse_npy_header(npy, std::ssize(npy));
    EXPECT_EQ(header.descr, "<f" + std::to_string(size_of(type)));
    EXPECT_FALSE(header.is_column_major);
    EXPECT_THAT(header.shape, ElementsAre(33, 66));
    EXPECT_EQ(header.bytes % 64, 0);
    EXPECT_EQ(npy.substr(static_cast<std::size_t>(header.bytes)), expected) << name;
  }
}

TEST(Generate, CsvReadsBackAsTheSameValuesOfEveryType) {
  const std::string command = "generate --rows 2 --d-model 2 --format csv --dtype ";
  EXPECT_EQ(run_line(command + "float64").out, "0,1\n0.8414709848078965,0.5403023058681398\n");
  EXPECT_EQ(run_line(command + "float16").out, "0,1\n0.8413086,0.54052734\n");
  EXPECT_EQ(run_line(command + "bfloat16").out, "0,1\n0.83984375,0.5390625\n");
}

TEST(Generate, TablesOfManyBlocksMatchOneCallOfTheLibrary) {
  EXPECT_TRUE(run_line("generate --rows 40000 --d-model 128 --first 77 --format raw").out ==
              library_bytes(backend("rotation"), {.d_model = 128}, {77, 40000}));
}

TEST(Generate, TheSuffixSelectsTheFormatUnlessOneIsGiven) {
  const ScratchFolder folder;
  const std::string shape = "generate --rows 3 --d-model 4 ";
  const auto written = [&](const std::string& name, const std::string& more = "") {
    const std::string file = folder / name;
    EXPECT_EQ(run_line(shape + more + "--output " + file).exit_code, 0) << name;
    return read_file(file);
  };
  for (const std::string suffix : {"npy", "safetensors", "raw", "csv"})
    EXPECT_EQ(written("table." + suffix), run_line(shape + "--format " + suffix).out) << suffix;
  EXPECT_EQ(written("table"), read_file(folder / "table.npy"));
  EXPECT_EQ(written("table.foo", "--format raw "), read_file(folder / "table.raw"));
  EXPECT_THAT(folder.listing(), SizeIs(6));
}

TEST(Generate, RemovesItsFileIfTheSystemAllowsNoLargerOne) {
  const ScratchFolder folder;
  const CommandResult refused =
      run_posenc({"-c", "ulimit -f 100; exec \"$0\" generate --rows 9999 --output \"$1\"",
                  POSENC_COMMAND, folder / "table.npy"},
                 {.program = "/bin/sh"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("File too large"));
  EXPECT_THAT(folder.listing(), IsEmpty());
}

TEST(Generate, WritesTheCellsOfAGrid) {
  const AxesTable flux = axes_table("flux", GridSizes{1, 3, 5});
  const std::string command = "generate --axes flux --grid 1,3,5 --format raw --threads 2";
  Matrix table(15, 128), cache(15, 128);
  AxesEncoder(flux.spec).encode(flux.row_positions(), table.view());
  EXPECT_EQ(run_line(command).out, bytes_of(table));
  Rotary(RotarySpec{.angles = flux.spec})
      .cache(flux.row_positions(), RotaryLayout::halves, cache.view());
  EXPECT_EQ(run_line(command + " --rotary halves").out, bytes_of(cache));
}

TEST(GenerateRotary, WritesTheLibrarysCachesTimesTheAttentionFactor) {
  const Rotary rotary(64, 1e4, RotaryLayout::halves, YarnScaling{.factor = 40});
  ASSERT_NE(rotary.attention_factor(), 1);
  const auto run = [](const std::string& more) {
    return run_line("generate --rows 70 --first -3 --d-model 64 --frequencies yarn:factor=40 " +
                    more)
        .out;
  };
  Matrix cache(70, 64);
  rotary.cache(RowRange{-3, 70}, RotaryLayout::halves, cache.view());
  EXPECT_EQ(run("--rotary halves --format raw"), bytes_of(cache));
  BasicMatrix<BFloat16> half(70, 64);
  rotary.cache(RowRange{-3, 70}, RotaryLayout::interleaved, half.view());
  EXPECT_EQ(run("--rotary interleaved --format raw --dtype bfloat16"), bytes_of(half));
  EXPECT_THAT(run("--rotary halves --format safetensors"),
              AllOf(HasSubstr("rotary cache, halves, attention factor 1.36888794541139"),
                    HasSubstr("frequencies yarn:factor=40")));
}

TEST(Generate, RefusesATableThatIsLargerThanItsDisk) {
  const ScratchFolder folder;
  const std::string command = "generate --d-model 4096 --rows 99999999999", file = folder / "table";
  for (const char* const format : {"npy", "safetensors", "raw", "csv"}) {
    const auto refused = run_line(command + " --format " + format + " --output " + file);
    expect_refused(refused, "; allowed: less, or --force");
    EXPECT_THAT(refused.err, AllOf(HasSubstr("the table needs "), HasSubstr(" free")));
    EXPECT_THAT(folder.listing(), IsEmpty());
  }
  // A shell redirects the standard output to a file.
  expect_refused(run_line(command, {.out_file = file}), "the disk of standard output has ");
}

}  // namespace
}  // namespace posenc::test
