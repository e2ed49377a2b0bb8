"""Shows measurements. The package times nothing and judges nothing: `posenc measure` and
`posenc pick` do. The scripts beside this package are its commands.

A module uses only the modules above it:
  command     paths, failures of one line, exit codes, calls of posenc
  documents   documents of measurements
  tables      numbers as text, and tables of measurements
  figures     all figures, drawn with matplotlib
  page        the page of figures and tables
"""
