"""How every figure of the project looks: colours that stay apart in greyscale, markers, fonts."""

from collections.abc import Iterable
from typing import Any

Look = dict[str, Any]  # keyword arguments of matplotlib's Axes.plot

INK = "#1c2733"
MUTED = "#5b6875"
GRID = "#d9dee3"
PAPER = "#ffffff"

# Colours of series, and what a dark page shows instead of each.
NAVY, ORANGE, TEAL, GREY, CRIMSON = "#0f4c81", "#e07b00", "#2a9d8f", "#7b838c", "#b0175b"
PALE_GREY = "#a9b1b9"
OTHER_COLORS = ("#5e3c99", "#d9a400", "#3d7a2a", "#7a3b2e", "#3f6fd8", "#8c9c1f", "#a35fc4")
_OTHERS_ON_DARK = ("#b79cf0", "#f2cc4d", "#8fd177", "#e09a88", "#8fb0ff", "#cbd95f", "#d8aeee")
ON_DARK = {
    INK: "#e8edf2",
    MUTED: "#9fb0c0",
    GRID: "#2c3945",
    PAPER: "#131a21",
    NAVY: "#6db3f2",
    ORANGE: "#ffad4d",
    TEAL: "#5fd3c4",
    GREY: "#aab4be",
    CRIMSON: "#ff7eb0",
    PALE_GREY: "#66727e",
    **dict(zip(OTHER_COLORS, _OTHERS_ON_DARK)),
}

# A backend looks the same in every figure. Dark and light alternate, and no two share a dash
# pattern and a marker, so that each is told apart without colour too.
BACKENDS: dict[str, Look] = {
    "rotation": {"color": NAVY, "linestyle": "-", "marker": "o"},
    "rotation32": {"color": ORANGE, "linestyle": (0, (6, 2)), "marker": "s"},
    "xsimd": {"color": TEAL, "linestyle": (0, (2, 2)), "marker": "^"},
    "naive": {"color": GREY, "linestyle": (0, (8, 2, 2, 2)), "marker": "D"},
    "div_term": {"color": CRIMSON, "linestyle": (0, (4, 1, 1, 1, 1, 1)), "marker": "v"},
}
# Series that are no backends: limits, the ideal. Without markers.
LINES: dict[str, Look] = {
    "store": {"color": INK, "linestyle": "-"},
    "non_temporal_store": {"color": MUTED, "linestyle": "-"},
    "copy": {"color": MUTED, "linestyle": (0, (4, 3))},
    "ideal": {"color": MUTED, "linestyle": ":"},
}
# What a plot shows beside those in colour, and marks of points by how phases are rounded.
PALE: Look = {"color": PALE_GREY, "linestyle": "-", "linewidth": 0.9, "zorder": 1}
PHASES = {"exact": "o", "double": "s", "float32": "D"}
# The numbers of colours, markers and dashes have no common factor: the first 63 pairs of colour and
# marker are different.
OTHER_MARKERS = ("P", "X", "<", ">", "p", "h", "d", "*", "8")
OTHER_DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1, 1, 1)),
    (0, (1, 1)),
    (0, (9, 3)),
    (0, (3, 1, 1, 1)),
)
# These look the same in every report. Other backends get the next looks in the order of their first
# appearance, and keep them.
_others = [
    "sleef_u10", "sleef_u35", "sleef_f64", "libmvec_f32", "libmvec_f64", "highway_f32",
    "highway_f64", "eigen", "ggml_recurrence", "drifting_rotation", "cached_copy",
    "pytorch", "numpy",
]  # fmt: skip

RC = {
    "font.family": "DejaVu Sans", "font.size": 10, "text.color": INK,
    "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left",
    "axes.titlepad": 10, "axes.titlecolor": INK, "axes.labelsize": 10, "axes.labelcolor": INK,
    "axes.edgecolor": MUTED, "axes.linewidth": 0.8, "axes.axisbelow": True,
    "axes.spines.top": False, "axes.spines.right": False,
    "xtick.color": MUTED, "xtick.labelcolor": INK, "xtick.labelsize": 9,
    "ytick.color": MUTED, "ytick.labelcolor": INK, "ytick.labelsize": 9,
    "grid.color": GRID, "grid.linewidth": 0.7,
    "legend.frameon": False, "legend.fontsize": 9,
    "lines.linewidth": 1.9, "lines.markersize": 5,
    "figure.facecolor": PAPER, "savefig.facecolor": PAPER,
    "figure.constrained_layout.w_pad": 0.1, "figure.constrained_layout.h_pad": 0.08,
    "svg.fonttype": "path", "svg.hashsalt": "posenc",  # the same picture has the same bytes
}  # fmt: skip


MOST_COLORED = 6


def colored(names: Iterable[str]) -> list[str]:
    """At most six, which a plot shows in colour: the library's backends, then the first others."""
    wanted = list(dict.fromkeys(names))
    return sorted(wanted, key=lambda name: name not in BACKENDS)[:MOST_COLORED]


def other_style(place: int) -> Look:
    """Colour, line style and marker of the series at a place among those not of BACKENDS."""
    return {
        "color": OTHER_COLORS[place % len(OTHER_COLORS)],
        "linestyle": OTHER_DASHES[place % len(OTHER_DASHES)],
        "marker": OTHER_MARKERS[place % len(OTHER_MARKERS)],
    }


def backend_style(name: str) -> Look:
    """Colour, line style and marker of a backend, of the library or not, in every figure."""
    if name in BACKENDS:
        return BACKENDS[name]
    if name not in _others:
        _others.append(name)
    return other_style(_others.index(name))
