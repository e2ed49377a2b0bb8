"""The posenc command: tables and measured errors from it."""

import io
import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from reporting.documents import Measurement, read_measurements
from reporting.failures import BadInput, need_module, reading


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

    def _run(self, arguments: Sequence[str]) -> bytes:
        """What it writes to its standard output. Its own one-line error becomes BadInput."""
        try:
            done = subprocess.run([self.path, *arguments], capture_output=True, check=False)
        except OSError as error:
            raise BadInput(
                f"--posenc is '{self.path}'; allowed: the posenc command ({error.strerror})"
            ) from error
        if done.returncode != 0:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            ending = f"{self.path} {arguments[0]} ended with exit code {done.returncode}"
            raise BadInput(lines[0] if lines else ending)
        return done.stdout

    def table(self, rows: int, d_model: int) -> Any:
        """A NumPy array of shape (rows, d_model), neither of them 0. The sizes are those of the
        options if these name some."""
        sizes = self._sizes(rows=rows, d_model=d_model)
        output = self._run(["generate", "--format", "npy", *sizes, *self.options])
        table = need_module("numpy").load(io.BytesIO(output))
        if table.size == 0:
            raise BadInput("--rows is 0; allowed: at least 1")
        return table

    def errors(self, first: int, rows: int, d_model: int, backends: str) -> list[Measurement]:
        place = [f"--first={first}", f"--rows={rows}", *self._sizes(d_model=d_model)]
        if self.option("--backend") is None:
            place += [f"--backend={name}" for name in backends.split()]
        output = self._run(["accuracy", "--format", "json", *place, *self.options])
        with reading(f"{self.path} accuracy"):
            return read_measurements(json.loads(output))
