"""Shows what was measured: it times nothing and judges nothing, which `posenc measure` and
`posenc pick` do. The scripts beside this package are its commands.

A module uses only those above it:
  failures, files, command   messages of one line, files that appear whole, arguments, exit codes
  units, tables              numbers as text, tables as text and Markdown
  documents                  documents of measurements, by machine
  summary                    the README's tables
  measured                   the documents that are kept of each CPU, and what shows them
  posenc                     the posenc command
  peers                      other libraries in a few words
  figures/                   everything that is drawn, with matplotlib
  page, report               the page of figures and tables
"""
