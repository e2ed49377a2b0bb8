"""Tests processes that fork after the library has used threads: the child encodes, also with
threads."""

import multiprocessing
import os
import signal
import sys
import unittest

from modules import np, torch

import posenc

# There are so many elements that every loop is divided between threads.
ROWS, D_MODEL, SECONDS = 4096, 512, 120
ENCODER = posenc.Encoder(D_MODEL)
ROTARY = posenc.Rotary(D_MODEL)


def encoded(first):
    """The work of a child. The sum of bits tells whether it is right."""
    table = ENCODER.encode(range(first, first + ROWS), threads=2)
    turned = ROTARY.apply(np.ones((ROWS, 2, D_MODEL), np.float32), first, threads=2)
    return sum(int(each.view(np.uint32).sum(dtype=np.uint64)) for each in (table, turned))


def setUpModule():
    if not hasattr(os, "fork"):
        raise unittest.SkipTest("this system does not fork")
    # A child that waits for ever would make the test wait for ever, too.
    signal.signal(signal.SIGALRM, fail)
    signal.alarm(SECONDS)


def fail(*_):
    for child in multiprocessing.active_children():
        child.kill()
    print(f"a child has not ended after {SECONDS} s", flush=True)
    os._exit(1)


class ForkTest(unittest.TestCase):
    def setUp(self):
        self.expected = [encoded(first) for first in range(0, 8)]  # with threads here

    def test_a_pool_of_processes_encodes_with_threads(self):
        for _ in range(3):
            with multiprocessing.get_context("fork").Pool(2) as pool:
                self.assertEqual(pool.map(encoded, range(0, 8)), self.expected)
            self.assertEqual(encoded(3), self.expected[3])  # this process still encodes, too

    def test_a_child_of_a_child_encodes_with_threads(self):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                own = encoded(1) == self.expected[1]
                grandchild = os.fork()
                if grandchild == 0:
                    os._exit(0 if encoded(2) == self.expected[2] else 1)
                status = 0 if own and os.waitpid(grandchild, 0)[1] == 0 else 1
            finally:
                os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    @unittest.skipIf(torch is None, "there is no PyTorch")
    def test_workers_of_a_data_loader_encode_with_threads(self):
        class Tables(torch.utils.data.Dataset):
            def __len__(self):
                return 8

            def __getitem__(self, first):
                return torch.tensor(encoded(first))

        loader = torch.utils.data.DataLoader(Tables(), num_workers=2, batch_size=1,
                                             multiprocessing_context="fork")
        for _ in range(2):
            self.assertEqual([int(each) for each in loader], self.expected)
            self.assertEqual(encoded(0), self.expected[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
