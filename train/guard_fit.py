"""Fit the head of the guard's classifier: regularised logistic regression in plain numpy.

Of an attack, only the windows that read most like one teach; the rest of its text is honest.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from prowess.guard.classifier import BUCKETS, CHANNELS, SentenceWindow, concept_features, scale, windows
from prowess.guard.quotations import shown, without_frontmatter
from prowess.guard.sanitise import DOCUMENTS
from prowess.text.characters import fold
from train.guard_texts import Example

Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

DECAY = 1e-6
WEIGHT_OF_ATTACKS = 4.0
FIRST, SECOND = 150, 100
"""Steps over everything: with all windows of an attack, then with the telling ones."""
STEP, SHRINKING = 0.15, 0.99
CLOSE = 0.3


@dataclass(frozen=True, slots=True)
class Table:
    """All windows of some examples as one sparse matrix."""

    rows: Places
    columns: Places
    values: Numbers
    owners: Places
    attack: Numbers

    def only(self, examples: Places) -> "Table":
        """The part that belongs to some examples; owners keep their numbers."""
        kept = np.isin(self.owners, examples)
        renumbered = np.cumsum(kept) - 1
        entries = kept[self.rows]
        rows = renumbered[self.rows[entries]]
        return Table(rows, self.columns[entries], self.values[entries], self.owners[kept], self.attack[kept])


def columns() -> int:
    return BUCKETS + concept_features() + len(CHANNELS)


def table(examples: Sequence[Example]) -> Table:
    found = [(number, window) for number, one in enumerate(examples) for window in windows_of(one)]
    entries = [_entries(window, examples[number].channel) for number, window in found]
    owners = np.array([number for number, _ in found], np.int64)
    return Table(
        np.repeat(np.arange(len(entries)), [len(places) for places, _ in entries]),
        np.concatenate([places for places, _ in entries]),
        np.concatenate([values for _, values in entries]),
        owners,
        np.array([examples[number].attack for number in owners], float),
    )


def windows_of(one: Example) -> list[SentenceWindow]:
    body = without_frontmatter(one.text) if one.channel in DOCUMENTS else one.text
    return windows(body, shown(fold(body, look_alikes=False).text).all)


def _entries(window: SentenceWindow, channel: str) -> tuple[Places, Numbers]:
    start = BUCKETS + concept_features() + CHANNELS.index(channel)
    places = np.concatenate([window.words, BUCKETS + window.concepts, [start]])
    sizes = (len(window.words), len(window.concepts), 1)
    return places, np.repeat([scale(window.words), scale(window.concepts), 1.0], sizes)


@dataclass(frozen=True, slots=True)
class Head:
    weights: Numbers
    bias: float

    def scores(self, read: Table) -> Numbers:
        sums = np.bincount(read.rows, self.weights[read.columns] * read.values, len(read.owners))
        return np.asarray(sums + self.bias)

    def score_of(self, window: SentenceWindow, channel: str) -> float:
        places, values = _entries(window, channel)
        return float(self.weights[places] @ values) + self.bias

    def best(self, read: Table, count: int) -> Numbers:
        """The highest score of each example; examples without a window score nothing."""
        best = np.full(count, -np.inf)
        np.maximum.at(best, read.owners, self.scores(read))
        return best


def fit(read: Table) -> Head:
    count = int(read.owners.max()) + 1
    shares = np.bincount(read.owners, minlength=count)[read.owners]
    head = _descend(read, np.where(read.attack == 1, WEIGHT_OF_ATTACKS / shares, 1.0), FIRST)
    telling = head.scores(read) >= head.best(read, count)[read.owners] - CLOSE
    taught = np.where(read.attack == 1, np.where(telling, WEIGHT_OF_ATTACKS, 0.0), 1.0)
    return _descend(read, taught, SECOND, head)


def _descend(read: Table, weight: Numbers, steps: int, start: Head | None = None) -> Head:
    """Adam over the whole table; the same numbers in the same order give the same head."""
    size = columns()
    values = np.append(start.weights, start.bias) if start else np.append(np.zeros(size), -2.0)
    mean, square, step = np.zeros(size + 1), np.zeros(size + 1), STEP
    whole = weight.sum()
    for turn in range(1, steps + 1):
        error = (1 / (1 + np.exp(-Head(values[:-1], values[-1]).scores(read))) - read.attack) * weight / whole
        slope = np.bincount(read.columns, error[read.rows] * read.values, size) + DECAY * values[:-1]
        slope = np.append(slope, error.sum())
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope * slope
        values = values - step * (mean / (1 - 0.9**turn)) / (np.sqrt(square / (1 - 0.999**turn)) + 1e-8)
        step *= SHRINKING
    return Head(values[:-1], float(values[-1]))
