"""Reading documents of measurements: what is merged, what counts, what is refused; and the numbers,
tables and files that every script writes. First argument: the folder of the built programs."""

import math
import os

import script_support
from script_support import BROKEN, LARGE, SMALL, ScriptTest, document, row, run, sample, table

from reporting import files, tables, units
from reporting.documents import Table, read_machines
from reporting.failures import BadInput


class DocumentsTest(ScriptTest):
    def machines(self, *documents):
        named = enumerate(documents)
        return read_machines([str(self.write(f"{number}.json", each)) for number, each in named])

    def test_the_median_process_and_the_best_isa_count(self):
        (machine,) = self.machines(sample())
        speeds = {(each.name, each.table.rows): each.speed for each in machine.timed()}
        self.assertEqual(len(speeds), 6)
        self.assertAlmostEqual(speeds["rotation:avx2", 8], 4)
        self.assertAlmostEqual(speeds["rotation32:avx2", 5000], 3.5)

    def test_the_limit_is_the_fastest_store_loop_of_the_same_table(self):
        (machine,) = self.machines(sample())
        self.assertAlmostEqual(machine.limit(Table(5000, 512, stride=512)), 10)
        self.assertEqual(machine.limit(Table(5000, 512, stride=640)), 0)
        self.assertAlmostEqual(machine.loops(Table(8, 512, stride=512))["copy"], 13)

    def test_times_and_errors_of_one_encoder_become_one_row(self):
        timed = document(row("x:avx2", SMALL, 3, 1e-7))
        errors = document(row("x:avx2", {**SMALL, "threads": 2}, 0, 2e-7, by_position=[0, 1e-7]))
        for order in ((timed, errors), (errors, timed)):
            (machine,) = self.machines(*order)
            (found,) = machine.measurements
            self.assertAlmostEqual(found.speed, 3)
            self.assertEqual(found.table.threads, 1)
            self.assertEqual(found.report.by_position, [(0, 0.0), (1, 1e-7)])
        (machine,) = self.machines(timed, document(row("x:avx2", SMALL, 5, 1e-7)))
        self.assertAlmostEqual(machine.measurements[0].speed, 5)

    def test_other_tables_stand_apart(self):
        others = (SMALL, {**SMALL, "threads": 2}, {**SMALL, "stride": 640}, table(8, 512, base=5.0))
        (machine,) = self.machines(document(*(row("x:avx2", each, 3, 1e-7) for each in others)))
        names = [each.table.name for each in machine.measurements]
        further = ["", " (2 threads)", " (stride 640)", " (base 5)"]
        self.assertEqual(names, [f"8 x 512{each}" for each in further])

    def test_documents_are_sorted_by_cpu(self):
        machines = self.machines(sample("one"), sample("other"), sample("one"))
        self.assertEqual([machine.cpu for machine in machines], ["one", "other"])
        self.assertEqual([len(machine.files) for machine in machines], [2, 1])

    def test_null_is_not_a_number(self):
        wrong = row("x:avx2", LARGE, 1, 1e-7)
        wrong["error"]["max_abs"] = None
        (machine,) = self.machines(document(wrong))
        self.assertTrue(math.isnan(machine.measurements[0].error.max_abs))

    def test_broken_documents_are_refused_in_one_line(self):
        for content in BROKEN:
            path = self.write("broken.json", content)
            for script in (("summary.py",), ("report.py", "--output", self.folder / "none")):
                with self.subTest(script[0], content=content[:60]):
                    word = "measure" if content else "not JSON"
                    self.assert_refused(run(*script, path), str(path), word)
        self.assertEqual(os.listdir(self.folder), ["broken.json"])
        self.assert_refused(run("summary.py", "/nonexistent.json"), "/nonexistent.json: No such")
        self.assert_refused(run("summary.py", self.folder), str(self.folder))


class TextTest(ScriptTest):
    def test_numbers(self):
        for speed, expected in (
            *((66.0, "66"), (9.97, "10"), (4.94, "4.9"), (0.997, "1.0"), (0.06, "0.06")),
        ):
            self.assertEqual(units.speed_text(speed), expected)
        for share, expected in ((1, "all"), (0.999999999, "99.999999 %"), (0.58, "58.0 %")):
            self.assertEqual(units.share_text(share), expected)
        for seconds, expected in ((1.0, "1.00 s"), (12.34e-6, "12.3 us"), (5e-10, "0.500 ns")):
            self.assertEqual(units.seconds_text(seconds), expected)
        self.assertEqual(units.error_text(2.98e-8), "2.98e-8")
        self.assertEqual(units.size_text(105 << 20), "105 MiB")

    def test_tables(self):
        rows = [("a|b", "10"), ("", "1")]
        text = tables.text_table(("name", "n"), rows, (0,))
        self.assertEqual(text, "name   n\na|b   10\n       1")
        expected = "| name | n |\n|---|---:|\n| a\\|b | 10 |\n| | 1 |"
        self.assertEqual(tables.markdown_table(("name", "n"), rows, (0,)), expected)


class FilesTest(ScriptTest):
    def test_a_file_that_cannot_be_written_leaves_nothing(self):
        (self.folder / "taken" / "inside").mkdir(parents=True)
        with self.assertRaisesRegex(BadInput, "taken: "):
            files.write_whole(str(self.folder / "taken"), b"text")
        self.assertEqual(os.listdir(self.folder), ["taken"])

    def test_a_link_stays_a_link_and_a_device_a_device(self):
        target, link = self.write("target", "old"), self.folder / "link"
        link.symlink_to(target)
        files.write_whole(str(link), "new")
        self.assertTrue(link.is_symlink())
        self.assertEqual(target.read_text(encoding="utf-8"), "new")
        files.check_writable("/dev/null")
        files.write_whole("/dev/null", "text")
        self.assertFalse(os.path.isfile("/dev/null"))
        for path in (self.folder, "/nonexistent/x", "/dev/null/x"):
            with self.assertRaisesRegex(BadInput, f"^--output is '{path}'; allowed: "):
                files.check_writable(str(path))


if __name__ == "__main__":
    script_support.main()
