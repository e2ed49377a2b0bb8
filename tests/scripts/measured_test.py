"""Tests scripts/measured.py, the names of the documents in docs/measured, and that the pages show
these documents. First argument: the folder of the built programs."""

import json

import script_support
from script_support import ScriptTest, run

import measured

NAME = "a-cpu-avx2_g++-12.2.0_3f9c0a"
PAGE = "# What it says\n\n| CPU |\nold\n"


def sample(cpu="A CPU"):
    """The sample without reports, as posenc measure writes it."""
    document = script_support.sample(cpu)
    for row in document["measurements"]:
        row.pop("report", None)
    return document


class KeptTest(ScriptTest):
    """Tests the documents in docs/measured, and the pages that show them."""

    def test_the_pages_show_the_documents(self):
        again = "; to make it anew: scripts/measured.py --keep, of a document of docs/measured"
        kept = measured.read_kept()
        self.assertGreater(len(kept), 0)
        for name, document in kept.items():
            self.assertEqual((document.path.stem, document.disturbed), (name, ""))
            page = (measured.FOLDER / f"{name}.md").read_text(encoding="utf-8")
            self.assertEqual(page, measured.page_of(document), f"{name}.md{again}")
        page = measured.PAGE.read_text(encoding="utf-8")
        self.assertEqual(page, measured.index_of(page, kept), f"docs/measured.md{again}")


class MeasuredTest(ScriptTest):
    """Tests the command in a project of its own."""

    def setUp(self):
        super().setUp()
        self.root = self.copy_scripts()
        (self.root / "docs").mkdir()
        self.kept = self.root / "docs" / "measured"
        self.page = self.root / "docs" / "measured.md"
        self.page.write_text(PAGE, encoding="utf-8")

    def compared(self, content, *arguments):
        path = self.write("new.json", content)
        script = self.root / "scripts" / "measured.py"
        return run(script, path, *arguments, PYTHONDONTWRITEBYTECODE="1")

    def keep(self, content):
        done = self.compared(content, "--keep")
        self.assert_good(done)
        return done.stdout

    def test_keep_writes_the_document_and_the_page(self):
        self.assertIn(f"\nKept: docs/measured/{NAME}.json\n", self.keep(sample()))
        kept = (self.kept / f"{NAME}.json").read_text(encoding="utf-8")
        self.assertEqual(json.loads(kept), sample())
        index = self.page.read_text(encoding="utf-8")
        page = (self.kept / f"{NAME}.md").read_text(encoding="utf-8")
        link = f"[2026-11-24](measured/{NAME}.md)"
        found = f"| not recognised | A CPU | avx2 | g++ 12.2.0 | 3f9c0a | {link} | [JSON]("
        self.assertIn(found, index)
        self.assertTrue(page.startswith("# A CPU, avx2\n\nA CPU, avx2; g++ 12.2.0, "), page)
        self.assertIn("| `rotation:sse2` | 2.0 | 1.0 | 2.98e-8 | 2.98e-8 | all |\n", page)
        self.assertNotIn("sleef", page)
        self.assertTrue(index.startswith("# What it says\n\n| CPU | shown as | ISA "), index)

    def test_older_documents_stay(self):
        self.keep(sample())
        newer = {**sample(), "kernels": "4a", "measured_at": "2027-01-02T05:00:00Z"}
        self.keep(newer)
        rows = self.page.read_text(encoding="utf-8").splitlines()[-2:]
        self.assertIn("| 4a | [2027-01-02](", rows[0])
        self.assertIn("| 3f9c0a | [2026-11-24](", rows[1])

    def test_posenc_compare_says_what_got_slower(self):
        self.keep(sample())
        self.assertIn("regressions: 0;", self.keep(sample()))
        slower = sample()
        for row in slower["measurements"]:
            if (row["backend"], row["isa"]) == ("rotation", "sse2"):
                row["seconds"] = [1.5 * each for each in row["seconds"]]
        slow = self.compared(slower)
        self.assertEqual((slow.returncode, slow.stderr), (1, ""))
        self.assertRegex(slow.stdout, r"rotation:sse2 .* 1\.500 .* slower")
        self.assertIn("regressions: 2;", slow.stdout)

    def test_times_that_are_not_reliable_are_never_kept(self):
        done = self.compared({**sample(), "disturbed": "other work ran"}, "--keep")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn("\nNever kept. Not reliable: other work ran.\n", done.stdout)
        broken = sample()
        broken["measurements"][0]["error"]["max_abs"] = 1.0
        done = self.compared(broken, "--keep")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertIn("\nNever kept. A bound is broken.\n", done.stdout)
        self.assertFalse(self.kept.exists())


if __name__ == "__main__":
    script_support.main()
