// Invalid command lines: the command prints one line that names the argument, its value and what is
// allowed, and exits with 2.
#include "command.h"

namespace posenc::test {
namespace {

struct BadCase {
  const char* line;   ///< after the name of the command
  const char* named;  ///< what the message must name
};

const BadCase bad_cases[] = {
    {"generate --rows 3 --d-model 5", "d_model is 5"},
    {"generate --rows 3 --d-model 010", "--d-model is '010'"},
    {"generate --rows 3 --base 1e4x", "--base is '1e4x'; allowed: a finite number"},
    {"generate --rows 3 --first -9007199254740993", "first position is -9007199254740993"},
    {"generate --rows 3 --layout thirds", "thirds"},
    {"generate --rows 3 --backend fastest", "backend is 'fastest'; allowed: "},
    {"generate --rows 3 --format cvs", "--format is 'cvs'; allowed: npy, safetensors, raw, csv"},
    {"accuracy --rows 3 --output /nonexistent/x.npy",
     "--output is '/nonexistent/x.npy'; allowed formats: table, json, csv"},
    {"generate --rows 3 --frequencies yarn:factor=4",
     "attention_factor is 1.138629436111989; allowed in an encoding"},
    {"generate --rows 3 --colour", "--colour"},
    {"generate --rows 3 --prest whisper",
     "argument is '--prest'; allowed: see posenc generate --help"},
    {"generate --rows 3 --preset wisper", "--preset is 'wisper'; allowed: "},
    {"compar a b", "argument is 'compar'; allowed: see posenc --help"},
    {"generate --rows 3 --backend naive:portible", "ISA is 'portible'; allowed: portable"},
    {"generate --rows --d-model 4", "--rows is '--d-model'; allowed"},
    {"generate --rows 3 --rows 4", "1 required but received 2"},
    {"generate --rows", "--rows: 1 required N missing; allowed: see posenc generate --help"},
    {"generate --rows 3 --max-error 1e-6 --max-ulp 2",
     "--max-error excludes --max-ulp; allowed: see posenc generate --help"},
    {"generate --rows 3 stray", "stray"},
    {"generate --rows 3 --dtype float8", "float32, float64, float16, bfloat16"},
    {"generate --rows 3 --dtype bfloat16 --format npy", "bfloat16"},
    {"generate --rows 3 --backend rotation32 --dtype float64", "rotation32"},
    {"generate --rows 3 --threads 0", "--threads is '0'; allowed: an integer, 1 to 1024"},
    {"generate --axes flx", "--axes is 'flx'; allowed: mrope, qwen3_vl, flux"},
    {"generate --axes flux --grid 1,2", "--grid is '1,2'; allowed: three integers"},
    {"generate --axes flux --grid 1,-2,3", "a size of the grid is -2"},
    {"generate --rows 3 --grid 1,2,3", "--grid requires --axes"},
    {"generate --axes flux --d-model 8", "--axes"},
    {"generate --rows 3 --rotary both", "--rotary is 'both'; allowed: halves, interleaved"},
    {"generate --rows 3 --rotary halves --layout halves", "--layout"},
    {"generate --rows 3 --rotary halves --backend naive", "--backend"},
    {"generate --rows 3 --layers full_attention", "--layers requires --config"},
    {"", "subcommand is required; allowed: see posenc --help"},
    {"generat", "argument is 'generat'; allowed: see posenc --help"},
    {"list accuracy", "argument is 'accuracy'"},
    {"--rows 3 generate", "argument is '--rows'"},
    {"generate --rows 3 --output x.foo", ".npy, .safetensors, .raw, .csv"},
    {"accuracy --rows 3 --backend naive --isa avx2", "avx2"},
    {"accuracy --rows 3 --backend rotation:sse2 --isa avx2", "rotation:sse2"},
    {"pick --presets=maybe", "argument is '--presets=maybe'; allowed: see posenc pick --help"},
    {"list --presets=maybe", "--presets is 'maybe'; allowed: no value"},
    {"accuracy --rows 0 --d-model 4", "rows are 0; allowed: at least 1"},
    {"pick --max-error 0", "--max-error is '0'; allowed: a finite number, greater than 0"},
    {"pick --max-error -1", "--max-error is '-1'; allowed: a finite number, greater than 0"},
    {"accuracy --base 1", "--base is '1'; allowed: a finite number, greater than 1"},
    {"accuracy --worst 0", "--worst is '0'; allowed: an integer, 1 to 10000"},
    {"pick --max-error 1e-6 --max-ulp 1", "--max-ulp"},
    {"pick --max-ulp 0", "--max-ulp is '0'; allowed: a finite number, greater than 0"},
    {"compare", "DOCUMENT is required"},
    {"compare --run a", "--run has 1 argument(s); allowed: two"},
    {"compare --run /nonexistent/a /nonexistent/b",
     "/nonexistent/a is no posenc command (cannot run"},
    {"compare a b --shape 3x4", "--shape requires --run"},
    {"measure --shape 3by4", "--shape is '3by4'; allowed: rows and channels, as in 777x768"},
    {"measure --shape 0x4", "--shape is '0x4'; allowed: rows and channels"},
    {"measure --shape 3x5", "d_model is 5"},
    {"measure --shape 3x4 --rows 5", "--shape excludes --rows"},
    {"measure --threads 1,0", "--threads is '1,0'; allowed: an integer"},
    {"measure --dtype float32,", "--dtype is 'float32,'; allowed: float32, float64"},
    {"pick --cpu foo", "--cpu: 'foo' is not recognised; allowed: Zen 4, Zen 5, "},
    {"pick --cpu zen4 --save x", "--cpu excludes --save"},
    {"pick --cpu zen4 --shape 3x4",
     "--shape is '3x4'; allowed: what the document of AMD EPYC (family 25"},
    {"compare a b --tolerance -1", "--tolerance is '-1'; allowed: a finite number, at least 0"},
    {"compare /nonexistent/a.json /nonexistent/b.json",
     "/nonexistent/a.json, which cannot be read: No such file or directory; allowed: JSON of "
     "posenc measure or posenc accuracy"},
    {"generate --rows 99999999999 --d-model 4096 --output x.npy",
     "the table needs 1.46 PiB, and the disk of x.npy has "},
};

TEST(BadInput, IsOneLineAndExitTwo) {
  for (const auto& [line, named] : bad_cases) {
    SCOPED_TRACE(line);
    const CommandResult result = run_posenc(words(line));
    expect_refused(result, named);
    EXPECT_THAT(result.err, AnyOf(HasSubstr("allowed"), HasSubstr("at most")));
  }
}

TEST(BadInput, LeavesAnExistingFileAsItWas) {
  const ScratchFolder folder;
  write_file(folder / "table", "precious");
  for (const char* const line :
       {"generate --rows 3 --d-model 5", "generate --rows 3 --colour", "generate --backend fastest",
        "generate --rows 3 --dtype bfloat16 --format npy", "generate --axes flux --grid 1,-2,3",
        "accuracy --rows 0", "pick --max-error 0", "compare / /"}) {
    EXPECT_EQ(run_posenc(words(line) + Arguments{"--output", folder / "table"}).exit_code, 2);
    EXPECT_EQ(read_file(folder / "table"), "precious") << line;
    EXPECT_THAT(folder.listing(), ElementsAre("table")) << line;
  }
}

}  // namespace
}  // namespace posenc::test
