"""What every script does in the same way: arguments, exit codes, progress."""

import argparse
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from reporting.failures import BadInput, Skipped

CHECK_FAILED = 1
BAD_INPUT = 2
SKIPPED = 77  # what ctest and automake take for "skipped"
EXIT_CODES = (
    f"Exit codes: 0 good, {BAD_INPUT} bad input or failed input or output, {SKIPPED} skipped, "
    "since a module is missing."
)


class ArgumentParser(argparse.ArgumentParser):
    """Errors of one line, without the usage; help that keeps its lines and ends with an example."""

    def __init__(self, example: str, **options: Any) -> None:
        super().__init__(
            prog=example.split()[0],
            epilog=f"example: {example}\n\n{EXIT_CODES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            **options,
        )

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message}\n")


def integer(low: int, high: int) -> Callable[[str], int]:
    """For argparse: an integer from low to high."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            allowed = f"an integer from {low} to {high}"
            raise argparse.ArgumentTypeError(f"is '{text}'; allowed: {allowed}")
        return value

    return parse


def run_main(main: Callable[[], int]) -> NoReturn:
    """Exits with main()'s code, or with one line on stderr and the code of the failure."""
    name = os.path.basename(sys.argv[0])
    # As Ctrl-C does, so that main() removes its temporary files.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        code = main()
        sys.stdout.flush()
        sys.exit(code)
    except BadInput as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except Skipped as reason:
        print(f"{name}: skipped: {reason}", file=sys.stderr)
        sys.exit(SKIPPED)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # the reader has seen enough
        _discard_output()
        sys.exit(0)
    except OSError as error:
        _discard_output()
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT)


def _discard_output() -> None:
    """Else the interpreter would write what is buffered once more, at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def show_progress(text: str = "") -> None:
    """Overwrites the last progress on stderr if that is a terminal. No text clears the line."""
    if sys.stderr.isatty():
        print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)
