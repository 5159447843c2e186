"""A small learned reader: how much a stretch of text reads like known attacks.

Above stands judge in sanitise, which asks it only for a second opinion. The head beside this file is
made by `train/guard.py`: one weight for each hashed word, pair of words, pair with a gap, and signal or pair
of signals of the rules that fall into the window. It needs no encoder, reads at most `MOST` windows of
a text, and gives the same answer every time.
"""

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from prowess.context.characters import fold

SHIPPED = Path(__file__).parent / "model" / "guard.npz"

BUCKETS = 1 << 15
WINDOW = 260
MOST = 48
"""Windows read of one text: all of a short one, the first and the last of a long one."""
WORDS = 120
NEAR = 150

SENTENCE_END = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+|\n+")
WORD = re.compile(r"[^\W\d_]+|\d+|[^\w\s]")

Features = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Window:
    text: str
    place: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A place where a rule found something."""

    place: int
    name: str


@dataclass(frozen=True, slots=True)
class Reading:
    """The highest score of any window, and where that window begins."""

    score: float
    place: int


@dataclass(frozen=True, slots=True)
class Classifier:
    weights: npt.NDArray[np.float32]
    bias: float
    high: float
    """From this score on it counts together with a light finding."""
    low: float
    """From this score on it counts together with a grave finding."""

    @classmethod
    def open(cls, file: Path = SHIPPED) -> Self | None:
        """The shipped head, or none when it is not there: the guard then works by its rules alone."""
        if not file.exists():
            return None
        with np.load(file, allow_pickle=False) as head:
            bias, high, low = (float(number) for number in head["numbers"])
            return cls(head["weights"].astype(np.float32), bias, high, low)

    def read(self, text: str, marks: Sequence[Mark] = (), channel: str = "") -> Reading:
        """The window of a text that reads most like an attack; channels differ in what is usual."""
        readings = [self._window(window, marks, channel) for window in windows(text)]
        return max(readings, key=lambda reading: reading.score, default=Reading(-np.inf, 0))

    def _window(self, window: Window, marks: Sequence[Mark], channel: str) -> Reading:
        return Reading(self._score(features(window.text, (channel, *marked(window, marks)))), window.place)

    def _score(self, found: Features) -> float:
        return float(self.weights[found].sum()) * scale(found) + self.bias


def windows(text: str) -> list[Window]:
    """Whole sentences, as many as fit; a long text gives its beginning and its end."""
    found = list(_windows(text if len(text) < 2 * MOST * WINDOW else text[: MOST * WINDOW]))
    if len(text) >= 2 * MOST * WINDOW:
        start = len(text) - MOST * WINDOW
        found += [Window(window.text, window.place + start) for window in _windows(text[start:])]
    return found if len(found) <= MOST else found[: MOST // 2] + found[-MOST // 2 :]


def _windows(text: str) -> Iterator[Window]:
    start = end = 0
    for sentence_start, sentence_end in _pieces(text):
        if sentence_end - start > WINDOW and end > start:
            yield Window(text[start:end], start)
            start = sentence_start
        end = sentence_end
    if text[start:end].strip():
        yield Window(text[start:end], start)


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Sentences and lines, none longer than a window."""
    at = 0
    ends = [(match.start(), match.end()) for match in SENTENCE_END.finditer(text)]
    for stop, following in [*ends, (len(text), len(text))]:
        for start in range(at, stop, WINDOW):
            yield start, min(start + WINDOW, stop)
        at = following


def marked(window: Window, marks: Sequence[Mark]) -> tuple[str, ...]:
    """The names of the marks in a window or close to it, in order and once each."""
    near = range(window.place - NEAR, window.place + len(window.text) + NEAR)
    return tuple(sorted({mark.name for mark in marks if mark.place in near}))


def features(text: str, names: Sequence[str] = ()) -> Features:
    read = WORD.findall(fold(text, look_alikes=False).text)[:WORDS]
    words = ["0" if word.isdigit() else word for word in read]
    pairs = [f"{a} {b}" for a, b in pairwise(words)]
    gaps = [f"{a} _ {b}" for a, b in zip(words, words[2:], strict=False)]
    rules = [f"§{name}" for name in names] + [f"§{a} §{b}" for a, b in combinations(names, 2)]
    said = {zlib.crc32(one.encode("utf-8", "replace")) % BUCKETS for one in words + pairs + gaps + rules}
    return np.array(sorted(said), np.int64)


def scale(found: Features) -> float:
    """Long windows have more words; their sum grows with the square root of that."""
    return float(1 / np.sqrt(max(6, len(found))))
