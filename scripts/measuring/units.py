"""Numbers as text, each kind in one way."""

import math

TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}  # in seconds
SIZE_UNITS = {"GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10}  # in bytes


def digits(value: float, significant: int) -> str:
    """So many significant digits, never in powers of ten: "1.234", "12.34", "1234"."""
    if not value > 0:
        return "0"
    return f"{value:.{max(0, significant - 1 - math.floor(math.log10(value)))}f}"


def time_unit(seconds: float) -> str:
    """The largest unit in which the time is at least 1."""
    return next((unit for unit, size in TIME_UNITS.items() if seconds >= size), "ns")


def seconds_text(seconds: float, significant: int = 3) -> str:
    unit = time_unit(seconds)
    return f"{digits(seconds / TIME_UNITS[unit], significant)} {unit}"


def percent(share: float, decimals: int = 1) -> str:
    return f"{100 * share:.{decimals}f} %"


def truncated_percent(share: float) -> str:
    """Truncated and not rounded, so that 100 % means all."""
    if share == 1:
        return "100 %"
    decimals = 6 if share > 0.9999 else 2
    return f"{int(share * 100 * 10**decimals) / 10**decimals:.{decimals}f} %"


def error_text(error: float) -> str:
    return f"{error:.2e}"


def size_text(size: int) -> str:
    """A size in bytes, truncated to whole units."""
    for unit, factor in SIZE_UNITS.items():
        if size >= factor:
            return f"{size // factor} {unit}"
    return f"{size} B"
