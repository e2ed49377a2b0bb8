"""How every figure of the project looks: colours that stay apart in greyscale, fonts, and files that appear whole."""

import io

from common import write_whole

INK = "#1c2733"
MUTED = "#5b6875"
GRID = "#d9dee3"
PAPER = "#ffffff"

# A backend looks the same in every figure. Dark and light alternate, and no two share a dash pattern and a marker, so
# that each is told apart without colour too.
BACKENDS = {
    "rotation": {"color": "#0f4c81", "linestyle": "-", "marker": "o"},
    "rotation32": {"color": "#e07b00", "linestyle": (0, (6, 2)), "marker": "s"},
    "xsimd": {"color": "#2a9d8f", "linestyle": (0, (2, 2)), "marker": "^"},
    "naive": {"color": "#7b838c", "linestyle": (0, (8, 2, 2, 2)), "marker": "D"},
    "div_term": {"color": "#b0175b", "linestyle": (0, (4, 1, 1, 1, 1, 1)), "marker": "v"},
}
# For backends that are not among them, and for series that are no backends.
OTHERS = [
    {"color": "#5e3c99", "linestyle": "-", "marker": "P"},
    {"color": "#d9a400", "linestyle": (0, (5, 1, 1, 1)), "marker": "X"},
    {"color": "#3d7a2a", "linestyle": (0, (1, 1)), "marker": "<"},
    {"color": "#7a3b2e", "linestyle": (0, (9, 3)), "marker": ">"},
    {"color": "#3f6fd8", "linestyle": (0, (3, 1, 1, 1)), "marker": "p"},
]

RC = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.labelsize": 10,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.9,
    "lines.markersize": 5,
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "figure.constrained_layout.w_pad": 0.1,
    "figure.constrained_layout.h_pad": 0.08,
    "svg.fonttype": "path",
    "svg.hashsalt": "posenc",  # the same picture has the same bytes
}


def backend_style(name, known=()):
    """Colour, line style and marker of a backend; one outside the library has the next of OTHERS, by its place in `known`."""
    if name in BACKENDS:
        return BACKENDS[name]
    strangers = [other for other in known if other not in BACKENDS]
    place = strangers.index(name) if name in strangers else 0
    return OTHERS[place % len(OTHERS)]


def title(axes, text, note=""):
    """A title at the left, and below it a smaller line that says what was drawn."""
    axes.set_title(text, pad=24 if note else 10)
    if note:
        axes.annotate(
            note, (0, 1), xytext=(0, 9), xycoords="axes fraction", textcoords="offset points", fontsize=9, color=MUTED
        )


def spread_labels(wanted, least_gap):
    """Heights in ascending order, moved apart until each has least_gap to the next, close to those wanted."""
    placed = sorted(wanted)
    for _ in range(100):
        moved = False
        for low in range(len(placed) - 1):
            lacking = least_gap - (placed[low + 1] - placed[low])
            if lacking > 1e-9:
                placed[low] -= lacking / 2
                placed[low + 1] += lacking / 2
                moved = True
        if not moved:
            break
    return placed


def save(figure, stem, formats, dpi=150):
    """Writes stem.png, stem.svg ...; returns the paths."""
    paths = []
    for kind in formats:
        buffer = io.BytesIO()
        # Without a date, so that the same picture has the same bytes.
        metadata = {"svg": {"Date": None}, "png": {"Software": None}}[kind]
        figure.savefig(buffer, format=kind, dpi=dpi, metadata=metadata)
        paths.append(f"{stem}.{kind}")
        write_whole(paths[-1], buffer.getvalue())
    return paths
