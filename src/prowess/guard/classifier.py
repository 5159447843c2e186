"""What was learnt from attacks and honest texts: how much a text reads like an attack.

Above stands judge in sanitise, which asks it for a second opinion. The head beside this file is made by
`train/guard.py`: one weight for each hashed word, pair of words and pair with a gap, and one for each concept
and pair of concepts (`concepts.py`) that stand in one sentence or close together. It reads every window of a
text, and says which stretches of a long one the network reads first (`networks.py`).
What network, head and rules say is added up; `model/limits.json`, made by `train/guard_limits.py`, says what
each counts and from which sum on a text of each channel is rejected. Where the network is not there, the head
speaks alone. The same text gets the same answer every time.
"""

import json
import zlib
from bisect import bisect_right
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from prowess.guard.concepts import Sentence, lexicon, pieces, sentence
from prowess.guard.integrity import fault
from prowess.guard.networks import NetworkScore, Reader, Stretch, runs_of
from prowess.guard.quotations import Spans
from prowess.guard.verdict_cache import Verdict, VerdictCache
from prowess.text.characters import fold

SHIPPED = Path(__file__).parent / "model" / "guard.npz"
SUMS = "limits.json"

CHANNELS = ("tool_description", "schema_field", "card", "skill", "result")
BUCKETS = 1 << 14
WINDOW = 300
WORDS = 60
"""How many words of one sentence are read."""
QUOTED = 15
"""So many characters in quotation marks or code make a sentence one that shows something."""
FEWEST = 8
LEAST, GREATEST = -3.0, 4.0
"""How unusual words can be at most, in either direction."""
NOTHING = Spans()

Features = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SentenceWindow:
    """A few sentences: where they begin, and what can be read off them."""

    place: int
    words: Features
    concepts: Features


@dataclass(frozen=True, slots=True)
class ClassifierScore:
    """How far over its limit a text is, where the part begins that reads worst, and what that means."""

    score: float
    place: int
    rejects: bool = False
    """Whether it rejects by itself."""
    harmless: bool = True
    """Whether it speaks up for a text that the rules would reject."""
    end: int = 0
    """Where the stretch ends that reads worst."""


@dataclass(frozen=True, slots=True)
class ScoreLimits:
    """By channel: from which score on it rejects by itself, and below which it overrules the rules."""

    high: dict[str, float]
    low: dict[str, float]

    def reading(self, score: float, place: int, channel: str) -> ClassifierScore:
        return ClassifierScore(score, place, score >= self.high[channel], score < self.low[channel])


@dataclass(frozen=True, slots=True)
class Sum:
    """What each opinion counts, and from which sum on a text of a channel is rejected."""

    network: float
    words: float
    rules: float
    limits: dict[str, float]

    @classmethod
    def open(cls, file: Path) -> Self:
        return cls(**json.loads(file.read_text(encoding="utf-8")))

    def over(self, seen: NetworkScore, unusual: float, rules: float, channel: str) -> float:
        """By how much it is over its limit, or under."""
        words = self.words * min(max(unusual, LEAST), GREATEST)
        return self.network * seen.log_odds + words + self.rules * rules - self.limits[channel]


def no_reader() -> None:
    """For texts that must be judged quickly."""


