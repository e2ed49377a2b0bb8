"""Checks the version. It is set in CMakeLists.txt; the files that repeat it, and the date, must
agree with it."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


def found(file: str, pattern: str) -> str:
    """The group of the first match in a file."""
    match = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match else f"nothing in {file}"


VERSION = found("CMakeLists.txt", r"^project\(posenc VERSION (\S+)")


class Version(unittest.TestCase):
    def test_the_changelog_begins_with_it(self) -> None:
        self.assertEqual(found("CHANGELOG.md", r"^## \[(\d\S*)\]"), VERSION)

    def test_it_is_the_one_that_is_cited(self) -> None:
        self.assertEqual(found("CITATION.cff", r"^version: (\S+)$"), VERSION)
        self.assertEqual(
            found("CITATION.cff", r'^date-released: "(\S+)"$'),
            found("CHANGELOG.md", r"^## \[\d\S*\] - (\S+)$"),
        )

    def test_headers_show_it(self) -> None:
        for header in ("posenc/version.h", "c/posenc/c_api.h"):
            self.assertEqual(found(f"src/{header}", r'"(\d+\.\d+\.\d+)"'), VERSION)
        major, minor, patch = map(int, VERSION.split("."))
        number = found("src/posenc/version.h", r"^#define POSENC_VERSION_NUMBER (\d+)$")
        self.assertEqual(int(number), 10000 * major + 100 * minor + patch)


if __name__ == "__main__":
    unittest.main()
