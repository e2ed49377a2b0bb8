"""HTML with everything in it, light and dark, for screens and paper."""

import html
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from measuring.figures import style
from measuring.tables import Row, text_of


class Section(NamedTuple):
    id: str
    heading: str
    content: str  # HTML


def _asset(name: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


def _variable(color: str) -> str:
    """The colours of figures are variables in the page, so that one drawing serves both themes."""
    return f"--c{color[1:]}"


def _theme(dark: bool) -> str:
    """Declarations of a theme's colours."""
    shades = (
        f"{_variable(light)}: {shade if dark else light};" for light, shade in style.ON_DARK.items()
    )
    named = {
        "ink": style.INK,
        "muted": style.MUTED,
        "grid": style.GRID,
        "paper": style.PAPER,
        "link": style.NAVY,
    }
    return " ".join([*shades, *(f"--{name}: var({_variable(c)});" for name, c in named.items())])


def _css() -> str:
    text = _asset("page.css")
    return text.replace("/* light */", _theme(False)).replace("/* dark */", _theme(True))


def _inline_svg(text: str, name: str, kind: str, description: str) -> str:
    """A drawing of matplotlib's as part of a page: ids of its own, colours as variables, named for
    screen readers."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    prefix = f"{name}-{kind}-"
    text = re.sub(r'\bid="', f'id="{prefix}', text)
    text = re.sub(r'href="#', f'href="#{prefix}', text)
    text = text.replace("url(#", f"url(#{prefix}")
    for color in style.ON_DARK:
        text = re.sub(re.escape(color), f"var({_variable(color)})", text, flags=re.IGNORECASE)
    text = re.sub(r'^<svg\b(?P<rest>[^>]*?) (width|height)="[^"]*pt"', r"<svg\g<rest>", text)
    head = f'<svg class="{kind}" role="img" aria-label="{html.escape(description)}" '
    return text.replace("<svg ", head, 1)


def figure(name: str, drawings: Mapping[str, str], sentence: str) -> str:
    """Drawings: {"wide": SVG, "narrow": SVG}."""
    parts = [_inline_svg(text, name, kind, sentence) for kind, text in drawings.items()]
    caption = f"<figcaption>{html.escape(sentence)}</figcaption>"
    return f'<figure id="{name}">{"".join(parts)}{caption}</figure>\n'


def _table_row(header: Sequence[str], row: Row, left: Collection[int]) -> str:
    cells = []
    for column, (name, cell) in enumerate(zip(header, row)):
        number = "" if column in left else ' class="number"'
        value = html.escape(str(cell if isinstance(cell, str) else cell[1]))
        label = f'data-label="{html.escape(name)}" data-value="{value}"'
        cells.append(f"<td{number} {label}>{html.escape(text_of(cell))}</td>")
    return f"<tr>{''.join(cells)}</tr>\n"


def table(caption: str, header: Sequence[str], rows: Iterable[Row], left: Collection[int]) -> str:
    """The columns in `left` are text, the others numbers."""
    heads = "".join(
        f'<th scope="col"{"" if column in left else " class=number"}>'
        f'<button type="button">{html.escape(name)}</button></th>'
        for column, name in enumerate(header)
    )
    body = "".join(_table_row(header, row, left) for row in rows)
    return (
        f'<table class="sortable"><caption>{html.escape(caption)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>\n"
    )


def paragraph(text: str) -> str:
    """Empty for no text."""
    return f"<p>{html.escape(text)}</p>\n" if text else ""


def facts(pairs: Mapping[str, object]) -> str:
    """A list of names and values, without those that are not known."""
    items = "".join(
        f"<dt>{html.escape(name)}</dt><dd>{html.escape(str(value))}</dd>"
        for name, value in pairs.items()
        if value
    )
    return f"<dl>{items}</dl>\n"


def page(
    title: str, introduction: str, links: Mapping[str, str], sections: Iterable[Section]
) -> str:
    """Links: the texts by id."""
    anchors = "".join(f'<a href="#{id}">{html.escape(text)}</a>' for id, text in links.items())
    body = "".join(
        f'<section id="{each.id}"><h2>{html.escape(each.heading)}</h2>\n{each.content}</section>\n'
        for each in sections
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{html.escape(title)}</title>
<style>
{_css()}</style>
</head>
<body>
<header><h1>{html.escape(title)}</h1>
{introduction}
<nav aria-label="Contents">{anchors}</nav>
</header>
<main>
{body}</main>
<footer>Speeds are medians over the repetitions; relative IQR is half the interquartile range over
the median. Errors are against the exact, unrounded values.</footer>
<script>
{_asset("page.js")}</script>
</body>
</html>
"""
