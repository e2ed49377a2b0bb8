#!/usr/bin/env python3
"""Fills in the recipes for other repositories from the archive of a release: the version of this
tree, the repository on GitHub, and the archive's hashes."""

import argparse
import hashlib
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
RECIPES = ("vcpkg", "conan", "conda")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", metavar="OWNER/NAME", help="the repository on GitHub")
    parser.add_argument("archive", type=pathlib.Path, help="that of the release, as GitHub has it")
    parser.add_argument("--output", type=pathlib.Path, required=True, metavar="FOLDER",
                        help="where to write the recipes; made if it does not exist")  # fmt: skip
    arguments = parser.parse_args()
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", arguments.repository):
        parser.error(f"OWNER/NAME is '{arguments.repository}'; allowed: as in posenc/posenc")
    if not arguments.archive.is_file():
        parser.error(f"archive is '{arguments.archive}'; allowed: a file that exists")
    return arguments


def version() -> str:
    text = (HERE.parent / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r"^project\(posenc VERSION (\S+)", text, re.MULTILINE)
    if found is None:
        sys.exit("CMakeLists.txt names no version")
    return found[1]


def values(arguments: argparse.Namespace) -> dict[str, str]:
    """What the placeholders stand for."""
    archive = arguments.archive.read_bytes()
    return {
        "VERSION": version(),
        "REPOSITORY": arguments.repository,
        "OWNER": arguments.repository.partition("/")[0],
        "SHA256": hashlib.sha256(archive).hexdigest(),
        "SHA512": hashlib.sha512(archive).hexdigest(),
    }


def filled(text: str, of: dict[str, str]) -> str:
    """An unknown placeholder is a KeyError."""
    return re.sub(r"@([A-Z0-9]+)@", lambda found: of[found[1]], text)


def main() -> None:
    arguments = parse_arguments()
    of = values(arguments)
    for recipe in RECIPES:
        for source in sorted((HERE / recipe).rglob("*")):
            if not source.is_file():
                continue
            target = arguments.output / source.relative_to(HERE)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(filled(source.read_text(encoding="utf-8"), of), encoding="utf-8")
    print(f"recipes of version {of['VERSION']}: {arguments.output}")


if __name__ == "__main__":
    main()
