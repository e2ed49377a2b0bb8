"""The answer of a run in a few lines, from a report of posenc pick."""

from measuring.results import Document
from measuring.results.picks import Pick, budget_text, read_picks
from measuring.tables import aligned_rows
from measuring.units import error_text

CLASSES = {"l1": "L1 cache", "l2": "L2 cache", "l3": "L3 cache", "memory": "memory"}


def answer_lines(document: Document) -> list[str]:
    """The CPU, and the fastest backends within the error budget."""
    cpu, budget = document["cpu"]["model"], budget_text(document)
    if not budget:
        raise ValueError("no error budget")
    threads = document["threads"]
    what = f"({document['dtype']}, {threads} thread{'s' if threads != 1 else ''})"
    picks = read_picks({"picks": document["picks"]})
    if not picks:
        return [cpu, f"No backend is within an error of {budget} {what}."]
    lines = aligned_rows([_row_of(pick) for pick in picks], left=(0, 1, 3))
    answer = [cpu, f"Fastest within an error of {budget} {what}:", *(f"  {line}" for line in lines)]
    if document.get("disturbed"):
        saved = "" if document.get("profile") else "No profile was saved. "
        answer += [
            f"Not to be trusted: {document['disturbed']}.",
            f"{saved}Measure again when the machine is idle.",
        ]
    return answer


def _row_of(pick: Pick) -> list[str]:
    tied = f"; as fast: {', '.join(pick.ties)}" if pick.ties else ""
    return [
        f"tables in {CLASSES.get(pick.shape_class, pick.shape_class)}",
        pick.backend,
        f"{pick.gfloats:.2f} Gfloat/s",
        f"error {error_text(pick.max_abs)}{tied}",
    ]
