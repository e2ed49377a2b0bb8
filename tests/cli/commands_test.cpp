// The posenc command as its users meet it: what it prints, what it leaves on disk, and its exit
// codes.
#include "command.h"
#include "posenc/encoder.h"
#include "posenc/presets.h"
#include "posenc/profile.h"
#include "posenc/registry.h"
#include "posenc/version.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <sstream>

namespace posenc {
namespace {

using nlohmann::json;
using test::CommandResult;
using test::read_file;
using test::run_posenc;
using test::ScratchFolder;
using test::write_file;
using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

using Arguments = std::vector<std::string>;

Arguments operator+(Arguments left, const Arguments& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

void expect_bad_input(const CommandResult& result, const std::string& named) {
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_THAT(result.err, AllOf(StartsWith("posenc: "), HasSubstr(named)));
}

std::vector<std::vector<float>> parse_csv(const std::string& text) {
  std::vector<std::vector<float>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(std::stof(cell));
  }
  return rows;
}

/// The bytes of a table as the library gives it.
std::string library_bytes(const Backend& backend, const EncodingSpec& spec, RowRange rows) {
  Matrix table(rows.count, spec.d_model);
  backend.plan(spec)->encode(rows, table.view());
  return {reinterpret_cast<const char*>(table.data()),
          static_cast<std::size_t>(rows.count * spec.d_model) * sizeof(float)};
}

const Arguments small_csv = {"generate", "--rows", "3", "--d-model", "4", "--format", "csv"};
const Arguments small_raw = {"generate", "--rows", "3", "--d-model", "4", "--format", "raw"};
const std::string small_csv_with_four_digits =
    "0.0000,1.0000,0.0000,1.0000\n"
    "0.8415,0.5403,0.0100,0.9999\n"
    "0.9093,-0.4161,0.0200,0.9998\n";

TEST(Generate, GivesThePapersFirstValues) {
  const CommandResult result = run_posenc(small_csv);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, IsEmpty());
  const auto rows = parse_csv(result.out);
  const std::vector<std::vector<float>> expected = {
      {0, 1, 0, 1}, {0.8415F, 0.5403F, 0.0100F, 0.9999F}, {0.9093F, -0.4161F, 0.0200F, 0.9998F}};
  ASSERT_EQ(rows.size(), 3U);
  for (std::size_t r = 0; r < 3; ++r) {
    ASSERT_EQ(rows[r].size(), 4U);
    for (std::size_t c = 0; c < 4; ++c)
      EXPECT_NEAR(rows[r][c], expected[r][c], 0.5001e-4) << r << ", " << c;
  }
  EXPECT_EQ(run_posenc(small_csv + Arguments{"--digits", "4"}).out, small_csv_with_four_digits);
}

TEST(Generate, EveryBackendGivesThem) {
  for (const Backend* each : test::running_backends()) {
    EXPECT_EQ(
        run_posenc(small_csv + Arguments{"--digits", "4", "--backend", each->full_name()}).out,
        small_csv_with_four_digits)
        << each->full_name();
  }
}

TEST(Generate, CsvReadsBackAsTheSameFloats) {
  const CommandResult result = run_posenc(
      {"generate", "--rows", "20", "--d-model", "34", "--first", "123456", "--format", "csv"});
  const auto rows = parse_csv(result.out);
  Matrix expected(20, 34);
  backend("rotation")
      .plan({.d_model = 34})
      ->encode({.first = 123456, .count = 20}, expected.view());
  ASSERT_EQ(rows.size(), 20U);
  for (std::int64_t r = 0; r < 20; ++r)
    EXPECT_TRUE(test::same_bits(rows[static_cast<std::size_t>(r)], expected.row(r))) << r;
}

TEST(Generate, RawIsTheLibrarysBytes) {
  const EncodingSpec spec{.d_model = 66,
                          .base = 500,
                          .layout = Layout::halves_cos_first,
                          .spacing = Spacing::inclusive};
  const RowRange rows{1'000'000'000'000, 33};
  const Arguments shape = {
      "generate",         "--rows",    "33",        "--first",  "1000000000000",
      "--d-model",        "66",        "--base",    "500",      "--layout",
      "halves_cos_first", "--spacing", "inclusive", "--format", "raw"};
  for (const Backend* each : test::running_backends()) {
    const std::string expected = library_bytes(*each, spec, rows);
    EXPECT_EQ(run_posenc(shape + Arguments{"--backend", each->full_name()}).out, expected)
        << each->full_name();
    EXPECT_EQ(run_posenc(shape + Arguments{"--backend", std::string(each->name()), "--isa",
                                           std::string(to_string(each->isa()))})
                  .out,
              expected)
        << each->full_name();
  }
  EXPECT_EQ(run_posenc(shape + Arguments{"--threads", "3"}).out,
            library_bytes(backend("rotation"), spec, rows));
}

TEST(Generate, EveryTypeIsTheLibrarysBytes) {
  for (const DataType type : all_data_types) {
    const std::string name(to_string(type));
    const std::string expected = with_type(type, [&]<class T>(T) {
      BasicMatrix<T> table(33, 66);
      backend("rotation")
          .plan({.d_model = 66})
          ->encode({.first = 1'000'000, .count = 33}, table.view());
      return std::string(reinterpret_cast<const char*>(table.data()), 33 * 66 * sizeof(T));
    });
    const Arguments shape = {"generate",  "--rows", "33",      "--first", "1000000",
                             "--d-model", "66",     "--dtype", name};
    EXPECT_EQ(run_posenc(shape + Arguments{"--format", "raw"}).out, expected) << name;
    if (type == DataType::bfloat16) continue;
    const std::string npy = run_posenc(shape + Arguments{"--format", "npy"}).out;
    EXPECT_THAT(npy, HasSubstr("'descr': '<f" + std::to_string(size_of(type)) + "'")) << name;
    EXPECT_TRUE(npy.ends_with(expected)) << name;
  }
}

TEST(Generate, CsvReadsBackAsTheSameValuesOfEveryType) {
  const auto csv = [](const char* type) {
    return run_posenc(
               {"generate", "--rows", "2", "--d-model", "2", "--dtype", type, "--format", "csv"})
        .out;
  };
  EXPECT_EQ(csv("float64"), "0,1\n0.8414709848078965,0.5403023058681398\n");
  EXPECT_EQ(csv("float16"), "0,1\n0.8413086,0.54052734\n");
  EXPECT_EQ(csv("bfloat16"), "0,1\n0.83984375,0.5390625\n");
}

TEST(Generate, PresetsSetWhatOptionsDoNot) {
  const Preset& whisper = preset("whisper");
  EXPECT_EQ(run_posenc({"generate", "--preset", "whisper", "--rows", "7", "--format", "raw"}).out,
            library_bytes(backend("rotation"), whisper.spec, {0, 7}));
  EXPECT_EQ(
      run_posenc({"generate", "--preset", "fairseq", "--rows", "2", "--layout", "interleaved",
                  "--format", "raw"})
          .out,
      library_bytes(backend("rotation"), {.d_model = 512, .spacing = Spacing::inclusive}, {2, 2}));
}

TEST(Generate, ManyBlocksJoinWithoutASeam) {
  const ScratchFolder folder;
  const auto file = folder / "table.raw";
  ASSERT_EQ(run_posenc({"generate", "--rows", "40000", "--d-model", "128", "--first", "77",
                        "--format", "raw", "--output", file})
                .exit_code,
            0);
  EXPECT_TRUE(read_file(file) == library_bytes(backend("rotation"), {.d_model = 128}, {77, 40000}));
}

TEST(Generate, NpyIsWhatNumPyReads) {
  const ScratchFolder folder;
  const auto file = folder / "table.npy";
  const CommandResult result = run_posenc(
      {"generate", "--rows", "5", "--d-model", "6", "--format", "npy", "--output", file});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(folder.listing(), ElementsAre("table.npy"));

  const std::string bytes = read_file(file);
  ASSERT_THAT(bytes, StartsWith(std::string("\x93NUMPY\x01\x00", 8)));
  const std::size_t length =
      static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  EXPECT_EQ((10 + length) % 64, 0U);
  const std::string header = bytes.substr(10, length);
  EXPECT_THAT(header, AllOf(HasSubstr("'descr': '<f4'"), HasSubstr("'fortran_order': False"),
                            HasSubstr("'shape': (5, 6)")));
  EXPECT_EQ(header.back(), '\n');
  EXPECT_EQ(bytes.substr(10 + length), library_bytes(backend("rotation"), {.d_model = 6}, {0, 5}));
}

TEST(Generate, TheSuffixSaysTheFormatUnlessTheFormatIsGiven) {
  const ScratchFolder folder;
  const Arguments shape = {"generate", "--rows", "3", "--d-model", "4"};
  for (const std::string suffix : {"npy", "raw", "csv"}) {
    const std::string file = folder / ("table." + suffix);
    ASSERT_EQ(run_posenc(shape + Arguments{"--output", file}).exit_code, 0);
    EXPECT_EQ(read_file(file), run_posenc(shape + Arguments{"--format", suffix}).out) << suffix;
  }
  ASSERT_EQ(run_posenc(shape + Arguments{"--output", folder / "table"}).exit_code, 0);
  EXPECT_EQ(read_file(folder / "table"), read_file(folder / "table.npy"));
  expect_bad_input(run_posenc(shape + Arguments{"--output", folder / "table.foo"}), "table.foo");
  EXPECT_THAT(folder.listing(), ElementsAre("table", "table.csv", "table.npy", "table.raw"));
  ASSERT_EQ(
      run_posenc(shape + Arguments{"--output", folder / "table.foo", "--format", "raw"}).exit_code,
      0);
  EXPECT_EQ(read_file(folder / "table.foo"), read_file(folder / "table.raw"));
}

TEST(Generate, NoRowsMakeAnEmptyTable) {
  EXPECT_EQ(run_posenc({"generate", "--rows", "0", "--d-model", "4", "--format", "csv"}).exit_code,
            0);
  EXPECT_THAT(run_posenc({"generate", "--rows", "0", "--d-model", "4", "--format", "raw"}).out,
              IsEmpty());
}

TEST(Generate, TheLastPositionsAreAllowed) {
  const CommandResult result = run_posenc({"generate", "--rows", "2", "--d-model", "4", "--first",
                                           "9007199254740991", "--format", "raw"});
  EXPECT_EQ(result.out, library_bytes(backend("rotation"), {.d_model = 4}, {max_position - 1, 2}));
}

struct BadCase {
  const char* name;
  Arguments arguments;
  const char* named;  // what the message must name

