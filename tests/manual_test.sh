#!/usr/bin/env bash
# manual_test.sh FOLDER: checks that every manual page has its sections and passes groff without a
# warning. Exits with 77 if groff, or help2man, which makes the pages, is missing.
set -euo pipefail
if ! command -v help2man >/dev/null || ! command -v groff >/dev/null; then exit 77; fi
for command in "" -list -accuracy -measure -pick -generate -check -compare; do
  page=$1/posenc$command.1
  [[ -s $page ]] || { echo "$page is missing"; exit 1; }
  for section in NAME SYNOPSIS OPTIONS EXAMPLES ENVIRONMENT '"EXIT STATUS"' '"SEE ALSO"'; do
    grep -q "^\.SH $section\$" "$page" || { echo "$page has no section $section"; exit 1; }
  done
  grep -q "^posenc$command \\\\- [A-Z]" "$page" || { echo "$page has no description"; exit 1; }
  complaints=$(groff -man -Tutf8 -ww -z "$page" 2>&1)
  [[ -z $complaints ]] || { echo "$complaints"; exit 1; }
done
