"""Checks that the recipes for other repositories can be filled in and read, and that they name the
packages that the library needs."""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILL = ROOT / "packaging" / "fill.py"

# CMake packages, and patterns for their names in the recipes.
PACKAGES = {"nlohmann_json": "nlohmann[-_]json", "xsimd": "xsimd"}


def required_packages() -> set[str]:
    """The packages without which the library does not build."""
    text = (ROOT / "src/posenc/dependencies.cmake").read_text(encoding="utf-8")
    return set(re.findall(r"^ *posenc_need\((\w+) ", text, re.MULTILINE)) - {"CLI11", "fmt"}


class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.archive = pathlib.Path(cls.folder.name, "archive.tar.gz")
        cls.archive.write_bytes(b"an archive")
        cls.output = pathlib.Path(cls.folder.name, "recipes")
        cls.fill("someone/posenc", cls.archive, check=True)

    @classmethod
    def fill(
        cls, repository: str, archive: pathlib.Path, check: bool
    ) -> subprocess.CompletedProcess:
        command = [sys.executable, FILL, repository, archive, "--output", cls.output]
        return subprocess.run(command, check=check, capture_output=True, text=True)

    def text(self, file: str) -> str:
        return (self.output / file).read_text(encoding="utf-8")

    def test_nothing_is_left_to_fill_in(self) -> None:
        files = [each for each in self.output.rglob("*") if each.is_file()]
        self.assertGreater(len(files), 8)
        for file in files:
            self.assertNotRegex(file.read_text(encoding="utf-8"), "@[A-Z]", str(file))

    def test_the_hashes_are_those_of_the_archive(self) -> None:
        content = self.archive.read_bytes()
        self.assertIn(hashlib.sha512(content).hexdigest(), self.text("vcpkg/portfile.cmake"))
        for file in ("conan/all/conandata.yml", "conda/recipe.yaml"):
            self.assertIn(hashlib.sha256(content).hexdigest(), self.text(file))

    def test_the_version_is_that_of_the_project(self) -> None:
        project = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
        version = re.search(r"posenc VERSION (\S+)", project)[1]
        self.assertEqual(json.loads(self.text("vcpkg/vcpkg.json"))["version"], version)
        for file in ("conan/config.yml", "conan/all/conandata.yml", "conda/recipe.yaml"):
            self.assertIn(f'"{version}"', self.text(file))

    def test_python_and_yaml_can_read_their_files(self) -> None:
        for file in self.output.rglob("*.py"):
            compile(file.read_text(encoding="utf-8"), str(file), "exec")
        try:
            import yaml
        except ImportError:
            self.skipTest("there is no python3-yaml")
        for file in [*self.output.rglob("*.yml"), *self.output.rglob("*.yaml")]:
            self.assertIsInstance(yaml.safe_load(file.read_text(encoding="utf-8")), dict)

    def test_they_name_what_the_library_needs_and_no_more(self) -> None:
        self.assertLessEqual(required_packages(), PACKAGES.keys())
        for file in ("vcpkg/vcpkg.json", "conan/all/conanfile.py", "conda/recipe.yaml"):
            for package, name in PACKAGES.items():
                is_named = re.search(rf"\b{name}\b", self.text(file)) is not None
                self.assertEqual(is_named, package in required_packages(), f"{package} in {file}")

    def test_bad_arguments_are_refused(self) -> None:
        for repository, archive, name in (("posenc", self.archive, "OWNER/NAME"),
                                          ("someone/posenc", ROOT, "archive")):  # fmt: skip
            result = self.fill(repository, archive, check=False)
            self.assertEqual(result.returncode, 2)
            self.assertIn(f"{name} is '", result.stderr)


if __name__ == "__main__":
    unittest.main()