@dataclass(frozen=True, slots=True)
class Classifier:
    words: Weights
    concepts: Weights
    channels: dict[str, float]
    """What is usual differs by channel, so each has its own start."""
    alone: ScoreLimits
    usual: dict[str, tuple[float, float]]
    """The middle and the spread of the head's scores of honest texts, by channel."""
    total: Sum
    """Of all opinions, the head's measured by what is usual."""
    harmless: float
    """What the head finds no more unusual than this, and rules find nothing in, the network does not read."""
    reader: Callable[[], Reader | None]
    """Opened when there is something for it to read."""
    verdicts: VerdictCache[Any] = field(default_factory=VerdictCache, compare=False, repr=False)
    """What was judged with its help."""

    @classmethod
    def open(cls, file: Path = SHIPPED, reader: bool = True) -> Self | None:
        """The shipped head, or none when it is not there or damaged: the guard then has its rules alone."""
        if not file.exists() or (file == SHIPPED and fault()):
            return None
        with np.load(file, allow_pickle=False) as kept:
            rows = [dict(zip(CHANNELS, row.tolist(), strict=True)) for row in kept["numbers"].astype(float)]
            words, concepts = (kept[name].astype(np.float32) for name in ("words", "concepts"))
            harmless = float(kept["harmless"])
        starts, alone, middle, spread = rows[0], ScoreLimits(rows[1], rows[2]), rows[3], rows[4]
        usual = {channel: (middle[channel], spread[channel]) for channel in CHANNELS}
        total = Sum.open(file.with_name(SUMS))
        network = cache(Reader.open) if reader else no_reader
        return cls(words, concepts, starts, alone, usual, total, harmless, network)

    def read(
        self,
        text: str,
        channel: str,
        shown: Spans = NOTHING,
        hidden: Sequence[Stretch] = (),
        rules: float = 0.0,
        places: Sequence[int] = (),
    ) -> ClassifierScore:
        """How much a text reads like an attack, and where.

        What it hides is read along, what rules found in it is added, and places they point at are read first.
        """
        said = self.by_words(text, channel, shown)
        if not said and not hidden:
            return ClassifierScore(-np.inf, 0)
        score, place = said[0] if said else (self.usual[channel][0], 0)
        unusual = self.unusual(score, channel)
        if unusual < self.harmless and not rules and not hidden:
            return ClassifierScore(-np.inf, place)
        reader = self.reader()
        if reader is None:
            return self.alone.reading(score, place, channel)
        seen = reader.read(text, channel, [*places, *(at for _, at in said)], hidden)
        over = self.total.over(seen, unusual, rules, channel)
        if over < 0:
            return ClassifierScore(over, seen.place, end=seen.end)
        place, end = reader.worst_sentence(text, channel, seen)
        return ClassifierScore(over, place, rejects=True, harmless=False, end=end)

    def remembered(self, text: str, about: Hashable, judge: Callable[[], Verdict]) -> Verdict:
        """The verdict on a text that was judged before; one without the network is another."""
        found: Verdict = self.verdicts.of(text, (about, self.reader is no_reader), judge)
        return found

    def by_words(self, text: str, channel: str, shown: Spans = NOTHING) -> list[tuple[float, int]]:
        """The score and place of each window, the one first that reads most like an attack by its words."""
        found = [(self._score(window, channel), window.place) for window in windows(text, shown)]
        return sorted(found, key=lambda one: -one[0])

    def unusual(self, score: float, channel: str) -> float:
        """A score of the head, measured by the honest texts of the channel."""
        middle, spread = self.usual[channel]
        return (score - middle) / spread

    def _score(self, window: SentenceWindow, channel: str) -> float:
        said = float(self.words[window.words].sum()) * scale(window.words)
        meant = float(self.concepts[window.concepts].sum()) * scale(window.concepts)
        return said + meant + self.channels[channel]


def scale(found: Features) -> float:
    """Long windows have more of everything; their sum grows with the square root of that."""
    return float(1 / np.sqrt(max(FEWEST, len(found))))


def concept_features() -> int:
    """How many weights concepts have: one each, one for each pair nearby, one for each in one sentence."""
    count = len(lexicon().names)
    return count + 2 * count * count


def windows(text: str, shown: Spans = NOTHING) -> list[SentenceWindow]:
    """Overlapping runs of sentences."""
    folded = fold(text, look_alikes=False).text
    original = text if len(folded) == len(text) else folded
    places = list(pieces(folded))
    read = [sentence(folded, start, end, original) for start, end in places]
    runs = list(runs_of([(one.start, one.end) for one in read], WINDOW))
    words = cache(lambda at: _words(read[at].words))
    masks = [_mask(one, shown) for one in read]
    return [
        SentenceWindow(
            read[start].start,
            np.unique(np.concatenate([words(at) for at in range(start, end)])),
            _concepts(masks[start:end]),
        )
        for start, end in runs
    ]


def _mask(one: Sentence, shown: Spans) -> int:
    return one.mask | lexicon().quoted if _overlap(one, shown) > QUOTED else one.mask


def _overlap(one: Sentence, shown: Spans) -> int:
    at = bisect_right(shown.starts, one.end) - 1
    covered = 0
    while at >= 0 and shown.ends[at] > one.start:
        covered += min(shown.ends[at], one.end) - max(shown.starts[at], one.start)
        at -= 1
    return covered


def _words(said: Sequence[str]) -> Features:
    words = said[:WORDS]
    pairs = map(" ".join, pairwise(words))
    gaps = map(" _ ".join, zip(words, words[2:], strict=False))
    return np.fromiter({_bucket(one) for one in (*words, *pairs, *gaps)}, np.int64)


def _bucket(said: str) -> int:
    return zlib.crc32(said.encode("utf-8", "replace")) % BUCKETS


def _concepts(masks: Sequence[int]) -> Features:
    """Concepts, pairs of them in this window, and pairs of them in one sentence."""
    count = len(lexicon().names)
    whole = 0
    for mask in masks:
        whole |= mask
    together = [_pairs(mask, count) for mask in masks]
    apart = count + count * count
    return np.concatenate(
        [_bits(whole), count + _pairs(whole, count), apart + np.unique(np.concatenate(together))]
    )


@lru_cache(maxsize=1 << 10)
def _pairs(mask: int, count: int) -> Features:
    found = _bits(mask)
    first, second = _triangle(len(found))
    return found[first] * count + found[second]


@cache
def _triangle(size: int) -> tuple[Features, Features]:
    first, second = np.triu_indices(size, 1)
    return first, second


def _bits(mask: int) -> Features:
    return np.flatnonzero(
        np.unpackbits(np.frombuffer(mask.to_bytes(16, "little"), np.uint8), bitorder="little")
    )
