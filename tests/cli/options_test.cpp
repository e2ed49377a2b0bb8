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
    // Values
    {"generate --rows 3 --d-model 010", "--d-model is '010'; allowed: an integer"},
    {"generate --rows 3 --base 1e4x", "--base is '1e4x'; allowed: a finite number"},
    {"accuracy --base 1", "--base is '1'; allowed: a finite number, greater than 1"},
    {"compare a b --tolerance -1", "--tolerance is '-1'; allowed: a finite number, at least 0"},
    {"measure --threads 1,0", "--threads is '0'; allowed: an integer, 1 to 1024"},
    {"accuracy --worst 0", "--worst is '0'; allowed: an integer, 1 to 10000"},
    {"generate --rows 3 --layout thirds", "--layout is 'thirds'; allowed: interleaved, halves"},
    {"measure --dtype float32,float8", "--dtype is 'float8'; allowed: float32, float64, float16"},
    {"generate --axes flx", "--axes is 'flx'; allowed: mrope, qwen3_vl, flux"},
    {"generate --axes flux --grid 1,2", "--grid is '1,2'; allowed: three integers"},
    {"measure --shape 3by4", "--shape is '3by4'; allowed: rows from 1 on and an even number of"},
    {"measure --shape 0x4", "--shape is '0x4'; allowed: rows from 1 on"},
    {"accuracy --first 1e6",
     "--first is '1e6'; allowed: an integer, -9007199254740992 to 90071992"},
    {"accuracy --rows -5", "--rows is '-5'; allowed: an integer, 0 to 9007199254740993"},
    {"generate --config=", "--config: 1 required FILE missing"},
    {"measure --backend naive,", "--backend is 'naive,'; allowed: at least one character"},
    // Options and arguments
    {"", "subcommand is required; see posenc --help"},
    {"compar a b", "unknown argument 'compar'; see posenc --help"},
    {"--rows 3 generate", "unknown option '--rows'; see posenc generate --help"},
    {"list accuracy", "unknown argument 'accuracy'; see posenc list --help"},
    {"generate --rows 3 --prest whisper", "unknown option '--prest'; see posenc generate --help"},
    {"generate --rows --d-model 4", "--rows is '--d-model'; allowed"},
    {"generate --rows 3 --rows 4", "1 required but received 2"},
    {"generate --rows", "--rows: 1 required N missing; see posenc generate --help"},
    {"compare", "DOCUMENT is required"},
    {"check", "TABLE is not given; allowed: a file, or --conformance"},
    // Combinations
    {"generate --max-error 1e-6 --max-ulp 2", "excludes"},
    {"generate --axes flux --d-model 8", "excludes"},
    {"generate --config x --base 5", "excludes"},
    {"generate --rotary halves --layout halves", "excludes"},
    {"generate --rotary halves --backend naive", "excludes"},
    {"generate --conformance x --rows 3", "--rows excludes --conformance"},
    {"check x --conformance y", "TABLE excludes --conformance"},
    {"check x --twice --repeated", "excludes"},
    {"check x --config y --base 5", "--base excludes --config"},
    {"check x --rotary halves", "--rotary requires --rotated"},
    {"measure --shape 3x4 --rows 5", "--shape excludes --rows"},
    {"measure a.json --processes 2", "excludes"},
    {"pick --cpu zen4 --save x", "--cpu excludes --save"},
    {"list --presets --models", "--presets excludes --models"},
    {"generate --rows 3 --grid 1,2,3", "--grid requires --axes"},
    {"generate --rows 3 --layers full_attention", "--layers requires --config"},
    {"compare a b --shape 3x4", "--shape requires --run"},
    // The library
    {"generate --rows 3 --d-model 5", "d_model is 5"},
    {"accuracy --rows 0 --d-model 4", "rows are 0; allowed: at least 1"},
    {"generate --rows 3 --frequencies yarn:factor=4",
     "attention_factor is 1.138629436111989; allowed in an encoding"},
    {"generate --rows 3 --backend rotation32 --dtype float64", "rotation32"},
    {"accuracy --rows 3 --backend rotation:sse2 --isa avx2", "rotation:sse2"},
    // Files and programs
    {"generate --rows 3 --dtype bfloat16 --format npy", "bfloat16"},
    {"generate --rows 3 --output x.foo", ".npy, .safetensors, .raw, .csv"},
    {"accuracy --rows 3 --output /nonexistent/x.npy",
     "--output is '/nonexistent/x.npy'; allowed formats: table, json"},
    {"compare --run a", "--run has 1 argument(s); allowed: two"},
    {"compare /nonexistent/a.json /nonexistent/b.json",
     "/nonexistent/a.json, which cannot be read: No such file or directory; allowed: JSON of "
     "posenc measure or posenc accuracy"},
    {"pick --cpu foo", "--cpu: 'foo' is not recognised; allowed: Zen 4, Zen 5, "},
    {"pick --cpu zen3 --isa avx512", "--isa is 'avx512'; allowed with the document of AMD EPYC"},
    {"pick --cpu zen3 --backend rotation:avx512", "rotation:sse2, rotation:avx2, rotation32"},
    {"pick --cpu zen4 --dtype float16", "types float32; threads 1; tables 64x64"},
    {"pick --cpu zen4 --shape 3x4",
     "--shape is '3x4'; allowed with the document of AMD EPYC (family 25"},
};

TEST(BadInput, IsOneLineAndExitTwo) {
  for (const auto& [line, named] : bad_cases) {
    SCOPED_TRACE(line);
    expect_refused(run_posenc(words(line)), named);
  }
}

TEST(BadInput, LeavesAnExistingFileAsItWas) {
  const ScratchFolder folder;
  write_file(folder / "table", "precious");
  for (const char* const line :
       {"generate --rows 3 --d-model 5", "generate --rows 3 --colour", "accuracy --rows 0",
        "generate --rows 3 --dtype bfloat16 --format npy", "compare / /"}) {
    EXPECT_EQ(run_posenc(words(line) + Arguments{"--output", folder / "table"}).exit_code, 2);
    EXPECT_EQ(read_file(folder / "table"), "precious") << line;
    EXPECT_THAT(folder.listing(), ElementsAre("table")) << line;
  }
}

}  // namespace
}  // namespace posenc::test