  friend std::ostream& operator<<(std::ostream& out, const BadCase& bad) { return out << bad.name; }
};

const Arguments generate = {"generate", "--rows", "3", "--format", "csv"};

const std::vector<BadCase>& bad_cases() {
  static const std::vector<BadCase> all = {
      BadCase{"odd_d_model", generate + Arguments{"--d-model", "5"}, "d_model is 5"},
      BadCase{"zero_d_model", generate + Arguments{"--d-model", "0"}, "d_model is 0"},
      BadCase{"negative_d_model", generate + Arguments{"--d-model", "-4"}, "d_model is -4"},
      BadCase{"huge_d_model", generate + Arguments{"--d-model", "1048578"}, "d_model is 1048578"},
      BadCase{"overflowing_d_model", generate + Arguments{"--d-model", "99999999999999999999"},
              "--d-model"},
      BadCase{"text_d_model", generate + Arguments{"--d-model", "many"}, "many"},
      BadCase{"fractional_d_model", generate + Arguments{"--d-model", "4.5"}, "4.5"},
      BadCase{"base_0", generate + Arguments{"--base", "0"}, "base is 0"},
      BadCase{"base_1", generate + Arguments{"--base", "1"}, "base is 1"},
      BadCase{"base_negative", generate + Arguments{"--base", "-10000"}, "base is -10000"},
      BadCase{"base_nan", generate + Arguments{"--base", "nan"}, "nan"},
      BadCase{"base_inf", generate + Arguments{"--base", "inf"}, "inf"},
      BadCase{"base_text", generate + Arguments{"--base", "1e4x"}, "1e4x"},
      BadCase{"negative_rows", {"generate", "--rows", "-1", "--d-model", "4"}, "row count is -1"},
      BadCase{"overflowing_bytes",
              {"generate", "--rows", "9007199254740992", "--d-model", "1048576"},
              "row count is"},
      BadCase{"negative_first", generate + Arguments{"--first", "-1"}, "first position is -1"},
      BadCase{"first_beyond_2_to_53", generate + Arguments{"--first", "9007199254740993"},
              "9007199254740993"},
      BadCase{"last_beyond_2_to_53", generate + Arguments{"--first", "9007199254740991"},
              "row count is 3"},
      BadCase{"unknown_layout", generate + Arguments{"--layout", "thirds"}, "thirds"},
      BadCase{"unknown_spacing", generate + Arguments{"--spacing", "wide"}, "wide"},
      BadCase{"unknown_preset", generate + Arguments{"--preset", "wisper"}, "wisper"},
      BadCase{"unknown_backend", generate + Arguments{"--backend", "fastest"},
              "naive, div_term, xsimd, rotation"},
      BadCase{"unknown_isa", generate + Arguments{"--isa", "sse9"}, "sse9"},
      BadCase{"isa_that_the_backend_lacks",
              generate + Arguments{"--backend", "naive", "--isa", "avx2"}, "avx2"},
      BadCase{"isa_twice", generate + Arguments{"--backend", "rotation:sse2", "--isa", "avx2"},
              "rotation:sse2"},
      BadCase{"unknown_format", {"generate", "--rows", "3", "--format", "xml"}, "npy, raw, csv"},
      BadCase{"unknown_option", generate + Arguments{"--colour"}, "--colour"},
      BadCase{"mistyped_option", generate + Arguments{"--prest", "whisper"},
              "did you mean '--preset'?"},
      BadCase{"mistyped_backend", generate + Arguments{"--backend", "rotaton"},
              "did you mean 'rotation'?"},
      BadCase{"mistyped_isa", generate + Arguments{"--backend", "naive:scaler"},
              "did you mean 'naive:scalar'?"},
      BadCase{"mistyped_preset", generate + Arguments{"--preset", "wisper"},
              "did you mean 'whisper'?"},
      BadCase{"option_in_the_place_of_a_value",
              {"generate", "--rows", "--d-model", "4"},
              "--rows is '--d-model'; allowed"},
      BadCase{"option_twice", generate + Arguments{"--rows", "4"},
              "--rows is given 2 times; allowed: once"},
      BadCase{
          "option_without_value", {"generate", "--rows"}, "--rows has no value; allowed: --rows N"},
      BadCase{"stray_argument", generate + Arguments{"stray"}, "stray"},
      BadCase{"unknown_dtype", generate + Arguments{"--dtype", "float8"},
              "float32, float64, float16, bfloat16"},
      BadCase{"npy_of_bfloat16",
              {"generate", "--rows", "3", "--dtype", "bfloat16", "--format", "npy"},
              "bfloat16"},
      BadCase{"dtype_beyond_the_backend",
              generate + Arguments{"--backend", "rotation32", "--dtype", "float64"}, "rotation32"},
      BadCase{"zero_threads", generate + Arguments{"--threads", "0"}, "--threads"},
      BadCase{"negative_digits", generate + Arguments{"--digits", "-1"}, "--digits"},
      BadCase{"digits_without_csv", small_raw + Arguments{"--digits", "3"}, "--digits"},
      BadCase{"no_subcommand", {}, "subcommand"},
      BadCase{
          "unknown_subcommand", {"generat"}, "subcommand is 'generat'; allowed: list, accuracy"},
      BadCase{"mistyped_subcommand", {"compar", "a", "b"}, "did you mean 'compare'?"},
      BadCase{"two_subcommands", {"list", "accuracy"}, "argument is 'accuracy'"},
      BadCase{"option_before_the_subcommand", {"--rows", "3", "generate"}, "argument is '--rows'"},
      BadCase{"value_of_a_flag",
              {"compare", "a", "b", "--allow-missing=maybe"},
              "--allow-missing is 'maybe'"},
      BadCase{"unknown_suffix",
              {"generate", "--rows", "3", "--output", "/tmp/x.foo"},
              ".npy, .raw, .csv"},
      BadCase{"suffix_of_another_case",
              {"generate", "--rows", "3", "--output", "/tmp/x.NPY"},
              ".npy, .raw, .csv"},
      BadCase{"list_unknown_format", {"list", "--format", "xml"}, "xml"},
      BadCase{
          "accuracy_odd_d_model", {"accuracy", "--rows", "4", "--d-model", "5"}, "d_model is 5"},
      BadCase{"accuracy_no_rows", {"accuracy", "--rows", "0", "--d-model", "4"}, "row count is 0"},
      BadCase{"accuracy_unknown_backend",
              {"accuracy", "--rows", "4", "--backend", "fastest"},
              "fastest"},
      BadCase{"pick_zero_budget", {"pick", "--max-error", "0"}, "max_error is 0"},
      BadCase{"pick_nan_budget", {"pick", "--max-error", "nan"}, "nan"},
      BadCase{"pick_text_budget", {"pick", "--max-error", "tiny"}, "tiny"},
      BadCase{"pick_unknown_preset", {"pick", "--preset", "wisper"}, "wisper"},
      BadCase{"compare_one_file", {"compare", "/dev/null"}, "B FILE is missing"},
      BadCase{"compare_no_file", {"compare"}, "A FILE is missing"},
      BadCase{"compare_three_files", {"compare", "a", "b", "c"}, "argument is 'c'"},
      BadCase{"compare_negative_tolerance",
              {"compare", "a", "b", "--tolerance", "-1"},
              "--tolerance is -1"},
      BadCase{"compare_nan_tolerance",
              {"compare", "a", "b", "--tolerance", "nan"},
              "--tolerance is nan"},
      BadCase{"compare_bad_filter", {"compare", "a", "b", "--filter", "("}, "--filter is '('"},
      BadCase{"compare_missing_file",
              {"compare", "/nonexistent/a.json", "/nonexistent/b.json"},
              "/nonexistent/a.json cannot be read (No such file or directory)"},
      BadCase{"compare_folder", {"compare", "/", "/"}, "/ cannot be read (Is a directory)"}};
  return all;
}

std::vector<BadCase> bad_cases_of_generate() {
  std::vector<BadCase> some = bad_cases();
  std::erase_if(some, [](const BadCase& each) {
    return each.arguments.empty() || each.arguments.front() != "generate";
  });
  return some;
}

const auto name_of = [](const auto& each) { return std::string(each.param.name); };

class BadInput : public testing::TestWithParam<BadCase> {};

TEST_P(BadInput, IsOneLineAndExitTwo) {
  const CommandResult result = run_posenc(GetParam().arguments);
  expect_bad_input(result, GetParam().named);
  EXPECT_THAT(result.err, AnyOf(HasSubstr("allowed"), HasSubstr("at most")));
  for (const char* of_the_parser :
       {"not expected", "more information", "required", "excludes", "Could not"}) {
    EXPECT_THAT(result.err, Not(HasSubstr(of_the_parser)));
  }
}

INSTANTIATE_TEST_SUITE_P(Cli, BadInput, testing::ValuesIn(bad_cases()), name_of);

class BadTable : public testing::TestWithParam<BadCase> {};

TEST_P(BadTable, LeavesAnExistingFileAsItWas) {
  const ScratchFolder folder;
  write_file(folder / "table", "precious");
  const CommandResult result =
      run_posenc(GetParam().arguments + Arguments{"--output", folder / "table"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(read_file(folder / "table"), "precious");
  EXPECT_THAT(folder.listing(), ElementsAre("table"));
}

INSTANTIATE_TEST_SUITE_P(Cli, BadTable, testing::ValuesIn(bad_cases_of_generate()), name_of);

TEST(Output, FullDevicesAreAnError) {
  expect_bad_input(run_posenc(small_csv + Arguments{"--output", "/dev/full"}), "/dev/full");
  expect_bad_input(run_posenc({"list", "--output", "/dev/full"}), "/dev/full");
  expect_bad_input(run_posenc({"accuracy", "--rows", "4", "--d-model", "4", "--format", "json",
                               "--output", "/dev/full"}),
                   "/dev/full");
}

TEST(Output, AFullStandardOutputIsAnError) {
  for (const Arguments& command :
       {small_csv, small_raw, Arguments{"list"}, Arguments{"--help"}, Arguments{"--version"}}) {
    const CommandResult result = run_posenc(command, {.environment = {}, .out_file = "/dev/full"});
    EXPECT_EQ(result.exit_code, 2) << command.front();
    EXPECT_THAT(result.err, HasSubstr("No space left on device")) << command.front();
  }
}

TEST(Output, MissingAndForbiddenFoldersAreAnError) {
  expect_bad_input(run_posenc(small_csv + Arguments{"--output", "/nonexistent/table.csv"}),
                   "/nonexistent/table.csv");
  const ScratchFolder folder;
  expect_bad_input(run_posenc(small_csv + Arguments{"--output", folder.path()}), folder.path());
  write_file(folder / "file", "a file");
  expect_bad_input(run_posenc(small_csv + Arguments{"--output", folder / "file" / "table.csv"}),
                   "table.csv");
}

TEST(Output, MoreThanTheFreeDiskIsRefusedFirst) {
  const ScratchFolder folder;
  write_file(folder / "table.raw", "precious");
  const CommandResult result =
      run_posenc({"generate", "--rows", "1000000000000", "--d-model", "1048576", "--format", "raw",
                  "--output", folder / "table.raw"});
  expect_bad_input(result, "table.raw");
  EXPECT_EQ(read_file(folder / "table.raw"), "precious");
  EXPECT_THAT(folder.listing(), ElementsAre("table.raw"));
}

TEST(Output, ReplacesAnExistingFileOnlyWhenItIsWhole) {
  const ScratchFolder folder;
  write_file(folder / "table.csv", "old");
  EXPECT_EQ(run_posenc(small_csv + Arguments{"--digits", "4", "--output", folder / "table.csv"})
                .exit_code,
            0);
  EXPECT_EQ(read_file(folder / "table.csv"), small_csv_with_four_digits);
  EXPECT_THAT(folder.listing(), ElementsAre("table.csv"));
}

TEST(Help, IsOnStandardOutput) {
  for (const Arguments& command :
       {Arguments{"--help"}, Arguments{"generate", "--help"}, Arguments{"pick", "--help"},
        Arguments{"accuracy", "--help"}, Arguments{"compare", "--help"}}) {
    const CommandResult result = run_posenc(command);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, HasSubstr("--help"));
    EXPECT_THAT(result.err, IsEmpty());
  }
  EXPECT_THAT(run_posenc({"--version"}).out, HasSubstr(library_version()));
}

TEST(List, NamesEveryBackendWhatRunsHereAndWhatIsUsed) {
  const CommandResult result = run_posenc({"list"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, IsEmpty());
  for (const Backend* each : backends())
    EXPECT_THAT(result.out, HasSubstr(std::string(each->description())));
  EXPECT_THAT(result.out,
              AllOf(HasSubstr(cpu().model), HasSubstr("built-in order"), HasSubstr("profile")));

  const json document = json::parse(run_posenc({"list", "--format", "json"}).out);
  EXPECT_EQ(document.at("version"), 1);
  EXPECT_EQ(document.at("backends").size(), backends().size());
  EXPECT_EQ(document.at("cpu").at("model"), cpu().model);
}

TEST(AccuracyCommand, JsonHasWhatProgramsNeed) {
  const CommandResult result = run_posenc(
      {"accuracy", "--rows", "300", "--d-model", "8", "--first", "5", "--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, IsEmpty());
  const json document = json::parse(result.out);
  EXPECT_EQ(document.at("version"), 1);
  EXPECT_TRUE(document.contains("cpu"));
  EXPECT_EQ(document.at("results").size(), test::running_backends().size());
  for (const json& each : document.at("results")) {
    for (const char* key :
         {"backend", "isa", "spec", "rows", "max_abs", "max_ulp", "rms", "quantiles",
          "correctly_rounded", "worst", "by_position", "by_channel"}) {
      EXPECT_TRUE(each.contains(key)) << key;
    }
    EXPECT_EQ(each.at("spec").at("d_model"), 8);
    EXPECT_EQ(each.at("rows").at("first"), 5);
    EXPECT_EQ(each.at("by_channel").size(), 8U);
    if (each.at("backend") == "rotation") {
      EXPECT_EQ(each.at("correctly_rounded"), 1.0);
      EXPECT_LE(each.at("max_abs").get<double>(), 2.9803e-8);
    }
  }
}

TEST(AccuracyCommand, MeasuresOnlyWhatIsAskedFor) {
  const Arguments shape = {"accuracy", "--rows", "50", "--d-model", "8", "--format", "json"};
  const auto measured = [&](const Arguments& choice) {
    std::vector<std::string> names;
    const json document = json::parse(run_posenc(shape + choice).out);
    for (const json& each : document.at("results")) {
      names.push_back(each.at("backend").get<std::string>() + ":" +
                      each.at("isa").get<std::string>());
    }
    return names;
  };
  EXPECT_THAT(measured({"--backend", "naive"}), ElementsAre("naive:scalar"));
  EXPECT_THAT(measured({"--backend", "naive", "--backend", "rotation"}),
              ElementsAre("naive:scalar", backend("rotation").full_name()));
  EXPECT_THAT(measured({"--isa", "scalar"}), ElementsAre("naive:scalar", "div_term:scalar",
                                                         "rotation:scalar", "rotation32:scalar"));
}

TEST(AccuracyCommand, TableAndCsvNameEveryBackend) {
  for (const char* format : {"table", "csv"}) {
    const CommandResult result =
        run_posenc({"accuracy", "--rows", "50", "--d-model", "8", "--format", format});
    EXPECT_EQ(result.exit_code, 0);
    for (const Backend* each : test::running_backends())
      EXPECT_THAT(result.out, HasSubstr(std::string(each->name())));
  }
}

TEST(Compare, TheSameReportTwiceIsNoRegression) {
  const ScratchFolder folder;
  const std::string report = folder / "a.json";
  ASSERT_EQ(run_posenc({"accuracy", "--rows", "100", "--d-model", "8", "--format", "json",
                        "--output", report})
                .exit_code,
            0);
  const CommandResult result = run_posenc({"compare", report, report});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("rotation"));
  EXPECT_THAT(result.err, IsEmpty());
}

TEST(Compare, AWorseErrorIsARegressionAndABetterOneIsNot) {
  const ScratchFolder folder;
  const std::string good = folder / "good.json", worse = folder / "worse.json";
  ASSERT_EQ(run_posenc({"accuracy", "--rows", "100", "--d-model", "8", "--format", "json",
                        "--output", good})
                .exit_code,
            0);
  json document = json::parse(read_file(good));
  json& first = document.at("results").at(0);
  first["max_abs"] = first.at("max_abs").get<double>() * 1.5;
  write_file(worse, document.dump());
  const CommandResult regression = run_posenc({"compare", good, worse});
  EXPECT_EQ(regression.exit_code, 1);
  EXPECT_THAT(regression.out, HasSubstr("regression"));
  EXPECT_EQ(run_posenc({"compare", worse, good}).exit_code, 0);
}

/// Two reports of the backends that run here, the second with a change.
struct TwoReports {
  ScratchFolder folder;
  std::string a = folder / "a.json";
  std::string b = folder / "b.json";

  template <class Change>
  explicit TwoReports(const Change& change) {
    EXPECT_EQ(run_posenc({"accuracy", "--rows", "100", "--d-model", "8", "--format", "json",
                          "--output", a})
                  .exit_code,
              0);
    json document = json::parse(read_file(a));
    change(document.at("results"));
    write_file(b, document.dump());
  }
  CommandResult compared(const Arguments& options) const {
    return run_posenc(Arguments{"compare", a, b} + options);
  }
};

void grow(json& result, double factor) {
  result["max_abs"] = result.at("max_abs").get<double>() * factor;
}

TEST(Compare, AMissingBackendFailsUnlessItIsAllowed) {
  const TwoReports reports([](json& results) { results.erase(0); });
  EXPECT_EQ(reports.compared({}).exit_code, 1);
  EXPECT_THAT(reports.compared({}).out,
              AllOf(HasSubstr("only in A"), HasSubstr("1 of A is missing in B")));
  EXPECT_EQ(json::parse(reports.compared({"--format", "json"}).out).at("missing"), 1);
  EXPECT_EQ(reports.compared({"--allow-missing"}).exit_code, 0);
  EXPECT_EQ(run_posenc({"compare", reports.b, reports.a}).exit_code, 0) << "B may have more";
}

TEST(Compare, TheToleranceAcceptsGrowthOfAnError) {
  const TwoReports reports([](json& results) { grow(results.at(0), 1.05); });
  EXPECT_EQ(reports.compared({}).exit_code, 1);
  EXPECT_EQ(reports.compared({"--tolerance", "0.04"}).exit_code, 1);
  EXPECT_EQ(reports.compared({"--tolerance", "0.06"}).exit_code, 0);
}

TEST(Compare, NoToleranceMakesAWrongEntryOfACorrectBackendGood) {
  const TwoReports reports([](json& results) {
    for (json& each : results) {
      if (each.at("backend") == "rotation") each["correctly_rounded"] = 1 - 1e-6;
    }
  });
  EXPECT_EQ(reports.compared({"--tolerance", "0.5"}).exit_code, 1);
}

TEST(Compare, TheFilterSaysWhichBackends) {
  const TwoReports reports(
      [](json& results) { grow(results.at(0), 1.5); });  // naive, the first of all
  EXPECT_EQ(reports.compared({"--filter", "^naive:"}).exit_code, 1);
  const CommandResult others = reports.compared({"--filter", "^rotation:"});
  EXPECT_EQ(others.exit_code, 0) << others.err;
  EXPECT_THAT(others.out, AllOf(HasSubstr("rotation"), Not(HasSubstr("naive"))));
  expect_bad_input(reports.compared({"--filter", "rotten"}), "--filter is 'rotten'");
}

TEST(Compare, StringsOfFilesReachTheTerminalEscaped) {
  const std::string wicked = "naive\x1b[2J\x1b[31m\x07\xc2\x9b";
  const TwoReports reports([&](json& results) { results.at(0)["backend"] = wicked; });
  const CommandResult result = reports.compared({});
  EXPECT_THAT(result.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(result.out, HasSubstr("naive\\x1b[2J\\x1b[31m\\x07\\xc2\\x9b"));
  const CommandResult on_terminal = test::run_posenc_on_terminal({"compare", reports.a, reports.b});
  EXPECT_THAT(on_terminal.out,
              AllOf(Not(HasSubstr("\x1b[2J")), Not(HasSubstr("\x07")), Not(HasSubstr("\xc2\x9b"))));
  const CommandResult as_json = reports.compared({"--format", "json"});
  EXPECT_THAT(as_json.out, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\xc2\x9b"))));
  EXPECT_THAT(json::parse(as_json.out).dump(), HasSubstr("\\u001b[2J"));
}

TEST(Compare, NamesOfFilesReachTheTerminalEscaped) {
  const ScratchFolder folder;
  const std::string report = folder / "a\x1b[2J\xff.json";
  ASSERT_EQ(run_posenc({"accuracy", "--rows", "9", "--d-model", "4", "--format", "json", "--output",
                        report})
                .exit_code,
            0);
  const CommandResult compared = run_posenc({"compare", report, report});
  EXPECT_THAT(compared.out, AllOf(HasSubstr("a\\x1b[2J\\xff.json"), Not(HasSubstr("\x1b"))));
  const CommandResult missing = run_posenc({"compare", report + "\n", report});
  expect_bad_input(missing, "a\\x1b[2J\\xff.json\\n cannot be read");
}

TEST(Compare, FilesThatCannotBeComparedAreBadInput) {
  const ScratchFolder folder;
  const std::string report = folder / "report.json", other = folder / "other.json";
  ASSERT_EQ(run_posenc({"accuracy", "--rows", "10", "--d-model", "4", "--format", "json",
                        "--output", report})
                .exit_code,
            0);
  expect_bad_input(run_posenc({"compare", report, folder / "missing.json"}), "missing.json");
  for (const std::string content :
       {"", "{", "[]", "{}", "{\"version\": 1, \"results\": 3}", "{\"version\": 2, \"results\": []}", "null"}) {
    write_file(other, content);
    expect_bad_input(run_posenc({"compare", report, other}), "other.json");
  }
  expect_bad_input(run_posenc({"compare", folder.path(), report}), folder.path());
}

TEST(Compare, ResultsOfBenchmarksAreLeftToTheirOwnTool) {
  const ScratchFolder folder;
  write_file(folder / "speed.json", R"({"context": {}, "benchmarks": []})");
  expect_bad_input(run_posenc({"compare", folder / "speed.json", folder / "speed.json"}),
                   "compare.py, Debian: libbenchmark-tools");
}

}  // namespace
}  // namespace posenc
