"""Shows measurements. The package times nothing and judges nothing: `posenc measure` and
`posenc pick` do. The scripts beside this package are its commands.

A module uses only the modules above it:
  command     failures of one line, arguments, exit codes, files, calls of posenc
  documents   documents of measurements
  tables      numbers as text, and tables of measurements
  computed    picks and tables, by calls of posenc
  figures     all figures, drawn with matplotlib
  page        the page of figures and tables
"""
