"""How good an agent is, as its journal shows: what it did, and what programs outside said of it.

Above: evolution, and whoever evaluates by hand. Below: the journal and the last evaluation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from prowess.errors import EvolutionError
from prowess.evolution.contributions import Axes, contributed, scores_of
from prowess.evolution.counts import count
from prowess.evolution.generations import Generations
from prowess.evolution.scores import Scores, parse_axes
from prowess.journal import Journal
from prowess.journal.between_turns import ScoreContributed
from prowess.store.database import Database
from prowess.types import JournalEntry

ENTRIES = 1000
"""So many of the latest entries of an agent are counted."""
CONTRIBUTIONS = 200


class ScoresSoFar(NamedTuple):
    """The scores of an agent, and the last entry in its chain that they are from, if they are from it."""

    scores: Scores
    counted: int | None = None


@dataclass(frozen=True, slots=True)
class JournalScores:
    database: Database
    journal: Journal
    generations: Generations

    def now(self, agent: str, given: Scores | Axes | None = None) -> ScoresSoFar:
        """Its scores; what is given counts as given, and what is not comes from the journal."""
        if isinstance(given, Scores):
            return ScoresSoFar(given)
        if given is not None and not isinstance(given, Mapping):
            remedy = "give Scores, some axes with their values, or none at all"
            raise EvolutionError("scores", f"got {type(given).__name__}", remedy)
        axes = parse_axes(given) if given is not None else None
        with self.database.reading() as transaction:
            standing = self.generations.standing(transaction, agent)
            since = self.generations.began(transaction, agent, standing.generation)
            # What came after the last good generation is in doubt, and all of it while a cause is looked for.
            after_good = min(standing.good + 1, standing.generation) if standing.good else 0
            is_calm = standing.trial is None
            good_until = self.generations.began(transaction, agent, after_good) if is_calm else (0, "")
        entries = self.journal.latest(ENTRIES, agent)
        first = _last_counted(entries, since)
        counts = count(entries, first, _last_counted(entries, good_until))
        said = contributed(self.journal.latest(CONTRIBUTIONS, agent, ScoreContributed.type), first)
        last = entries[-1].number if entries else 0
        return ScoresSoFar(scores_of(counts, said, standing.previous, axes), last)


def _last_counted(entries: Sequence[JournalEntry], began: tuple[int, str]) -> int:
    """The last entry that a generation counted; where nobody noted it, the last one of that time."""
    counted, at = began
    return counted if counted >= 0 else max((one.number for one in entries if one.at <= at), default=0)
