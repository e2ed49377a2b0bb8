"""Files that appear whole or not at all."""

import json
import os
from typing import Any

from reporting.failures import BadInput

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


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
            _write(temporary, data)
            os.replace(temporary, target)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def write_json(path: str, document: Any) -> None:
    write_whole(path, json.dumps(document, indent=1) + "\n")
