"""Sample outputs in the documentation: the command prints every line of them, in this order. A
sample stands in a block below "<!-- output of COMMAND -->"; "..." stands for lines that are left
out. First argument: the folder of the built programs."""

import pathlib
import re
import shlex
import subprocess

import script_support
from script_support import ROOT, ScriptTest, binary

SAMPLE = re.compile(r"^<!-- output of ([^\n]+) -->\n\n```\n(.+?)^```\n", re.DOTALL | re.MULTILINE)


class SamplesTest(ScriptTest):
    def test_commands_print_what_the_pages_show(self):
        count = 0
        for page in [pathlib.Path(ROOT, "README.md"), *pathlib.Path(ROOT, "docs").glob("*.md")]:
            for command, sample in SAMPLE.findall(page.read_text(encoding="utf-8")):
                with self.subTest(page=page.name, command=command):
                    name, *arguments = shlex.split(command)
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
