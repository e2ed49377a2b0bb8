"""Tests the sample outputs in the documentation: the command prints every line of them, in the same
order. A sample is a block, or a table in Markdown, below "<!-- output of COMMAND -->". "..." stands
for lines that are left out, and "*" for a part of a path. First argument: the folder of the built
programs."""

import os
import re
import shlex

import script_support
from script_support import ROOT, ScriptTest, binary, run

SAMPLE = re.compile(r"^<!-- output of (.+?) -->\n\n(?:```\n(.+?)^```\n|((?:\|[^\n]*\n)+))",
                    re.DOTALL | re.MULTILINE)


def expanded(argument):
    """A path of the project, which may be a pattern that one file matches."""
    if not argument.startswith("docs/"):
        return argument
    (found,) = ROOT.glob(argument)
    return found


class SamplesTest(ScriptTest):
    def printed(self, commands):
        """The output of the last of the commands, which "&&" joins. Each may fail a check. They run
        in a folder of their own. The result is None if this CPU lacks an ISA that they name, or if
        the build lacks a program or another library."""
        os.chdir(self.folder)
        for command in " ".join(commands.split()).split(" && "):
            name, *arguments = shlex.split(command)
            program = name if name.endswith(".py") else binary(name)
            if not name.endswith(".py") and not os.path.exists(program):
                return None
            done = run(program, *map(expanded, arguments))
            is_left_out = "ISA is" in done.stderr or name == "posenc_peers"
            if done.returncode == 2 and is_left_out:
                return None
            self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.stdout

    def test_commands_print_what_the_pages_show(self):
        count = 0
        for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
            for commands, block, table in SAMPLE.findall(page.read_text(encoding="utf-8")):
                with self.subTest(page=page.name, command=commands):
                    if (output := self.printed(commands)) is None:
                        continue
                    printed = iter(output.splitlines())
                    for line in (block or table).splitlines():
                        if line not in ("", "..."):
                            self.assertIn(line, printed, output)
                    count += 1
        self.assertGreater(count, 0)


if __name__ == "__main__":
    script_support.main()
