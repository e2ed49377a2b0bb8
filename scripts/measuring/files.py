"""Files that appear whole or not at all, and temporary ones that no killed run leaves behind."""

import contextlib
import glob
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from measuring.errors import BadInput

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def built_program(name: str) -> str:
    """The path of a program of the preset that the scripts use."""
    return os.path.join(ROOT, "build", "release", "bin", name)


def read_json(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{path}: not JSON ({error})") from error


def make_folder(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise BadInput(
            f"--output is '{path}'; allowed: a folder that can be written ({error.strerror})"
        ) from error


def check_writable(path: str) -> None:
    """Before minutes of work, not after."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.exists(path) and not os.path.isfile(path):
        is_good = not os.path.isdir(path) and os.access(path, os.W_OK)  # a device or a pipe
    else:
        is_good = os.path.isdir(folder) and os.access(folder, os.W_OK)
    if not is_good:
        raise BadInput(f"--output is '{path}'; allowed: a file in a folder that can be written")


def is_running(process: str) -> bool:
    """True if a process has this number, and for text that is not the number of a process."""
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError, ValueError):
        pass
    return True


def remove_leftovers(before: str, after: str, remove: Callable[[str], None]) -> None:
    """Removes files or folders BEFORE<process>AFTER whose process was killed before it could."""
    for path in glob.glob(f"{glob.escape(before)}*{glob.escape(after)}"):
        if not is_running(path[len(before) : len(path) - len(after)]):
            with contextlib.suppress(OSError):
                remove(path)


@contextlib.contextmanager
def temporary_folder() -> Iterator[str]:
    """A folder for as long as the context lasts. Removes those of earlier runs that were killed."""
    remove_leftovers(os.path.join(tempfile.gettempdir(), "posenc-"), "-scripts", shutil.rmtree)
    folder = os.path.join(tempfile.gettempdir(), f"posenc-{os.getpid()}-scripts")
    os.mkdir(folder, mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)


def write_whole(path: str, content: str | bytes) -> None:
    """Writes a temporary file, then renames it: never half a file. What is no regular file, such as
    a device or a pipe, is written directly, since a rename would replace it."""
    data = content.encode() if isinstance(content, str) else content
    target = os.path.realpath(path)  # a link stays a link
    temporary = f"{target}.{os.getpid()}.tmp"
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            _write(target, data)
        else:
            remove_leftovers(f"{target}.", ".tmp", os.remove)
            _write(temporary, data)
            os.replace(temporary, target)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def write_json(path: str, document: Any) -> None:
    write_whole(path, json.dumps(document, indent=1) + "\n")
