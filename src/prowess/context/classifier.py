"""A small learned reader: how much a stretch of text reads like an attack.

Above stands judge in sanitise, which asks it for a second opinion. The head beside this file is made by
`train/guard.py`: one weight for each hashed word, pair of words and pair with a gap, and one for each concept
and pair of concepts (`concepts.py`) that stand in one sentence or close together. It needs no encoder, reads
at most `MOST` windows of a text, and gives the same answer every time.
"""

import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from prowess.context.characters import fold
from prowess.context.concepts import Sentence, lexicon, pieces, sentence
from prowess.context.quoting import Spans

SHIPPED = Path(__file__).parent / "model" / "guard.npz"

CHANNELS = ("tool_description", "schema_field", "card", "skill", "result")
BUCKETS = 1 << 14
WINDOW = 300
MOST = 48
"""Windows read of one text: all of a short one, the first and the last of a long one."""
SENTENCES = 240
WORDS = 60
"""How many words of one sentence are read."""
QUOTED = 15
"""So many characters in quotation marks or code make a sentence one that shows something."""
FEWEST = 8
NOTHING = Spans()

Features = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Window:
    """A few sentences: where they begin, and what can be read off them."""

    place: int
    words: Features
    concepts: Features


@dataclass(frozen=True, slots=True)
class Reading:
    """The highest score of any window, and where that window begins."""

    score: float
    place: int


@dataclass(frozen=True, slots=True)
class Classifier:
    words: Weights
    concepts: Weights
    channels: dict[str, float]
    """What is usual differs by channel, so each has its own start."""
    high: dict[str, float]
    """From this score on it rejects by itself."""
    low: dict[str, float]
    """Below this score it speaks up for a text that the rules would reject."""

    @classmethod
    def open(cls, file: Path = SHIPPED) -> Self | None:
        """The shipped head, or none when it is not there: the guard then works by its rules alone."""
        if not file.exists():
            return None
        with np.load(file, allow_pickle=False) as head:
            starts, high, low = (
                dict(zip(CHANNELS, row.tolist(), strict=True)) for row in head["numbers"].astype(float)
            )
            words, concepts = (head[name].astype(np.float32) for name in ("words", "concepts"))
            return cls(words, concepts, starts, high, low)

    def read(self, text: str, channel: str, shown: Spans = NOTHING) -> Reading:
        """The window of a text that reads most like an attack."""
        readings = [Reading(self._score(window, channel), window.place) for window in windows(text, shown)]
        return max(readings, key=lambda reading: reading.score, default=Reading(-np.inf, 0))

    def _score(self, window: Window, channel: str) -> float:
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


def windows(text: str, shown: Spans = NOTHING) -> list[Window]:
    """Overlapping runs of sentences; of a long text the beginning and the end."""
    folded = fold(text, look_alikes=False).text
    original = text if len(folded) == len(text) else folded
    places = list(pieces(folded))
    if len(places) > SENTENCES:
        places = places[: SENTENCES // 2] + places[-SENTENCES // 2 :]
    read = [sentence(folded, start, end, original) for start, end in places]
    runs = list(_runs(read))
    chosen = runs if len(runs) <= MOST else runs[: MOST // 2] + runs[-MOST // 2 :]
    words = cache(lambda at: _words(read[at].words))
    masks = [_mask(one, shown) for one in read]
    return [
        Window(
            read[start].start,
            np.unique(np.concatenate([words(at) for at in range(start, end)])),
            _concepts(masks[start:end]),
        )
        for start, end in chosen
    ]


def _runs(read: Sequence[Sentence]) -> Iterator[tuple[int, int]]:
    """Each run begins in the middle of the one before, so that nothing is cut in two everywhere."""
    start = 0
    while start < len(read):
        end = start + 1
        while end < len(read) and read[end].end - read[start].start <= WINDOW:
            end += 1
        yield start, end
        if end == len(read):
            return
        start = max(start + 1, (start + end + 1) // 2)


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
