"""The page of the report: HTML with everything in it, light and dark, for screens and paper."""

import html
import re

import figure_style as style

def variable(color):
    return f"--c{color[1:]}"


# The colours of figures stand in the page as variables, so that one drawing serves light and dark.
def declarations(dark):
    return " ".join(
        f"{variable(light)}: {shade if dark else light};" for light, shade in style.ON_DARK.items()
    )


CSS = """
:root { color-scheme: light dark; LIGHT }
@media (prefers-color-scheme: dark) { :root { NIGHT } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
main, header, footer { max-width: 1020px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 40px; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 6px; }
h2 { font-size: 1.35rem; line-height: 1.3; margin: 56px 0 8px; padding-top: 14px; border-top: 2px solid var(--ink); overflow-wrap: anywhere; }
h3 { font-size: 1.08rem; margin: 36px 0 6px; }
p { margin: 8px 0; max-width: 46em; }
.muted, figcaption, footer { color: var(--muted); }
nav { margin: 18px 0 0; display: flex; flex-wrap: wrap; gap: 4px 18px; }
a { color: var(--link); text-underline-offset: 3px; overflow-wrap: anywhere; }
figure { margin: 34px 0 0; }
figcaption { font-size: .95rem; margin-top: 6px; max-width: 46em; }
figcaption strong { color: var(--ink); }
figure svg { display: block; width: 100%; height: auto; }
figure svg.narrow { display: none; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 3px 20px; margin: 12px 0; font-size: .95rem; }
dt { color: var(--muted); }
dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; margin: 14px 0; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--muted); padding-bottom: 6px; font-size: .95rem; }
th, td { padding: 5px 10px 5px 0; border-bottom: 1px solid var(--grid); text-align: left; }
td.number, th.number { text-align: right; }
th:last-child, td:last-child { padding-right: 0; }
th button { all: unset; cursor: pointer; font-weight: 600; }
th button:focus-visible, a:focus-visible { outline: 2px solid var(--link); outline-offset: 3px; border-radius: 2px; }
th button::after { content: "\\2195"; color: var(--muted); font-weight: 400; padding-left: 4px; }
th[aria-sort=ascending] button::after { content: "\\2191"; color: var(--ink); }
th[aria-sort=descending] button::after { content: "\\2193"; color: var(--ink); }
tbody tr:hover { background: var(--grid); }
footer { padding: 40px 20px; font-size: .9rem; }
@media (max-width: 640px) {
  figure svg.wide { display: none; }
  figure svg.narrow { display: block; }
  main, header, footer { padding-left: 16px; padding-right: 16px; }
  table, tbody, tr, td { display: block; width: 100%; }
  caption { display: block; }
  thead tr { display: flex; flex-wrap: wrap; gap: 0 16px; }
  thead th { border: 0; padding: 2px 0; }
  tbody tr { border-bottom: 1px solid var(--muted); padding: 8px 0; }
  td { display: flex; justify-content: space-between; gap: 16px; border: 0; padding: 1px 0; overflow-wrap: anywhere; }
  td::before { content: attr(data-label); color: var(--muted); flex: none; }
  td.number { text-align: right; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 6px; }
}
@media print {
  :root { color-scheme: light; LIGHT }
  nav, th button::after { display: none; }
  body { font-size: 10.5pt; }
  figure, tr, dl { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
}
"""

SCRIPT = """
for (const table of document.querySelectorAll("table.sortable")) {
  table.querySelectorAll("thead th").forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.querySelectorAll("thead th")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = row => row.cells[column].dataset.value;
      const order = (a, b) => head.classList.contains("number")
        ? (parseFloat(key(a)) || 0) - (parseFloat(key(b)) || 0) : key(a).localeCompare(key(b), undefined, {numeric: true});
      const body = table.tBodies[0];
      for (const row of [...body.rows].sort((a, b) => down ? order(b, a) : order(a, b))) body.append(row);
    });
  });
}
"""


def css():
    def theme(dark):
        named = {
            "ink": style.INK,
            "muted": style.MUTED,
            "grid": style.GRID,
            "paper": style.PAPER,
            "link": style.BACKENDS["rotation"]["color"],
        }
        return (
            declarations(dark) + " " + " ".join(f"--{name}: var({variable(color)});" for name, color in named.items())
        )

    return CSS.replace("LIGHT", theme(False)).replace("NIGHT", theme(True))


def inline_svg(text, name, kind, description):
    """A drawing of matplotlib's as part of a page: ids of its own, colours as variables, named for screen readers."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    prefix = f"{name}-{kind}-"
    text = re.sub(r'\bid="', f'id="{prefix}', text)
    text = re.sub(r'href="#', f'href="#{prefix}', text)
    text = text.replace("url(#", f"url(#{prefix}")
    for color in style.ON_DARK:
        text = re.sub(re.escape(color), f"var({variable(color)})", text, flags=re.IGNORECASE)
    head = f'<svg class="{kind}" role="img" aria-label="{html.escape(description, quote=True)}" '
    return re.sub(r'^<svg\b(?P<rest>[^>]*?) (width|height)="[^"]*pt"', r"<svg\g<rest>", text).replace("<svg ", head, 1)


def figure(name, drawings, sentence):
    """Drawings: {"wide": svg text, "narrow": svg text}."""
    parts = [inline_svg(text, name, kind, sentence) for kind, text in drawings.items()]
    return f'<figure id="{name}">{"".join(parts)}<figcaption>{html.escape(sentence)}</figcaption></figure>\n'


def cell(column, value):
    """A value is text, or a pair of the text shown and what it is sorted by."""
    text, key = value if isinstance(value, tuple) else (value, value)
    number = ' class="number"' if column[1] else ""
    return f'<td{number} data-label="{html.escape(column[0], quote=True)}" data-value="{html.escape(str(key), quote=True)}">{html.escape(text)}</td>'


def table(caption, columns, rows):
    """Columns: (name, is it a number). Rows: lists of cells (see cell)."""
    heads = "".join(
        f'<th scope="col"{" class=number" if number else ""}><button type="button">{html.escape(name)}</button></th>'
        for name, number in columns
    )
    body = "".join(
        "<tr>" + "".join(cell(column, value) for column, value in zip(columns, row)) + "</tr>\n" for row in rows
    )
    return (
        f'<table class="sortable"><caption>{html.escape(caption)}</caption><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table>\n"
    )


def facts(pairs):
    items = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(str(value))}</dd>" for name, value in pairs if value)
    return f"<dl>{items}</dl>\n"


def page(title, introduction, links, sections):
    """Links: (id, text). Sections: (id, heading, html)."""
    anchors = "".join(f'<a href="#{name}">{html.escape(text)}</a>' for name, text in links)
    body = "".join(
        f'<section id="{name}"><h2>{html.escape(heading)}</h2>\n{content}</section>\n'
        for name, heading, content in sections
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{html.escape(title)}</title>
<style>{css()}</style>
</head>
<body>
<header><h1>{html.escape(title)}</h1>
{introduction}
<nav aria-label="Contents">{anchors}</nav>
</header>
<main>
{body}</main>
<footer>Speeds are medians over the repetitions; spread is half the interquartile range over the median. Errors are against the exact,
unrounded values.</footer>
<script>{SCRIPT}</script>
</body>
</html>
"""
