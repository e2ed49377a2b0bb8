"""Code that all scripts share: failures of one line, arguments, exit codes, modules that may be
missing, files, and calls of posenc."""

import argparse
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
POSENC = ROOT / "build" / "release" / "bin" / "posenc"
CHECK_FAILED = 1
BAD_INPUT = 2
SKIPPED = 77  # ctest and automake understand this code as "skipped"
EXIT_CODES = "Exit codes: 0 good, 2 bad input or failed I/O, 77 skipped: a module is missing."


class BadInput(Exception):
    """An error of one line, which names the argument, its value and the allowed values."""


class ArgumentParser(argparse.ArgumentParser):
    """Prints errors in one line, without the usage. The help keeps its lines and ends with an
    example."""

    def __init__(self, example: str, description: str | None) -> None:
        super().__init__(
            prog=example.split()[0], description=description, allow_abbrev=False,
            epilog=f"example: {example}\n\n{EXIT_CODES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message}\n")


def run_main(main: Callable[[], int]) -> NoReturn:
    """Exits with main()'s code, or with one line on stderr and the code of the failure."""
    name = os.path.basename(sys.argv[0])
    try:
        code = main()
        sys.stdout.flush()
        sys.exit(code)
    except KeyboardInterrupt:
        sys.exit(130)
    except (BadInput, OSError) as error:
        # Otherwise the interpreter would write buffered output once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader has seen enough
            sys.exit(0)
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT)


def skip(reason: str) -> NoReturn:
    """Ends the script as skipped, with one line that names what is missing."""
    print(f"{os.path.basename(sys.argv[0])}: skipped: {reason}", file=sys.stderr)
    sys.exit(SKIPPED)


def need_modules(*names: str) -> None:
    """Skips the script if this Python lacks one: scripts/python_with.sh finds one that has them."""
    for name in names:
        if importlib.util.find_spec(name) is None:
            skip(f"{sys.executable} has no {name} (Debian: python3-{name})")


def check_writable(path: str | Path) -> None:
    """Refuses a file that cannot be written before minutes of work, and not after."""
    target, folder = Path(path), Path(path).parent
    if target.is_dir() or not folder.is_dir() or not os.access(
            target if target.exists() else folder, os.W_OK):  # fmt: skip
        raise BadInput(f"--output is '{path}'; allowed: a file in a folder that can be written")


def write_file(path: str | Path, content: str | bytes) -> None:
    check_writable(path)
    Path(path).write_bytes(content.encode() if isinstance(content, str) else content)


def call_posenc(path: str | Path, *arguments: str, quiet: bool = False) -> tuple[bytes, bool]:
    """Returns the standard output of the command, and whether its checks are good (exit code 0 and
    not 1). If the command refuses its input, this script ends with the same exit code. Messages of
    the command go to stderr; with `quiet`, not the message about a failed check."""
    try:
        done = subprocess.run([path, *arguments], capture_output=True, check=False)
    except OSError as error:
        reason = f"allowed: the posenc command ({error.strerror})"
        raise BadInput(f"--posenc is '{path}'; {reason}") from error
    if not quiet or done.returncode != CHECK_FAILED:
        print(done.stderr.decode(errors="replace"), end="", file=sys.stderr)
    if done.returncode == BAD_INPUT:
        sys.exit(BAD_INPUT)
    if done.returncode not in (0, CHECK_FAILED):
        raise BadInput(f"{path} {arguments[0]} ended with exit code {done.returncode}")
    return done.stdout, done.returncode == 0
