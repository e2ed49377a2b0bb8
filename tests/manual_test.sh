#!/usr/bin/env bash
# manual_test.sh FOLDER: every manual page is there, and groff has nothing to say against it. 77: no
# groff here.
set -euo pipefail
for page in posenc posenc-{list,accuracy,pick,profile,generate,compare}; do
  [[ -s $1/$page.1 ]] || { echo "$1/$page.1 is missing"; exit 1; }
  for section in ENVIRONMENT FILES; do
    grep -q "^\.SH $section\$" "$1/$page.1" || { echo "$1/$page.1 has no $section"; exit 1; }
  done
done
bash -n "$1/posenc.bash"
command -v groff >/dev/null || exit 77
for page in "$1"/*.1; do
  complaints=$(groff -man -Tutf8 -ww -z "$page" 2>&1)
  [[ -z $complaints ]] || { echo "$complaints"; exit 1; }
done
