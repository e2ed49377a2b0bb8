"""scripts/measuring/statistics.py: intervals, ties, ranks. First argument: the folder of the built
programs, of which none is used."""

import math
import os

import script_support
from script_support import ScriptTest, read_json

from measuring.statistics import (
    competition_ranks,
    confidence_interval,
    is_tie,
    noise_floor_of,
    paired_ratio,
    relative_iqr,
)


class StatisticsTest(ScriptTest):
    def test_interval_is_students_over_the_processes(self):
        low, high = confidence_interval([[1, 2, 3], [2, 3, 4], [3, 4, 5]])
        # ln 2, ln 3, ln 4: mean 1.0594, standard deviation 0.3483; 4.303 standard errors each way.
        self.assertAlmostEqual(low, 1.214, 2)
        self.assertAlmostEqual(high, 6.854, 1)

    def test_more_repetitions_do_not_narrow_what_processes_spread(self):
        few = confidence_interval([[10], [11], [12]])
        self.assertEqual(few, confidence_interval([[10] * 50, [11] * 50, [12] * 50]))

    def test_interval_holds_the_median_of_all_samples(self):
        low, high = confidence_interval([[10, 10, 90], [10], [10]])
        self.assertTrue(low <= 10 <= high)
        # Unequal numbers of samples may put it outside of the processes' medians.
        groups = [[10] * 9, [1], [1.001], [1.002]]
        low, high = confidence_interval(groups)
        self.assertTrue(low <= 10 <= high)

    def test_one_process_has_no_interval(self):
        self.assertIsNone(confidence_interval([[1, 2, 3]]))

    def test_relative_iqr_is_half_the_interquartile_range(self):
        self.assertAlmostEqual(relative_iqr([9, 10, 11, 10, 14]), 0.05)
        self.assertEqual(relative_iqr([3]), 0)
        self.assertEqual(relative_iqr([0, 0, 0]), 0)


class TiesTest(ScriptTest):
    """The same verdicts as tests/support/ties_test.cpp."""

    def setUp(self):
        self.cases = read_json(os.path.join(script_support.ROOT, "tests", "data", "ties.json"))

    def test_pairs(self):
        self.assertTrue(self.cases["pairs"])
        for case in self.cases["pairs"]:
            with self.subTest(case["name"]):
                ratio = paired_ratio(case["one"], case["other"])
                high = math.inf if case["high"] is None else case["high"]
                expected = (case["ratio"], case["low"], high)
                for got, wanted in zip(ratio, expected):
                    self.assertAlmostEqual(got, wanted, 7)
                self.assertEqual(is_tie(ratio, case["noise_floor"]), case["tie"])

    def test_floors(self):
        self.assertTrue(self.cases["floors"])
        for case in self.cases["floors"]:
            with self.subTest(case["name"]):
                floor = noise_floor_of(case["self_ratios"])
                self.assertAlmostEqual(floor, case["floor"], 7)

    def test_ranks_are_those_of_a_competition(self):
        def ranks(tied, count=4):
            return competition_ranks(count, lambda i, j: (i, j) in tied)

        self.assertEqual(ranks(set()), [1, 2, 3, 4])
        self.assertEqual(ranks({(1, 2)}), [1, 2, 2, 4])
        self.assertEqual(ranks({(0, 1), (0, 2), (1, 2)}), [1, 1, 1, 4])
        # 1 ties with 2, which ties with 3, which does not tie with 1: it does not share 1's rank.
        self.assertEqual(ranks({(0, 1), (1, 2)}), [1, 1, 3, 4])
        self.assertEqual(ranks(set(), 0), [])


if __name__ == "__main__":
    script_support.main()
