"""What keeps a catalogue that is not held from being found in: the findings of one in memory, by pages.

What means the same is found by comparing all with all; where there are too many for that, it is looked for
among those with one name, and a finding says so.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

import numpy as np

from prowess.catalogue.stored import PagedCapabilities
from prowess.discovery.lint import (
    MOST_FINDINGS,
    LintFinding,
    close_pairs,
    in_presets,
    of_description,
    twins,
    twins_by_words,
    without_vectors,
)
from prowess.discovery.stored import encodings, queries, tables
from prowess.discovery.stored.conditions import EVERYTHING
from prowess.discovery.stored.relations import StoredGraph
from prowess.discovery.text import Words
from prowess.discovery.vectors import Half
from prowess.store.database import Database

MOST_COMPARED = 20_000
"""Up to so many are compared by their meaning, all with all; that takes some seconds."""
MOST_WITH_ONE_NAME = 50
"""How many that are called alike are compared with each other."""
NAMES = 200
PORTION = 5000


class StoredLint:
    def __init__(
        self, database: Database, capabilities: PagedCapabilities, graph: StoredGraph, words: Words,
        encoding: int,
    ) -> None:  # fmt: skip
        """encoding: of which the vectors are compared."""
        self._database = database
        self._encoding = encoding
        self._capabilities = capabilities
        self._graph = graph
        self._words = words

    def findings(self) -> tuple[LintFinding, ...]:
        found = chain(
            self._without_vectors(),
            in_presets(self._graph.problems()),
            self._alike(),
            (one for c in self._capabilities.values() for one in of_description(c)),
        )
        return tuple(islice(found, MOST_FINDINGS))

    def _without_vectors(self) -> Iterator[LintFinding]:
        size = len(self._capabilities)
        with self._database.reading() as transaction:
            missing = size - encodings.count(transaction, self._encoding)
        yield from without_vectors(missing, size)

    def _alike(self) -> Iterator[LintFinding]:
        size = len(self._capabilities)
        if size <= MOST_COMPARED:
            yield from self._compared()
            return
        what = f"there are {size}, so only those with the same name were compared by what they mean"
        remedy = f"to compare all with all, run it once with in_memory = {size} or more in prowess.toml"
        yield LintFinding((), what, remedy)
        for ids in self._called_alike():
            yield from self._twins(ids)

    def _compared(self) -> Iterator[LintFinding]:
        with self._database.reading() as transaction:
            known = tables.ids_of(transaction, queries.selected(transaction, EVERYTHING))
        ids = sorted(known.values())
        yield from self._twins(ids)
        encoded = {known[number] for number in self._vectors(known)}
        if len(encoded) < len(self._capabilities):
            yield from twins_by_words(self._capabilities.values(), encoded, self._words)

    def _called_alike(self) -> Iterator[Sequence[str]]:
        """The ids that share a name, one name after the other."""
        after = ""
        while True:
            with self._database.reading() as transaction:
                names = queries.shared_names(transaction, after, NAMES)
                groups = [queries.ids_called(transaction, name, MOST_WITH_ONE_NAME) for name in names]
            if not names:
                return
            after = names[-1]
            yield from groups

    def _twins(self, ids: Sequence[str]) -> Iterator[LintFinding]:
        """Pairs of these that cannot be told apart by their vectors."""
        with self._database.reading() as transaction:
            numbers = tables.numbers_of(transaction, ids)
        vectors = self._vectors(numbers.values())
        having = [id for id in ids if numbers.get(id) in vectors]
        if len(having) < 2:
            return
        matrix = np.stack([vectors[numbers[id]] for id in having]).astype(np.float32)
        for one, other, alike in close_pairs(matrix):
            pair = self._capabilities.several([having[one], having[other]])
            if len(pair) == 2:
                yield twins([*pair.values()], alike)

    def _vectors(self, numbers: Collection[int]) -> Mapping[int, Half]:
        found: dict[int, Half] = {}
        with self._database.reading() as transaction:
            for portion in _portions(list(numbers)):
                found |= encodings.vectors_of(transaction, self._encoding, portion)
        return found


def _portions(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    return (numbers[at : at + PORTION] for at in range(0, len(numbers), PORTION))
