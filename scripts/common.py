"""What the scripts share: errors of one line, files that appear whole, the posenc command, and its results."""

import argparse
import contextlib
import glob
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Whose tables compare_torch.py times: no part of the library, and without an ISA in their names.
OTHER_PROGRAMS = ("pytorch", "numpy")
DEFAULT_COMMAND = os.path.join(ROOT, "build", "release", "bin", "posenc")

BAD_INPUT = 2
SKIPPED = 77  # what ctest and automake take for "skipped"
EXIT_CODES = (
    f"Exit codes: 0 good, 1 a check failed, {BAD_INPUT} bad input or failed input or output, {SKIPPED} skipped."
)


class BadInput(Exception):
    """One line that names the argument, its value and what is allowed."""


class Skipped(Exception):
    """One line that names what is missing."""


class ArgumentParser(argparse.ArgumentParser):
    """Errors of one line, without the usage; help that keeps its lines."""

    def __init__(self, **options):
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **options)

    def error(self, message):
        self.exit(BAD_INPUT, f"{self.prog}: {message}\n")


def run_main(name, main):
    """Exits with main()'s code, or with one line on stderr and the code of the failure."""
    # As Ctrl-C does, so that what main() has to tidy up is tidied up.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        sys.exit(main())
    except BadInput as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except Skipped as reason:
        print(f"{name}: skipped: {reason}", file=sys.stderr)
        sys.exit(SKIPPED)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def need_module(name, package):
    """Imports a module; Skipped, naming Debian's package, where this Python lacks it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Skipped(f"{sys.executable} has no {name} (Debian: {package})") from error


def aligned(cells, widths, left):
    """A line of a table: cells two spaces apart, those of the columns in left aligned there, the others at the right."""
    return "  ".join(
        cell.ljust(width) if column in left else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths))
    )


def integer(low, high):
    """For argparse: an integer from low to high."""

    def parse(text):
        try:
            value = int(text)
        except ValueError:
            value = None
        if value is None or not low <= value <= high:
            raise argparse.ArgumentTypeError(f"is '{text}'; allowed: an integer from {low} to {high}")
        return value

    return parse


def read_json(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{path}: not JSON ({error})") from error


def make_folder(path):
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise BadInput(f"--output is '{path}'; allowed: a folder that can be written ({error.strerror})") from error


def check_writable(path):
    """Before minutes of work, not after."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path) or not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        raise BadInput(f"--output is '{path}'; allowed: a file in a folder that can be written")


def is_running(process):
    """Whether a process of this number is there. True for what is no number of a process."""
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError, ValueError):
        pass
    return True


def remove_leftovers(before, after, remove):
    """Removes files or folders BEFORE<process>AFTER whose process was killed before it could."""
    for path in glob.glob(f"{glob.escape(before)}*{glob.escape(after)}"):
        if not is_running(path[len(before) : len(path) - len(after)]):
            with contextlib.suppress(OSError):
                remove(path)


@contextlib.contextmanager
def temporary_folder():
    """A folder for as long as the context lasts. Removes those of earlier runs that were killed."""
    remove_leftovers(os.path.join(tempfile.gettempdir(), "posenc-"), "-scripts", shutil.rmtree)
    folder = os.path.join(tempfile.gettempdir(), f"posenc-{os.getpid()}-scripts")
    os.mkdir(folder, mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_whole(path, content):
    """A temporary file, then a rename: never half a file. Content: text or bytes."""
    data = content.encode() if isinstance(content, str) else content
    remove_leftovers(f"{path}.", ".tmp", os.remove)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def run_posenc(command, arguments):
    """What the posenc command writes to its standard output, as bytes. Its own one-line error becomes BadInput."""
    try:
        done = subprocess.run([command, *map(str, arguments)], capture_output=True, check=False)
    except OSError as error:
        raise BadInput(f"--posenc is '{command}'; allowed: the posenc command ({error.strerror})") from error
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise BadInput(lines[0] if lines else f"{command} {arguments[0]} ended with exit code {done.returncode}")
    return done.stdout
