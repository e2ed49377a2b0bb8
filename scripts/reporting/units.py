"""Numbers as text, each kind in one way."""

import math

TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}  # in seconds
SIZE_UNITS = {"GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10}  # in bytes


def seconds_text(seconds: float) -> str:
    """Three digits, in the largest unit in which the time is at least 1."""
    unit = next((unit for unit, size in TIME_UNITS.items() if seconds >= size), "ns")
    value = seconds / TIME_UNITS[unit]
    decimals = max(0, 2 - math.floor(math.log10(value))) if value > 0 else 0
    return f"{value:.{decimals}f} {unit}"


def speed_text(speed: float) -> str:
    """Two significant digits, and at most two decimals: "66", "4.9", "0.06"."""
    decimals = next((n for n in (2, 1) if round(speed, n) < 10 ** (2 - n)), 0)
    return f"{speed:.{decimals}f}"


def percent(share: float, decimals: int = 1) -> str:
    return f"{100 * share:.{decimals}f} %"


def share_text(share: float) -> str:
    """Of entries that are correctly rounded. Truncated and not rounded, so that "all" means all."""
    if share == 1:
        return "all"
    decimals = 6 if share > 0.99999 else 3 if share > 0.99 else 1
    return f"{math.floor(share * 100 * 10**decimals + 1e-6) / 10**decimals:.{decimals}f} %"


def error_text(error: float) -> str:
    return f"{error:.2e}".replace("e-0", "e-").replace("e+00", "")


def size_text(size: int) -> str:
    """A size in bytes, truncated to whole units."""
    for unit, factor in SIZE_UNITS.items():
        if size >= factor:
            return f"{size // factor} {unit}"
    return f"{size} B"
