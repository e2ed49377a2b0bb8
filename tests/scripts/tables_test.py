"""scripts/measuring/tables.py and units.py: aligned tables, numbers as text. First argument: the
folder of the built programs, of which none is used."""

import script_support
from script_support import ScriptTest

from measuring import units
from measuring.tables import COLUMNS, aligned_rows, markdown_table, text_table


class TablesTest(ScriptTest):
    def test_columns_are_aligned(self):
        text = text_table(("name", "time"), [("a", "10 us"), ("long name", "1 us")], left=(0,))
        self.assertEqual(text, "name        time\na          10 us\nlong name   1 us")

    def test_no_line_ends_with_blanks(self):
        self.assertEqual(aligned_rows([("a", ""), ("b", "text")], left=(0, 1)), ["a", "b  text"])

    def test_the_last_column_continues_below_itself(self):
        words = [f"word{number}," for number in range(40)]
        (row,) = aligned_rows([("first", " ".join(words))], left=(0, 1), wrap_last=True)
        lines = row.split("\n")
        self.assertGreater(len(lines), 1)
        self.assertLessEqual(max(map(len, lines)), COLUMNS)
        self.assertEqual(" ".join(row.split()), f"first {' '.join(words)}")
        self.assertEqual({line[:7] for line in lines[1:]}, {" " * 7})

    def test_markdown(self):
        text = markdown_table(("max |error|", "n"), [("a|b", "1")], left=(0,))
        self.assertEqual(text, "| max \\|error\\| | n |\n| --- | ---: |\n| a\\|b | 1 |\n")


class UnitsTest(ScriptTest):
    def test_times_have_the_unit_in_which_they_are_at_least_1(self):
        for seconds, expected in {
            1.0: "1.00 s",
            0.999: "999 ms",
            12.34e-6: "12.3 us",
            1e-6: "1.00 us",
            35.97e-9: "36.0 ns",
            0.5e-9: "0.500 ns",
            0.0: "0 ns",
        }.items():
            self.assertEqual(units.seconds_text(seconds), expected)
        self.assertEqual(units.seconds_text(12.34e-6, 4), "12.34 us")

    def test_powers_of_ten_are_whole(self):
        names = [units.seconds_text(10.0**power, 1) for power in range(-9, 1)]
        decades = ("1", "10", "100")
        expected = [f"{decade} {unit}" for unit in ("ns", "us", "ms") for decade in decades]
        self.assertEqual(names, [*expected, "1 s"])

    def test_digits(self):
        for value, expected in ((1.23456, "1.235"), (12.3, "12.30"), (12345.6, "12346"), (0, "0")):
            self.assertEqual(units.digits(value, 4), expected)

    def test_only_all_is_100_percent(self):
        self.assertEqual(units.truncated_percent(1), "100 %")
        self.assertEqual(units.truncated_percent(0.999999999), "99.999999 %")
        self.assertEqual(units.truncated_percent(0.58799), "58.79 %")
        self.assertEqual(units.percent(0.9999), "100.0 %")

    def test_sizes(self):
        for size, expected in ((512, "512 B"), (16384, "16 KiB"), (105 << 20, "105 MiB")):
            self.assertEqual(units.size_text(size), expected)


if __name__ == "__main__":
    script_support.main()
