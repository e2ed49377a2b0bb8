"""Tests programs that end while their daemon threads encode: they end as if there were none."""

import subprocess
import sys
import unittest

from modules import np

import posenc

del np, posenc  # the programs below import them

PROGRAM = """import threading
import time
import numpy as np
import posenc

encoder, rotary = posenc.Encoder(512), posenc.Rotary(512)
axes, x = posenc.AxesEncoder(posenc.axes_in_blocks([256, 256])), np.ones((20, 512), np.float32)
table = np.empty((20000, 512), np.float32)
begun = threading.Semaphore(0)


def call():
    {call}
    begun.release()
    while True:
        {call}


threads = [threading.Thread(target=call, daemon=True) for _ in range(3)]
for each in threads:
    each.start()
for each in threads:
    begun.acquire()
time.sleep({seconds})
"""
# A long call ends after the interpreter. Short calls wait for the GIL while the interpreter ends.
OFTEN = ["encoder.encode(range(20000), out=table, threads=2)", "encoder.encode(2)"] * 10
ONCE = ["rotary.apply(x)", "rotary.cosines_and_sines(2)", "axes.encode(2)",
        "posenc.Encoder(8)", "posenc.check(table)", "posenc.encode_grid(2, 2, 8)"]


class ExitTest(unittest.TestCase):
    def test_a_program_ends_while_daemon_threads_encode(self):
        for i, call in enumerate(OFTEN + ONCE):
            program = PROGRAM.format(call=call, seconds=i / 1000)
            ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                                   timeout=120)
            with self.subTest(call):
                self.assertEqual((ended.returncode, ended.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
