"""Tests docs/examples/table.rs: rustc compiles it, and it prints what docs/from-c.md shows. It is
skipped if there is no rustc. Argument: the self-contained library of the C interface."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SAMPLE = re.compile(r"^<!-- output of table.rs -->\n\n```\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def main():
    rustc = shutil.which("rustc")
    if rustc is None:
        print("Skipped: there is no rustc")
        sys.exit(77)
    folder = pathlib.Path(sys.argv[1]).parent
    (sample,) = SAMPLE.findall((ROOT / "docs" / "from-c.md").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as here:
        program = pathlib.Path(here, "table")
        subprocess.run([rustc, "-D", "warnings", ROOT / "docs" / "examples" / "table.rs",
                        "-L", folder, "-o", program], check=True)
        environment = {**os.environ, "LD_LIBRARY_PATH": str(folder),
                       "DYLD_LIBRARY_PATH": str(folder)}
        printed = subprocess.run([program], env=environment, check=True, capture_output=True,
                                 text=True).stdout
    if printed != sample:
        sys.exit(f"table.rs prints\n{printed}but docs/from-c.md shows\n{sample}")


main()
