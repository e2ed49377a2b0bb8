"""The posenc command: tables and accuracy reports from it."""

import argparse
import io
import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from measuring.errors import BadInput, need_numpy, reading
from measuring.results.accuracy import AccuracyReport, read_accuracy

MAX_ENTRIES = 1 << 24
MAX_BYTES = 4 * MAX_ENTRIES + 4096  # of a float32 table and the header of its file


@dataclass(frozen=True)
class Shape:
    """What to encode, as the command's options say it. None leaves the choice to the command."""

    preset: str | None = None
    rows: int | None = None
    d_model: int | None = None
    first: int | None = None
    base: str | None = None
    layout: str | None = None
    spacing: str | None = None

    @classmethod
    def of(cls, options: argparse.Namespace) -> "Shape":
        return cls(**{each.name: getattr(options, each.name) for each in fields(cls)})

    def or_else(self, **sizes: int) -> "Shape":
        """With a picture's own sizes where neither the user nor a preset says otherwise."""
        if self.preset is not None:
            return self
        missing = {name: size for name, size in sizes.items() if getattr(self, name) is None}
        return replace(self, **missing)

    def arguments(self) -> list[str]:
        given = [(each.name, getattr(self, each.name)) for each in fields(self)]
        return [
            word
            for name, value in given
            if value is not None
            for word in (f"--{name.replace('_', '-')}", str(value))
        ]

    def convention(self) -> str:
        """What tells the table from the paper's, such as ", layout halves"; empty if nothing."""
        names = ("preset", "base", "layout", "spacing")
        given = [(name, getattr(self, name)) for name in names]
        return "".join(f", {name} {value}" for name, value in given if value is not None)


@dataclass(frozen=True)
class Posenc:
    """The command's path."""

    path: str

    def run(self, arguments: Sequence[str]) -> bytes:
        """What it writes to its standard output. Its own one-line error becomes BadInput."""
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen([self.path, *arguments], stdout=pipe, stderr=pipe)
        except OSError as error:
            raise BadInput(
                f"--posenc is '{self.path}'; allowed: the posenc command ({error.strerror})"
            ) from error
        with process:
            assert process.stdout and process.stderr
            output = process.stdout.read(MAX_BYTES + 1)
            if len(output) > MAX_BYTES:
                process.kill()
                raise BadInput(f"the table has over {MAX_ENTRIES} entries; allowed: at most those")
            lines = process.stderr.read().decode(errors="replace").strip().splitlines()
        if process.returncode != 0:
            ending = f"{self.path} {arguments[0]} ended with exit code {process.returncode}"
            raise BadInput(lines[0] if lines else ending)
        return output

    def table(self, shape: Shape, backend: str | None) -> Any:
        """A NumPy array of shape (rows, d_model), neither of them 0."""
        chosen = ["--backend", backend] if backend else []
        output = self.run(["generate", "--format", "npy", *shape.arguments(), *chosen])
        table = need_numpy().load(io.BytesIO(output))
        if table.size == 0:
            raise BadInput("--rows is 0; allowed: at least 1")
        return table

    def accuracy(self, shape: Shape, backends: Sequence[str]) -> list[AccuracyReport]:
        chosen = [word for name in backends for word in ("--backend", name)]
        common = ["accuracy", "--format", "json", "--threads", "1"]
        output = self.run([*common, *shape.arguments(), *chosen])
        with reading(f"{self.path} accuracy"):
            return read_accuracy(json.loads(output))
