"""Why there is nothing in the catalogue, for people: a program that offers nothing is otherwise silent.

Above: the search that found nothing, the record of an offer, the doctor. Below: the catalogue.
"""

from collections.abc import Iterable, Sequence

from prowess.types import Problem

MAX_SAID = 3
UNREAD = "nothing is in the catalogue; run: prowess sync"


def why_empty(problems: Iterable[Problem]) -> str:
    """What a sync could not read, or that there was none."""
    said = [str(problem) for problem in problems if problem.severity == "error"]
    return f"nothing is in the catalogue: {'; '.join(said[:MAX_SAID])}" if said else UNREAD


def unread(sources: Sequence[str], read: Iterable[str]) -> tuple[Problem, ...]:
    """Sources that are configured, and that nobody has read yet.

    sources: the names of those that are configured.
    read: of those that somebody has read.
    """
    what, remedy = "was not read yet, so nothing is known of what it has", "run: prowess sync"
    new = [name for name in sources if name not in set(read)]
    return tuple(Problem(name, name, what, remedy, "warning") for name in new)
