"""This library beside PyTorch and NumPy on the CPU: same works, same number of threads, in turns.

  programs  the works of each program
  truth     what each program's table gets wrong, against the formula in long double
  bench     times the works of all programs in turns, and compares their values
  document  samples in Google Benchmark's format
  tables    what is shown of such a document
"""

WORKS = {  # as benchmarks are named, and as people read them
    "table_from_nothing": "table, from nothing",
    "table_kept_memory": "table, kept memory",
    "x_plus_pe": "x + pe",
    "forward_batch_first": "forward, batch first",
    "forward_seq_first": "forward, seq first",
}
KEPT_TABLE = "table_kept_memory"
