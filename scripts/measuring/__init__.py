"""Reads, judges and shows what was measured. The scripts beside this package are its commands.

From the bottom up, where a module uses only those above it:
  errors, files, command   messages of one line, files that appear whole, arguments and exit codes
  units, tables            numbers as text, aligned tables
  statistics               intervals, what a tie is, ranks
  results, machines        result files: benchmarks, accuracy reports, picks; sorted by CPU
  speeds                   speed and accuracy of each backend on each preset, as one table
  processes, ranking       one benchmark binary in several processes, ranked beyond noise
  figures/                 everything that is drawn with matplotlib
  page, report, answer     the page of a machine's results, and the answer of a run
  comparison/              the same tables from PyTorch and NumPy
"""
