"""What every script does in the same way: failures of one line, arguments, exit codes, progress,
modules that may be missing, files that appear whole or not at all, and calls of posenc."""

import argparse
import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
POSENC = ROOT / "build" / "release" / "bin" / "posenc"
CHECK_FAILED = 1
BAD_INPUT = 2
SKIPPED = 77  # what ctest and automake take for "skipped"
EXIT_CODES = "Exit codes: 0 good, 2 bad input or failed I/O, 77 skipped: a module is missing."
CHOSEN = "POSENC_PYTHON_IS_CHOSEN"  # set when python_with.sh has chosen the interpreter


class BadInput(Exception):
    """One line that names the argument, its value and what is allowed."""


class ArgumentParser(argparse.ArgumentParser):
    """Errors of one line, without the usage; help that keeps its lines and ends with an example."""

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
    # As Ctrl-C does, so that main() removes its temporary files.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        code = main()
        sys.stdout.flush()
        sys.exit(code)
    except KeyboardInterrupt:
        sys.exit(130)
    except (BadInput, OSError) as error:
        # Else the interpreter would write what is buffered once more, at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader has seen enough
            sys.exit(0)
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT)


def skip(reason: str) -> NoReturn:
    """In one line that names what is missing."""
    print(f"{os.path.basename(sys.argv[0])}: skipped: {reason}", file=sys.stderr)
    sys.exit(SKIPPED)


def show_progress(text: str = "") -> None:
    """Overwrites the last progress on stderr if that is a terminal. No text clears the line."""
    if sys.stderr.isatty():
        print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)


def need_modules(*names: str) -> None:
    """Runs the script again under the first Python that has the modules if this one lacks any: the
    first on the path may not see what Debian's packages install. Skips the script if none has them.
    """
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing and os.environ.get(CHOSEN) != str(os.getpid()):
        os.environ[CHOSEN] = str(os.getpid())  # exec keeps the number
        sys.stdout.flush()
        with_modules = str(ROOT / "scripts" / "python_with.sh")
        os.execv(with_modules, [with_modules, *names, "--", *sys.argv])
    if missing:
        skip(f"{sys.executable} has no {missing[0]} (Debian: python3-{missing[0]})")


def check_writable(path: str | Path) -> None:
    """Before minutes of work, not after. A device or a folder would be replaced, not written."""
    target = Path(os.path.realpath(path))
    is_new = target.is_file() or not target.exists()
    if not is_new or not os.access(target.parent, os.W_OK) or not target.parent.is_dir():
        raise BadInput(f"--output is '{path}'; allowed: a file in a folder that can be written")


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Writes a temporary file, then renames it: never half a file."""
    check_writable(path)
    target = Path(os.path.realpath(path))  # a link stays a link
    temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def call_posenc(path: str | Path, *arguments: str) -> tuple[bytes, bool]:
    """What the command writes to its standard output, and whether its checks are good (exit code 0
    and not 1). Its bad input is ours: it has said so on stderr."""
    try:
        done = subprocess.run([path, *arguments], stdout=subprocess.PIPE, check=False)
    except OSError as error:
        reason = f"allowed: the posenc command ({error.strerror})"
        raise BadInput(f"--posenc is '{path}'; {reason}") from error
    if done.returncode == BAD_INPUT:
        sys.exit(BAD_INPUT)
    if done.returncode not in (0, CHECK_FAILED):
        raise BadInput(f"{path} {arguments[0]} ended with exit code {done.returncode}")
    return done.stdout, done.returncode == 0
