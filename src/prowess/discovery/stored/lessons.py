"""What lessons and authors' examples teach about capabilities that are not held: their vectors, in memory.

Above: a search, which finds by them and ranks with them. Below: the vectors of texts. Lessons are few beside
a catalogue that is too large to be held; where so many capabilities have examples of their own that these are
not few, theirs count by their words alone.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from prowess.catalogue.stored import PagedCapabilities
from prowess.discovery.dense import Matrix
from prowess.discovery.examples import Taught, taught
from prowess.discovery.ranking import RankedText
from prowess.discovery.stored import relations, tables
from prowess.discovery.stored.codes import Mask
from prowess.discovery.text import Words, embedding_text
from prowess.discovery.vectors import Progress, VectorStore, key_of
from prowess.errors import EncoderUnavailable
from prowess.store.database import Database
from prowess.types import EXAMPLES, Capability

MOST_TAUGHT = 5000
"""Capabilities with examples of their author that are taught by vectors beside those with lessons."""

Examples = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class TaughtRows:
    """The rows of what is taught, and what is near a request by that."""

    taught: Mapping[str, Taught] = field(default_factory=dict)
    numbers: Sequence[int] = ()
    """Of these, as far as they are indexed; the next two stand in the same order."""
    vectors: Matrix = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    handicaps: Matrix = field(default_factory=lambda: np.zeros(0, np.float32))
    having: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Term of an example -> the rows that have it."""
    unencoded: tuple[str, ...] = ()
    """Texts of examples that have no vector so far."""

    def near(self, text: RankedText, allowed: Mask, most: int) -> set[int]:
        """The rows that come nearest to a text by their examples."""
        found = self._by_words(text.terms, most)
        if text.vector is not None and self.numbers:
            strength = np.vecdot(self.vectors, text.vector) - self.handicaps
            found |= {self.numbers[place] for place in np.argsort(-strength, kind="stable")[:most]}
        return {number for number in found if allowed[number : number + 1].any()}

    def _by_words(self, terms: Iterable[str], most: int) -> set[int]:
        shared: dict[int, float] = {}
        for term in set(terms):
            rows = self.having.get(term, frozenset())
            for number in rows:
                shared[number] = shared.get(number, 0) + 1 / len(rows)
        return set(sorted(shared, key=lambda number: (-shared[number], number))[:most])


class StoredLessons:
    def __init__(self, database: Database, vectors: VectorStore, words: Words) -> None:
        self._database = database
        self._vectors = vectors
        self._words = words
        self._lock = Lock()
        self._known: tuple[int, Examples, TaughtRows] = (-1, {}, TaughtRows())

    def at(self, change: int, capabilities: PagedCapabilities, lessons: Examples) -> TaughtRows:
        """What is taught, with the index as it is since a change; made anew where either is another."""
        with self._lock:
            known_change, known_lessons, rows = self._known
            is_same = known_change == change and (known_lessons is lessons or known_lessons == lessons)
            if not is_same or rows.unencoded:
                rows = self._made(capabilities, lessons)
                self._known = (change, lessons, rows)
            return rows

    def encode(self, rows: TaughtRows, progress: Progress) -> None:
        """Make the vectors that are missing."""
        try:
            for _ in self._vectors.made(list(rows.unencoded), len(rows.unencoded), 0, progress):
                pass
        except EncoderUnavailable:
            return

    def _made(self, capabilities: PagedCapabilities, lessons: Examples) -> TaughtRows:
        with self._database.reading() as transaction:
            authored = relations.having_examples(transaction, MOST_TAUGHT + 1)
        ids = {*lessons, *(authored if len(authored) <= MOST_TAUGHT else ())}
        if not ids:
            return TaughtRows()
        held = capabilities.several(ids)
        shown = {id: examples_of(each, lessons) for id, each in held.items()}
        texts = {id: (embedding_text(held[id]), *requests) for id, requests in shown.items() if requests}
        keys = {id: [key_of(text) for text in each] for id, each in texts.items()}
        known = self._vectors.stored([key for each in keys.values() for key in each])
        ready = {
            id: np.stack([known[key] for key in each])
            for id, each in keys.items()
            if all(key in known for key in each)
        }
        with self._database.reading() as transaction:
            numbers = tables.numbers_of(transaction, shown.keys())
        unencoded = {text for each in texts.values() for text in each if key_of(text) not in known}
        lesson = taught({id: v[0] for id, v in ready.items()}, {id: v[1:] for id, v in ready.items()})
        indexed = [(numbers[id], each) for id, each in lesson.items() if id in numbers]
        return TaughtRows(
            taught=lesson,
            numbers=[number for number, _ in indexed],
            vectors=np.array([each.vector for _, each in indexed], np.float32),
            handicaps=np.array([each.handicap for _, each in indexed], np.float32),
            having=self._having(shown, numbers),
            unencoded=tuple(sorted(unencoded)),
        )

    def _having(self, shown: Examples, numbers: Mapping[str, int]) -> dict[str, frozenset[int]]:
        found: dict[str, set[int]] = {}
        for id, requests in shown.items():
            for term in (
                {term for one in requests for term in self._words.terms(one)} if id in numbers else ()
            ):
                found.setdefault(term, set()).add(numbers[id])
        return {term: frozenset(rows) for term, rows in found.items()}


def authored(capability: Capability) -> tuple[str, ...]:
    """The requests that its author says it answers."""
    stated = capability.metadata.get(EXAMPLES)
    return tuple(one for one in stated if isinstance(one, str)) if isinstance(stated, list | tuple) else ()


def examples_of(capability: Capability, lessons: Examples) -> tuple[str, ...]:
    """Those, then the ones that were learnt."""
    return tuple(dict.fromkeys((*authored(capability), *lessons.get(capability.id, ()))))


def vectors_of(rows: TaughtRows, ids: Collection[str]) -> dict[str, Matrix]:
    """The vectors of what is taught, of these."""
    return {id: rows.taught[id].vector.astype(np.float32) for id in ids if id in rows.taught}
