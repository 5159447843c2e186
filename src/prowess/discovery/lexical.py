"""How well the words of a request match the words of each capability: BM25 over weighted fields.

Rows only ever grow: what changes gets a new row and the old one is dropped, so nothing is rebuilt for
one change. New rows wait in a small overlay until there are enough of them to be merged.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import inf, log1p
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from prowess.discovery.text import Words
from prowess.types import Capability

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Number = TypeVar("Number", np.int32, np.float32)

FIELD_WEIGHTS: Mapping[str, float] = {
    "name": 3.0,
    "description": 1.5,
    "tags": 1.0,
    "parameters": 1.0,
    "provider": 1.0,
    "category": 0.3,
    "examples": 0.1,
}
# What only examples say weighs less than what any other field says: the least weight of its own that a
# capability gives to a term. It never makes a word look common, so what has no examples scores as before.
LEAST_OWN = 0.3
MOST_OF_EXAMPLES = 0.2
SATURATION = 1.2
LENGTH_SHARE = 0.75
# A catalogue of five says nothing about how rare a word is; it is judged like one of this size.
SMALLEST_CATALOGUE = 200
OVERLAY = 512


@dataclass(frozen=True, slots=True)
class IndexedTerms:
    """The terms of one capability with their weights, and its weighted length."""

    terms: tuple[str, ...]
    weights: tuple[float, ...]
    length: float


@dataclass(frozen=True, slots=True)
class LexicalState:
    """All of a lexical index as plain arrays, to be stored and read back."""

    vocabulary: tuple[str, ...]
    starts: npt.NDArray[np.int64]
    terms: Ints
    weights: Floats
    lengths: Floats


@dataclass(frozen=True, slots=True)
class LexicalStatistics:
    """What BM25 knows of a whole catalogue: its size, how long its texts are, how many have each term."""

    population: int
    mean_length: float
    frequencies: Mapping[str, int]


@dataclass(slots=True)
class _Postings:
    """Merged rows, ordered by term; `impacts` are current for the lengths they were made with."""

    starts: list[int]
    rows: Ints
    weights: Floats
    impacts: Floats = field(default_factory=lambda: np.empty(0, np.float32))


def document(capability: Capability, words: Words, examples: Sequence[str] = ()) -> IndexedTerms:
    """Weigh every term by the fields it stands in."""
    weights: Counter[str] = Counter()
    length = 0.0
    for name, counts in _field_terms(capability, words, examples):
        most = MOST_OF_EXAMPLES if name == "examples" else inf
        for term, count in counts.items():
            weights[term] += min(most, FIELD_WEIGHTS[name] * count)  # type: ignore[assignment]
        # Requests that were shown to work widen what a capability answers; they do not dilute it.
        length += 0.0 if name == "examples" else FIELD_WEIGHTS[name] * counts.total()
    return IndexedTerms(tuple(weights), tuple(weights.values()), length)


def _field_terms(
    capability: Capability, words: Words, examples: Sequence[str]
) -> Iterable[tuple[str, Counter[str]]]:
    read = words.terms
    # A display name mostly repeats the name, which must not count twice.
    yield "name", Counter(read(capability.name)) | Counter(read(capability.display_name))
    yield "description", Counter(read(capability.description))
    yield "tags", Counter(read(" ".join(capability.tags)))
    yield "parameters", Counter(read(" ".join(capability.parameters)))
    yield "provider", Counter(read(capability.provider))
    yield "category", Counter(read(capability.category))
    yield "examples", Counter(term for example in examples for term in read(example))


class Lexical:
    """An inverted index over numbered rows."""

    def __init__(self, of_all: LexicalStatistics | None = None) -> None:
        """of_all: the statistics of a whole catalogue, of which only a part is here."""
        self._of_all = of_all
        self._numbers: dict[str, int] = {}
        self._vocabulary: list[str] = []
        self._frequencies: list[int] = []
        self._row_terms: list[Ints] = []
        self._row_weights: list[Floats] = []
        self._lengths = np.zeros(0, np.float32)
        self._alive = np.zeros(0, np.bool_)
        self._living = 0
        self._merged = 0
        self._postings = _Postings([0], np.empty(0, np.int32), np.empty(0, np.float32))
        self._overlay: dict[int, list[tuple[int, float]]] = {}
        self._divisors: Floats | None = None

    def copied(self) -> "Lexical":
        """The same rows, to be changed without changing these."""
        other = copy(self)
        other._numbers, other._vocabulary = self._numbers.copy(), self._vocabulary.copy()
        other._frequencies = self._frequencies.copy()
        other._row_terms, other._row_weights = self._row_terms.copy(), self._row_weights.copy()
        other._alive = self._alive.copy()
        other._postings = replace(self._postings)
        other._overlay = {term: rows.copy() for term, rows in self._overlay.items()}
        return other

    @property
    def size(self) -> int:
        """Rows ever used, dropped ones included."""
        return len(self._row_terms)

    @property
    def alive(self) -> npt.NDArray[np.bool_]:
        """Which rows were not dropped."""
        return self._alive

    def add(self, documents: Sequence[IndexedTerms]) -> range:
        """Give every document a row of its own, at the end."""
        first = self.size
        for number, added in enumerate(documents, first):
            terms = [self._number(term) for term in added.terms]
            self._row_terms.append(np.array(terms, np.int32))
            self._row_weights.append(np.array(added.weights, np.float32))
            for term, weight in zip(terms, added.weights, strict=True):
                self._frequencies[term] += weight >= LEAST_OWN
            if len(documents) <= OVERLAY:
                for term, weight in zip(terms, added.weights, strict=True):
                    self._overlay.setdefault(term, []).append((number, weight))
        lengths = np.array([added.length for added in documents], np.float32)
        self._lengths = np.concatenate([self._lengths, lengths])
        self._alive = np.concatenate([self._alive, np.ones(len(documents), np.bool_)])
        self._living += len(documents)
        self._divisors = None
        if self.size - self._merged > OVERLAY:
            self._merge()
        return range(first, self.size)

    def drop(self, row: int) -> None:
        """Take a row out of the counts; whoever searches leaves dropped rows aside."""
        if self._alive[row]:
            self._alive[row] = False
            self._living -= 1
            for term in self._row_terms[row][_own(self._row_weights[row])]:
                self._frequencies[term] -= 1
            self._divisors = None

    def scores(self, terms: Iterable[str]) -> Floats:
        """The BM25 score of every row; a term that is asked for twice counts once."""
        divisors = self.measured()
        asked = {self._numbers[term]: None for term in terms if term in self._numbers}
        total = self._merged_scores(asked)
        if self._overlay:
            for number in asked:
                rows = self._overlay.get(number, ())
                rarity = self.rarity(number) if rows else 0.0
                for row, count in rows:
                    total[row] += rarity * count / (count + divisors[row])
        return total.astype(np.float32)

    def _merged_scores(self, asked: Iterable[int]) -> npt.NDArray[np.float64]:
        posted = self._postings
        rows, worth = [], []
        for number in asked:
            if number < len(posted.starts) - 1:
                span = slice(posted.starts[number], posted.starts[number + 1])
                rows.append(posted.rows[span])
                worth.append(self.rarity(number) * posted.impacts[span])
        if not rows:
            return np.zeros(self.size)
        return np.asarray(np.bincount(np.concatenate(rows), np.concatenate(worth), self.size), np.float64)

    def holds(self, row: int, wanted: IndexedTerms) -> bool:
        """Whether a row was made from exactly this document."""
        terms = tuple(self._vocabulary[number] for number in self._row_terms[row].tolist())
        weights = np.array(wanted.weights, np.float32)
        same_length = self._lengths[row] == np.float32(wanted.length)
        return terms == wanted.terms and bool(same_length) and np.array_equal(self._row_weights[row], weights)

    def matched(self, row: int, terms: Sequence[str]) -> tuple[str, ...]:
        """Which of these terms a row has, the rarest first; what is as rare, by the alphabet."""
        held = set(self._row_terms[row].tolist())
        numbers = {self._numbers[term] for term in terms if term in self._numbers} & held
        ordered = sorted(numbers, key=lambda n: (-self.rarity(n), self._vocabulary[n]))
        return tuple(self._vocabulary[n] for n in ordered)

    def rarity(self, number: int) -> float:
        """The weight of a term: the fewer capabilities have it, the more it tells them apart."""
        if self._of_all is not None:
            frequency = self._of_all.frequencies.get(self._vocabulary[number], self._frequencies[number])
            return rarity_of(frequency, self._of_all.population)
        return rarity_of(self._frequencies[number], self._living)

    def state(self) -> LexicalState:
        """The rows that were not dropped, numbered anew in their order."""
        living = np.flatnonzero(self._alive).tolist()
        sizes = [len(self._row_terms[row]) for row in living]
        return LexicalState(
            vocabulary=tuple(self._vocabulary),
            starts=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64),
            terms=_joined([self._row_terms[row] for row in living], np.int32),
            weights=_joined([self._row_weights[row] for row in living], np.float32),
            lengths=self._lengths[living],
        )

    @classmethod
    def restored(cls, state: LexicalState) -> "Lexical":
        """The index this state was taken from."""
        index = cls()
        index._vocabulary = list(state.vocabulary)
        index._numbers = {term: number for number, term in enumerate(state.vocabulary)}
        index._living = len(state.lengths)
        index._row_terms = _rows(state.terms, state.starts)
        index._row_weights = _rows(state.weights, state.starts)
        index._lengths = state.lengths.copy()
        index._alive = np.ones(index._living, np.bool_)
        own = state.terms[_own(state.weights)]
        index._frequencies = np.bincount(own, minlength=len(state.vocabulary)).tolist()
        index._merge()
        return index

    def _number(self, term: str) -> int:
        number = self._numbers.setdefault(term, len(self._vocabulary))
        if number == len(self._vocabulary):
            self._vocabulary.append(term)
            self._frequencies.append(0)
        return number

    def _merge(self) -> None:
        """Order everything by term once, so that a search reads one slice for each term."""
        terms, weights = _joined(self._row_terms, np.int32), _joined(self._row_weights, np.float32)
        sizes = [len(row) for row in self._row_terms]
        rows = np.repeat(np.arange(self.size, dtype=np.int32), sizes)
        order = np.argsort(terms, kind="stable")
        counts = np.bincount(terms, minlength=len(self._vocabulary))
        self._postings = _Postings([0, *np.cumsum(counts).tolist()], rows[order], weights[order])
        self._merged, self._overlay, self._divisors = self.size, {}, None

    def measured(self) -> Floats:
        """What a term's weight is measured against in each row; long texts need more of a term."""
        divisors = self._divisors
        if divisors is None:
            living = self._lengths[self._alive]
            usual = max(float(living.mean()) if living.size else 0.0, 1e-9)
            if self._of_all is not None:
                usual = max(self._of_all.mean_length, 1e-9)
            divisors = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * self._lengths / np.float32(usual))
            divisors = divisors.astype(np.float32)
            posted = self._postings
            posted.impacts = posted.weights / (posted.weights + divisors[posted.rows])
            self._divisors = divisors
        return divisors


def rarity_of(frequency: int, population: int) -> float:
    """The weight of a term that so many of so many have."""
    population = max(population, SMALLEST_CATALOGUE)
    return log1p((population - frequency + 0.5) / (frequency + 0.5))


def _own(weights: Floats) -> npt.NDArray[np.bool_]:
    """Which weights are more than examples alone can give."""
    return weights >= np.float32(LEAST_OWN)


def _joined(rows: Sequence[npt.NDArray[Number]], kind: type[Number]) -> npt.NDArray[Number]:
    return np.concatenate(rows) if rows else np.empty(0, kind)


def _rows(joined: npt.NDArray[Number], starts: npt.NDArray[np.int64]) -> list[npt.NDArray[Number]]:
    bounds = starts.tolist()
    return [joined[low:high] for low, high in pairwise(bounds)]
