"""Code that all scripts share: paths, exit codes, failures of one line, and calls of posenc."""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
POSENC = os.environ.get("POSENC_COMMAND", ROOT / "build" / "release" / "bin" / "posenc")
CHECK_FAILED = 1
BAD_INPUT = 2


class BadInput(Exception):
    """An error of one line, which names the argument, its value and the allowed values."""


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """A parser whose help keeps the lines of the description."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter)


def run_main(main: Callable[[], int]) -> NoReturn:
    """Exits with main()'s code. A failure is one line on stderr."""
    try:
        sys.exit(main())
    except (BadInput, OSError) as error:
        print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except ModuleNotFoundError as error:
        print(f"{Path(sys.argv[0]).name}: {error}; allowed: a Python that has it, which "
              "scripts/python_with.sh finds: ./scripts/python_with.sh matplotlib numpy -- "
              + " ".join(sys.argv), file=sys.stderr)  # fmt: skip
        sys.exit(BAD_INPUT)


def call_posenc(*arguments: str | Path) -> tuple[str, bool]:
    """Returns the standard output of posenc, and whether its checks are good (exit code 0 and not
    1). If the command fails otherwise, this script ends with the same exit code."""
    done = subprocess.run([POSENC, *arguments], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, CHECK_FAILED):
        sys.exit(done.returncode)
    return done.stdout, done.returncode == 0
