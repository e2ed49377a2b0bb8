"""What the tests of the scripts share: running one as a person would, and what its failures must
look like. Makes the scripts' package importable."""

import importlib.util
import json
import os
import subprocess
import sys
import unittest
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = os.path.join(ROOT, "scripts")
SKIPPED = 77
sys.path.insert(0, SCRIPTS)


def skip_without(*modules):
    """Ends the test as skipped where this Python lacks one of the modules."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            print(f"skipped: {sys.executable} has no {module} (Debian: python3-{module})")
            sys.exit(SKIPPED)


def binary(name):
    """A program of the build under test, whose folder the first argument names."""
    return os.path.join(BIN, name)


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write_json(path, document):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)


def run(script, *arguments, flags=()):
    environment = {key: text for key, text in os.environ.items() if not key.startswith("POSENC_")}
    # What the user has picked on this machine decides no test.
    environment["POSENC_PROFILE"] = "/nonexistent/posenc/profile.json"
    command = [sys.executable, *flags, os.path.join(SCRIPTS, script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


class ScriptTest(unittest.TestCase):
    def assert_refused(self, done, *words):
        """Exit 2 and one line on stderr that has the words; nothing on stdout."""
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def assert_good(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")

    def assert_whole_picture(self, path):
        with open(path, "rb") as file:
            content = file.read()
        if path.endswith(".png"):
            is_whole = content.startswith(b"\x89PNG\r\n") and content.endswith(b"IEND\xaeB`\x82")
        else:
            is_whole = xml.etree.ElementTree.fromstring(content).tag.endswith("svg")
        self.assertTrue(is_whole, path)


def main():
    global BIN
    BIN = sys.argv.pop(1)
    unittest.main()
