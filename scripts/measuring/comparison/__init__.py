"""This library beside PyTorch and NumPy on the CPU: same works, same number of threads, in turns.

  driver    bench_driver, the process that times the library
  programs  the works of each program
  truth     what each program's table gets wrong, against the formula in long double
  bench     times the works of all programs in turns, and compares their values
  output    tables for people, and samples in Google Benchmark's format
"""
