"""The posenc command: tables, measured errors and documents from it."""

import io
import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from subprocess import PIPE
from typing import Any, NamedTuple

from reporting.command import CHECK_FAILED
from reporting.documents import Measurement, read_measurements
from reporting.failures import BadInput, need_module, reading


class Done(NamedTuple):
    """What the command wrote, and whether its checks passed: exit code 0 and not 1."""

    output: bytes
    is_good: bool


@dataclass(frozen=True)
class Posenc:
    """The command's path, and what it is asked for: options such as ["--preset", "whisper"]."""

    path: str
    options: list[str] = field(default_factory=list)

    def option(self, name: str) -> str | None:
        """The value of an option that was given."""
        for word, following in zip(self.options, [*self.options[1:], ""]):
            if word == name or word.startswith(f"{name}="):
                return following if word == name else word.partition("=")[2]
        return None

    def _sizes(self, **sizes: int) -> list[str]:
        """A picture's own sizes, where neither the user nor a preset says otherwise."""
        named = {f"--{name.replace('_', '-')}": str(size) for name, size in sizes.items()}
        if self.option("--preset") is not None:
            return []
        missing = [(name, size) for name, size in named.items() if self.option(name) is None]
        return [word for pair in missing for word in pair]

    def _run(self, arguments: Sequence[str], allowed: int = 0, stderr: int | None = PIPE) -> Done:
        """What it writes to its standard output. Its own one-line error becomes BadInput, but not
        if it ends with the allowed exit code."""
        try:
            done = subprocess.run([self.path, *arguments], stdout=PIPE, stderr=stderr, check=False)
        except OSError as error:
            raise BadInput(
                f"--posenc is '{self.path}'; allowed: the posenc command ({error.strerror})"
            ) from error
        if done.returncode not in (0, allowed):
            lines = (done.stderr or b"").decode(errors="replace").strip().splitlines()
            ending = f"{self.path} {arguments[0]} ended with exit code {done.returncode}"
            raise BadInput(lines[0] if lines else ending)
        return Done(done.stdout, done.returncode == 0)

    def table(self, rows: int, d_model: int) -> Any:
        """A NumPy array of shape (rows, d_model), neither of them 0. The sizes are those of the
        options if these name some."""
        sizes = self._sizes(rows=rows, d_model=d_model)
        output = self._run(["generate", "--format", "npy", *sizes, *self.options]).output
        table = need_module("numpy").load(io.BytesIO(output))
        if table.size == 0:
            raise BadInput("--rows is 0; allowed: at least 1")
        return table

    def errors(self, first: int, rows: int, d_model: int, backends: str) -> list[Measurement]:
        place = [f"--first={first}", f"--rows={rows}", *self._sizes(d_model=d_model)]
        if self.option("--backend") is None:
            place += [f"--backend={name}" for name in backends.split()]
        output = self._run(["accuracy", "--format", "json", *place, *self.options]).output
        with reading(f"{self.path} accuracy"):
            return read_measurements(json.loads(output))

    def measure(self, path: str) -> bool:
        """Writes a document of this CPU. False if its figures are not to be relied on, which the
        command explains on stderr."""
        arguments = ["measure", "--format", "json", "--output", path, *self.options]
        return self._run(arguments, allowed=CHECK_FAILED, stderr=None).is_good

    def compare(self, before: str, after: str) -> tuple[Any, bool]:
        """Its comparison of two documents; false if it has found a regression."""
        arguments = ["compare", "--format", "json", before, after]
        done = self._run(arguments, allowed=CHECK_FAILED)
        return json.loads(done.output), done.is_good
