"""Sample outputs in the documentation: the command prints every line of them, in this order. A
sample stands in a block below "<!-- output of COMMAND -->"; "..." stands for lines that are left
out. "*" stands for a part of a path. First argument: the folder of the built programs."""

import pathlib
import re
import shlex
import subprocess

import script_support
from script_support import ROOT, ScriptTest, binary, run

SAMPLE = re.compile(r"^<!-- output of ([^\n]+) -->\n\n```\n(.+?)^```\n", re.DOTALL | re.MULTILINE)


def expanded(argument):
    """A pattern of a path below the project is the one file that it matches."""
    if "*" not in argument:
        return [argument]
    found = list(map(str, pathlib.Path(ROOT).glob(argument)))
    return found if len(found) == 1 else [f"{argument} matches {len(found)} files"]


class SamplesTest(ScriptTest):
    def test_commands_print_what_the_pages_show(self):
        count = 0
        for page in [pathlib.Path(ROOT, "README.md"), *pathlib.Path(ROOT, "docs").glob("*.md")]:
            for command, sample in SAMPLE.findall(page.read_text(encoding="utf-8")):
                with self.subTest(page=page.name, command=command):
                    name, *arguments = shlex.split(command)
                    arguments = [path for each in arguments for path in expanded(each)]
                    if name.endswith(".py"):
                        done = run(name, *arguments)
                    else:
                        done = subprocess.run([binary(name), *arguments], capture_output=True,
                                              text=True, check=False)  # fmt: skip
                    self.assert_good(done)
                    printed = iter(done.stdout.splitlines())
                    for line in sample.splitlines():
                        if line not in ("", "..."):
                            self.assertIn(line, printed, done.stdout)
                    count += 1
        self.assertGreater(count, 0)


if __name__ == "__main__":
    script_support.main()
