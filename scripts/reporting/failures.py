"""Failures that end a script with one line on stderr."""

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

PYTHON_WITH = os.path.join(os.path.dirname(os.path.dirname(__file__)), "python_with.sh")
CHOSEN = "POSENC_PYTHON_IS_CHOSEN"  # set when python_with.sh has chosen the interpreter


class BadInput(Exception):
    """One line that names the argument, its value and what is allowed."""


class Skipped(Exception):
    """One line that names what is missing."""


def need_modules(*names: str) -> None:
    """Runs the script again under the first Python that has the modules if this one lacks any: the
    first on the path may not see what Debian's packages install. Throws Skipped if none has them.
    """
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if not missing:
        return
    if os.environ.get(CHOSEN) != str(os.getpid()):
        os.environ[CHOSEN] = str(os.getpid())  # exec keeps the number
        sys.stdout.flush()
        os.execv(PYTHON_WITH, [PYTHON_WITH, *names, "--", *sys.argv])
    raise Skipped(f"{sys.executable} has no {missing[0]} (Debian: python3-{missing[0]})")


def need_module(name: str) -> Any:
    """Imports a module that may be missing."""
    need_modules(name)
    return importlib.import_module(name)


@contextmanager
def reading(source: str) -> Iterator[None]:
    """Turns the exceptions of a document of another form into BadInput."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise BadInput(
            f"{source}: no document of measurements ({error!r}); "
            "allowed: what posenc measure and posenc accuracy --format json write"
        ) from error
