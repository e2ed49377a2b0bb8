"""Failures that end a script with one line on stderr."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class BadInput(Exception):
    """One line that names the argument, its value and what is allowed."""


class Skipped(Exception):
    """One line that names what is missing."""


def need_module(name: str, package: str) -> Any:
    """Imports a module. Throws Skipped, naming Debian's package, if this Python lacks it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Skipped(f"{sys.executable} has no {name} (Debian: {package})") from error


def need_numpy() -> Any:
    return need_module("numpy", "python3-numpy")


@contextmanager
def reading(source: str) -> Iterator[None]:
    """Turns the exceptions of a document of another form into BadInput."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise BadInput(
            f"{source}: not as posenc or its benchmarks write it ({error!r}); "
            "allowed: their files, unchanged"
        ) from error
