#!/usr/bin/env python3
"""Drops three tables on the page of posenc check in Chromium, and compares the page's report with
the command's report: page_test.py CHROMIUM FOLDER. FOLDER has check.html and posenc.js."""

import base64
import html
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CHROMIUM, FOLDER = sys.argv[1], Path(sys.argv[2])
# The options with which each table is generated, and the options with which it is checked.
TABLES = {
    "good.npy": (["--rows", "200", "--d-model", "64"], ""),
    "wrong.npy": (["--rows", "3000", "--d-model", "64", "--backend", "div_term"], ""),
    "other.npy": (["--rows", "200", "--d-model", "64", "--base", "500"], "--preset tutorial"),
}
# Acts as if somebody had chosen the file.
CHOOSE = """<script>
document.getElementById("options").value = "{options}";
const chosen = new DataTransfer();
chosen.items.add(new File([Uint8Array.from(atob("{data}"), c => c.charCodeAt(0))], "{name}"));
document.getElementById("file").files = chosen.files;
document.getElementById("file").dispatchEvent(new Event("change"));
</script></body>"""
FLAGS = ("--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
         "--disable-background-networking --virtual-time-budget=20000 --dump-dom")  # fmt: skip


def posenc(*arguments: str) -> str:
    command = ["node", str(FOLDER / "posenc.js"), *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout


def said_by_page(folder: Path, table: Path, options: str) -> str:
    data = base64.b64encode(table.read_bytes()).decode()
    page = folder / "page.html"
    choose = CHOOSE.format(options=options, data=data, name=table.name)
    page.write_text((FOLDER / "check.html").read_text().replace("</body>", choose))
    command = [CHROMIUM, *FLAGS.split(), f"--user-data-dir={folder}/profile", page.as_uri()]
    dom = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                         timeout=120, check=True).stdout  # fmt: skip
    report = re.search(r'<pre id="report">(.*?)</pre>', dom, re.DOTALL)
    assert report, f"{table.name}: the page shows no report"
    bars = dom.count("<rect ")
    assert bars > 64, f"{table.name}: {bars} bars in the figures"
    return html.unescape(report[1])


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, (arguments, options) in TABLES.items():
            table = folder / file
            posenc("generate", *arguments, "--output", str(table))
            expected = posenc("check", str(table), *options.split()).replace(str(table), file)
            said = said_by_page(folder, table, options)
            assert said.strip() == expected.strip(), f"{file}: the page says\n{said}"
            print(f"{file:10} {said.splitlines()[0]}")


if __name__ == "__main__":
    main()
