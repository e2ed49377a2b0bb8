// Invalid command lines: the command prints one line that names the argument, its value and what is
// allowed, and exits with 2.
#include "command.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace posenc {
namespace {

using test::Arguments;
using test::CommandResult;
using test::expect_refused;
using test::operator+;
using test::read_file;
using test::run_posenc;
using test::ScratchFolder;
using test::small_raw;
using test::write_file;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;

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
      BadCase{"huge_d_model", generate + Arguments{"--d-model", "1048578"}, "d_model is 1048578"},
      BadCase{"octal_d_model", generate + Arguments{"--d-model", "010"}, "--d-model is '010'"},
      BadCase{"base_1", generate + Arguments{"--base", "1"}, "base is 1"},
      BadCase{"base_nan", generate + Arguments{"--base", "nan"}, "nan"},
      BadCase{"base_text", generate + Arguments{"--base", "1e4x"}, "1e4x"},
      BadCase{"negative_rows", {"generate", "--rows", "-1", "--d-model", "4"}, "row count is -1"},
      BadCase{"overflowing_bytes",
              {"generate", "--rows", "9007199254740992", "--d-model", "1048576"},
              "row count is"},
      BadCase{"first_below_minus_2_to_53", generate + Arguments{"--first", "-9007199254740993"},
              "first position is -9007199254740993"},
      BadCase{"last_beyond_2_to_53", generate + Arguments{"--first", "9007199254740991"},
              "row count is 3"},
      BadCase{"unknown_layout", generate + Arguments{"--layout", "thirds"}, "thirds"},
      BadCase{"unknown_backend", generate + Arguments{"--backend", "fastest"},
              "backend is 'fastest'; allowed: "},
      BadCase{"isa_that_the_backend_lacks",
              generate + Arguments{"--backend", "naive", "--isa", "avx2"}, "avx2"},
      BadCase{"isa_twice", generate + Arguments{"--backend", "rotation:sse2", "--isa", "avx2"},
              "rotation:sse2"},
      BadCase{"unknown_format",
              {"generate", "--rows", "3", "--format", "xml"},
              "--format is 'xml'; allowed: npy, safetensors, raw, csv"},
      BadCase{
          "mistyped_format", {"generate", "--rows", "3", "--format", "cvs"}, "did you mean 'csv'?"},
      BadCase{"suffix_of_another_command",
              {"accuracy", "--rows", "3", "--output", "/nonexistent/x.npy"},
              "--output is '/nonexistent/x.npy'; allowed formats: table, json"},
      BadCase{"parameter_twice", generate + Arguments{"--frequencies", "linear:factor=4,factor=8"},
              "factor of the frequencies is given twice"},
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
              "1 required but received 2"},
      BadCase{"option_without_value",
              {"generate", "--rows"},
              "--rows: 1 required N missing; allowed: see posenc generate --help"},
      BadCase{"options_that_exclude_each_other",
              generate + Arguments{"--max-error", "1e-6", "--max-ulp", "2"},
              "--max-error excludes --max-ulp; allowed: see posenc generate --help"},
      BadCase{"stray_argument", generate + Arguments{"stray"}, "stray"},
      BadCase{"unknown_dtype", generate + Arguments{"--dtype", "float8"},
              "float32, float64, float16, bfloat16"},
      BadCase{"npy_of_bfloat16",
              {"generate", "--rows", "3", "--dtype", "bfloat16", "--format", "npy"},
              "bfloat16"},
      BadCase{"dtype_beyond_the_backend",
              generate + Arguments{"--backend", "rotation32", "--dtype", "float64"}, "rotation32"},
      BadCase{"zero_threads", generate + Arguments{"--threads", "0"},
              "--threads is '0'; allowed: an integer, 1 to 1024"},
      BadCase{"negative_digits", generate + Arguments{"--digits", "-1"}, "--digits"},
      BadCase{"digits_without_csv", small_raw + Arguments{"--digits", "3"}, "--digits"},
      BadCase{"no_subcommand", {}, "subcommand is required; allowed: see posenc --help"},
      BadCase{
          "unknown_subcommand", {"generat"}, "subcommand is 'generat'; allowed: list, accuracy"},
      BadCase{"mistyped_subcommand", {"compar", "a", "b"}, "did you mean 'compare'?"},
      BadCase{"two_subcommands", {"list", "accuracy"}, "argument is 'accuracy'"},
      BadCase{"option_before_the_subcommand", {"--rows", "3", "generate"}, "argument is '--rows'"},
      BadCase{"value_of_a_flag",
              {"compare", "a", "b", "--allow-missing=maybe"},
              "--allow-missing is 'maybe'"},
      BadCase{"unknown_suffix",
              {"generate", "--rows", "3", "--output", "x.foo"},
              ".npy, .safetensors, .raw, .csv"},
      BadCase{
          "accuracy_odd_d_model", {"accuracy", "--rows", "4", "--d-model", "5"}, "d_model is 5"},
      BadCase{"accuracy_no_rows", {"accuracy", "--rows", "0", "--d-model", "4"}, "row count is 0"},
      BadCase{"pick_zero_budget",
              {"pick", "--max-error", "0"},
              "--max-error is '0'; allowed: a finite number greater than 0"},
      BadCase{"compare_one_file", {"compare", "/dev/null"}, "B is required"},
      BadCase{"compare_three_files", {"compare", "a", "b", "c"}, "argument is 'c'"},
      BadCase{"compare_negative_tolerance",
              {"compare", "a", "b", "--tolerance", "-1"},
              "--tolerance is '-1'"},
      BadCase{"compare_missing_file",
              {"compare", "/nonexistent/a.json", "/nonexistent/b.json"},
              "/nonexistent/a.json, which cannot be read: No such file"},
      BadCase{"compare_folder", {"compare", "/", "/"}, "/, which cannot be read: Is a directory"}};
  return all;
}

std::vector<BadCase> bad_cases_of_generate() {
  std::vector<BadCase> some = bad_cases();
  // Without those that end in an option, or name an output file themselves.
  std::erase_if(some, [](const BadCase& each) {
    return each.arguments.empty() || each.arguments.front() != "generate" ||
           each.arguments.back().starts_with("--") ||
           std::ranges::count(each.arguments, "--output") > 0;
  });
  return some;
}

const auto name_of = [](const auto& each) { return std::string(each.param.name); };

class BadInput : public testing::TestWithParam<BadCase> {};

TEST_P(BadInput, IsOneLineAndExitTwo) {
  const CommandResult result = run_posenc(GetParam().arguments);
  expect_refused(result, GetParam().named);
  EXPECT_THAT(result.err, AnyOf(HasSubstr("allowed"), HasSubstr("at most")));
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

}  // namespace
}  // namespace posenc
