"""Writes a source that holds the examples of all public headers, each in a function of its own:
header_examples.py OUTPUT. The build compiles it, so an example that does not compile fails the
build. An example is a run of indented lines in a docstring whose last line ends with a semicolon;
other indented lines are formulas."""
import pathlib
import re
import sys

SOURCES = pathlib.Path(__file__).resolve().parents[1] / "src"

# The variables that examples use without declaring them.
PROLOGUE = """
#include <posenc/c_api.h>
#include <posenc/check.h>
#include <posenc/model.h>
#include <posenc/posenc.h>
#include <posenc/suite.h>
#include <cstdio>
#include <iostream>

extern posenc::Matrix matrix, table;
extern const posenc::check::HeadsTable before, after;
extern const posenc::EncodingSpec spec;
extern const posenc::RowRange rows;
extern const std::unique_ptr<const posenc::Encoder> encoder;
extern posenc::EngineThreads& engine;
extern const posenc::model::AxesSpec axes;
extern const posenc::model::RotarySpec rotary;
extern std::vector<float> x, queries;
extern const std::vector<std::int64_t> positions;
extern const std::int64_t batch, count, heads, row, column, first_position;
extern const std::string text;
extern float values[5000 * 512];
std::unique_ptr<const posenc::RowWriter> make_my_writer(const posenc::EncodingSpec&);
"""


def examples(header):
    """The examples in a header, as texts."""
    for run in re.findall(r"(?:^ *///     .*\n)+", header, re.M):
        code = re.sub(r"^ *///     ", "", run, flags=re.M)
        if re.sub(r" *//.*", "", code).rstrip().endswith(";"):
            yield code


def main():
    """Writes the source. Each function is named after its header, so that errors name it, too."""
    functions = [PROLOGUE]
    for path in sorted(SOURCES.glob("**/posenc/**/*.h")):
        for code in examples(path.read_text(encoding="utf-8")):
            name = re.sub(r"\W", "_", str(path.relative_to(SOURCES)))
            functions.append(f"void example_{len(functions)}_of_{name}() {{\n{code}}}\n")
    pathlib.Path(sys.argv[1]).write_text("\n".join(functions), encoding="utf-8")


main()
