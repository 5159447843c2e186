"""What programs outside say of an agent, axis by axis, put together with what its journal shows. Pure.

Above: the engine. Below: the counts of the journal, and scores. An axis of which nothing new was said stays
as it was at the last evaluation, so that silence is no decline.
"""

from collections.abc import Iterable, Mapping
from statistics import fmean

from prowess.errors import EvolutionError
from prowess.evolution.fitness import NEUTRAL, Counts, scores_from
from prowess.evolution.scores import AXES, Scores, parse_scores
from prowess.journal import read
from prowess.journal.between_turns import ScoreContributed
from prowess.types import JournalEntry

LATEST = 10
"""So many of the latest words about an axis count."""
SHOWN_BY_CALLS = ("behavioral", "safety", "autonomy")

Axes = Mapping[str, float | str]
"""Some axes and what each is, as `Scores` takes them."""


def contributed(entries: Iterable[JournalEntry], since: int) -> dict[str, float]:
    """The mean of what was said lately, behind the entry `since`, of each axis: a fraction of one."""
    said: dict[str, list[float]] = {}
    for entry in entries:
        match read(entry):
            case ScoreContributed(axis=axis, value=value) if entry.number > since and axis in AXES:
                said.setdefault(axis, []).append(min(1.0, max(0.0, value)))
    return {axis: fmean(values[-LATEST:]) for axis, values in said.items()}


def scores_of(
    counts: Counts, said: Mapping[str, float], previous: Scores | None, given: Axes | None = None
) -> Scores:
    """How good an agent is: as given, else as was said of it, else as its calls show, else as it was.

    counts: what its journal shows since the last generation.
    said: what programs outside contributed.
    previous: its scores at the last evaluation.
    given: axes that whoever evaluates it says now.
    """
    if not (counts.requests or counts.safety_violations or said or given):
        remedy = "give scores, or record outcomes first"
        raise EvolutionError("scores", "nothing has happened since the last generation", remedy)
    found: dict[str, float | str] = _as_before(previous)
    if counts.requests:
        shown = scores_from(counts)
        found |= {axis: getattr(shown, axis) for axis in SHOWN_BY_CALLS}
    elif counts.safety_violations:
        found["safety"] = 0.0
    safest = float(found["safety"])
    found |= said
    if "safety" in said:  # neither outweighs the other
        found["safety"] = min(safest, said["safety"])
    return parse_scores({**found, **(given or {})})


def _as_before(previous: Scores | None) -> dict[str, float | str]:
    if previous is not None:
        return previous.as_data()
    return {"cognitive": NEUTRAL, "behavioral": NEUTRAL, "safety": 1.0, "autonomy": NEUTRAL,
            "meta_learning": NEUTRAL}  # fmt: skip
