"""Shows what was measured: it times nothing and judges nothing, which `posenc measure` and
`posenc pick` do. The scripts beside this package are its commands.

A module uses only those above it:
  command     failures of one line, arguments, exit codes, files, calls of posenc
  documents   documents of measurements
  tables      numbers as text, and tables of what was measured
  computed    picks and tables, by calls of posenc
  figures     everything that is drawn, with matplotlib
  page        the page of figures and tables
"""
