"""HTML with everything in it, light and dark, for screens and paper."""

import html
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from reporting.figures import style
from reporting.tables import Row, text_of


def _variable(color: str) -> str:
    """The colours of figures are variables in the page, so that one drawing serves both themes."""
    return f"--c{color[1:]}"


def _css() -> str:
    """The style sheet, with each theme's colours where it names them."""
    named = {"ink": style.INK, "muted": style.MUTED, "grid": style.GRID, "paper": style.PAPER}
    with open(os.path.join(os.path.dirname(__file__), "page.css"), encoding="utf-8") as file:
        text = file.read()
    for theme, place in (("light", 0), ("dark", 1)):
        colors = [f"{_variable(pair[0])}: {pair[place]};" for pair in style.ON_DARK.items()]
        colors += [f"--{name}: var({_variable(color)});" for name, color in named.items()]
        text = text.replace(f"/* {theme} */", " ".join(colors))
    return text


def figure(name: str, svg: str, caption: str) -> str:
    """A drawing of matplotlib's as part of a page: ids of its own, colours as variables, named for
    screen readers."""
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'href="#', f'href="#{name}-', svg)
    svg = svg.replace("url(#", f"url(#{name}-")
    for color in style.ON_DARK:
        svg = re.sub(re.escape(color), f"var({_variable(color)})", svg, flags=re.IGNORECASE)
    svg = re.sub(r' (width|height)="[^"]*pt"', "", svg, count=2)
    text = html.escape(caption)
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{text}" ', 1)
    drawing = f'<div class="wide">{svg}</div>'
    return f'<figure id="{name}">{drawing}<figcaption>{text}</figcaption></figure>\n'


def _cells(row: Row, left: Collection[int], tag: str) -> str:
    cells = []
    for column, cell in enumerate(row):
        number = "" if column in left else ' class="number"'
        cells.append(f"<{tag}{number}>{html.escape(text_of(cell))}</{tag}>")
    return f"<tr>{''.join(cells)}</tr>\n"


def table(caption: str, header: Sequence[str], rows: Iterable[Row], left: Collection[int]) -> str:
    """The columns in `left` are text, the others numbers."""
    body = "".join(_cells(row, left, "td") for row in rows)
    return (
        f'<div class="wide"><table><caption>{html.escape(caption)}</caption>'
        f"<thead>{_cells(header, left, 'th')}</thead><tbody>{body}</tbody></table></div>\n"
    )


def paragraph(text: str) -> str:
    return f"<p>{html.escape(text)}</p>\n"


def headline(text: str) -> str:
    return f'<p class="headline">{html.escape(text)}</p>\n'


def facts(pairs: Mapping[str, object]) -> str:
    """A list of names and values, without those that are not known."""
    items = "".join(
        f"<dt>{html.escape(name)}</dt><dd>{html.escape(str(value))}</dd>"
        for name, value in pairs.items()
        if value
    )
    return f"<dl>{items}</dl>\n"


def section(id: str, heading: str, content: str) -> str:
    return f'<section id="{id}"><h2>{html.escape(heading)}</h2>\n{content}</section>\n'


def page(title: str, introduction: str, links: Mapping[str, str], body: str) -> str:
    """Links: the texts by id."""
    anchors = "".join(f'<a href="#{id}">{html.escape(text)}</a>' for id, text in links.items())
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
{paragraph(introduction)}<nav aria-label="Contents">{anchors}</nav>
</header>
<main>
{body}</main>
</body>
</html>
"""
