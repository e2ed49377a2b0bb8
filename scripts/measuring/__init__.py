"""Reads, judges and shows what was measured. The scripts beside this package are its commands.

A module uses only those above it:
  errors, files, command     messages of one line, files that appear whole, arguments, exit codes
  units, tables              numbers as text, aligned tables
  statistics                 intervals, what a tie is, ranks
  results/                   benchmarks, accuracy reports and picks; sorted by CPU (machines)
  processes, ranking         one benchmark binary in several processes, ranked beyond noise
  speeds                     speed and accuracy of each backend on each preset, as one table
  posenc                     the posenc command
  figures/                   everything that is drawn, with matplotlib
  comparison/                the same tables from PyTorch and NumPy
  page, sections, report     the page of a machine's results
  answer                     the answer of a run, in a few lines
"""
