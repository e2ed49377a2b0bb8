"""Builds the wheel for `pip install` with CMake alone, so that pip downloads nothing.

The functions that pip calls: https://peps.python.org/pep-0517/.
"""

from __future__ import annotations

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from typing import Any

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


def version() -> str:
    lists = (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r"project\(posenc VERSION ([0-9.]+)", lists)
    assert found, "CMakeLists.txt states no version"
    return found[1]


def tag() -> str:
    """The interpreter and the platform that a compiled module runs on."""
    interpreter = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = re.sub("[^a-zA-Z0-9]", "_", sysconfig.get_platform())
    return f"{interpreter}-{interpreter}-{platform}"


def metadata() -> dict[str, str]:
    """The files of the folder posenc-VERSION.dist-info, by name."""
    return {
        "METADATA": "Metadata-Version: 2.1\n"
        f"Name: posenc\nVersion: {version()}\n"
        "Summary: Sinusoidal positional encodings, correctly rounded and fast\n"
        "License: MIT\nRequires-Python: >=3.9\nRequires-Dist: numpy\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: posenc\n"
        f"Root-Is-Purelib: false\nTag: {tag()}\n",
    }


def build_package(build: pathlib.Path) -> pathlib.Path:
    """Builds the package and returns its folder."""
    configure = [
        "cmake", "-S", str(SOURCE), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release",
        f"-DPython_EXECUTABLE={sys.executable}", "-DPOSENC_PYTHON=ON", "-DPOSENC_CLI=OFF",
        "-DPOSENC_TESTS=OFF", "-DPOSENC_BENCHMARKS=OFF",
        f"-DPOSENC_WERROR={os.environ.get('POSENC_WERROR') or 'OFF'}",  # of CI
    ]  # fmt: skip
    if shutil.which("ninja"):
        configure += ["-G", "Ninja"]
    compile_it = ["cmake", "--build", str(build), "--target", "posenc_python",
                  "--parallel", str(os.cpu_count() or 1)]  # fmt: skip
    for command in (configure, compile_it):
        # pip shows what goes to standard output if the build fails.
        subprocess.run(command, check=True)
    return build / "python" / "posenc"


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    name = f"posenc-{version()}-{tag()}.whl"
    information = f"posenc-{version()}.dist-info"
    with tempfile.TemporaryDirectory() as build:
        package = build_package(pathlib.Path(build))
        contents = {
            f"posenc/{file.name}": file.read_bytes()
            for file in sorted(package.iterdir())
            if file.is_file()
        }
    contents |= {f"{information}/{file}": text.encode() for file, text in metadata().items()}
    contents[f"{information}/LICENSE"] = (SOURCE / "LICENSE").read_bytes()
    record = ""
    for path, content in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    contents[f"{information}/RECORD"] = f"{record}{information}/RECORD,,\n".encode()
    with zipfile.ZipFile(
        pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED
    ) as archive:
        for path, content in contents.items():
            archive.writestr(path, content)
    return name


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    raise NotImplementedError("posenc is installed from a checkout: pip install FOLDER")
