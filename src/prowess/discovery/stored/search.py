"""A search over an index in the store: candidates first, then the usual ranking on them alone.

Above: the engine, which asks it as it asks any search. Below: the candidates, and the ranker.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from prowess.catalogue.stored import PagedCapabilities, several
from prowess.discovery.corpus import Corpus
from prowess.discovery.dense import Matrix
from prowess.discovery.fusion import Calibration
from prowess.discovery.known_requests import known_to
from prowess.discovery.lexical import document
from prowess.discovery.lint import LintFinding
from prowess.discovery.ranking import Options, ParsedRequest, Ranker
from prowess.discovery.reader import reader_for
from prowess.discovery.search import RequestVectors, lowered
from prowess.discovery.stored import encodings, queries, tables
from prowess.discovery.stored.candidates import CandidateFinder, StoredCandidates
from prowess.discovery.stored.conditions import RowCondition
from prowess.discovery.stored.counted import Counted
from prowess.discovery.stored.held import HeldIndex
from prowess.discovery.stored.lessons import TaughtRows, examples_of, vectors_of
from prowess.discovery.stored.lint import StoredLint
from prowess.discovery.stored.postings import PostingLists
from prowess.discovery.stored.reach import Reaches, masked
from prowess.discovery.stored.relations import Relations, StoredGraph
from prowess.discovery.text import Words
from prowess.errors import EncoderUnavailable
from prowess.store.database import Database
from prowess.types import Capability, Hit


@dataclass(frozen=True, slots=True)
class StoredParts:
    """What every search over one index works with."""

    database: Database
    lists: PostingLists
    words: Words
    calibration: Calibration
    requests: RequestVectors
    presets: Mapping[str, Sequence[str]]
    reaches: Reaches
    """Which rows may be looked at."""
    relations: Relations
    """What they share and need."""
    counted: Counted
    """How many there are."""


class StoredSearch:
    def __init__(
        self, held: HeldIndex, capabilities: PagedCapabilities, examples: Mapping[str, Sequence[str]],
        taught: TaughtRows, parts: StoredParts,
    ) -> None:  # fmt: skip
        """held: the index; capabilities: everything there is; examples: requests that some answered; taught:
        what these teach."""
        self.held = held
        self.capabilities = capabilities
        self._examples = examples
        self.taught = taught
        self._parts = parts
        self._failing: Mapping[str, str] = {}

    def lowering(self, failing: Mapping[str, str]) -> "StoredSearch":
        """The same search, in which what fails now comes behind what fits about as well."""
        other = copy(self)
        other._failing = failing
        return other

    @property
    def graph(self) -> StoredGraph:
        """How everything hangs together, looked up."""
        held = self.held
        return StoredGraph(self._parts.relations, self.capabilities, held.change, held.population)

    @property
    def unencoded(self) -> int:
        """How many capabilities are not indexed so far."""
        return max(0, len(self.capabilities) - self.held.population)

    def lint(self) -> tuple[LintFinding, ...]:
        parts, encoding = self._parts, self.held.encoding.encoding
        return StoredLint(parts.database, self.capabilities, self.graph, parts.words, encoding).findings()

    def read(self, request: str) -> ParsedRequest:
        """A request to be searched for once or several times."""
        return self._parsed(Corpus(self._parts.presets, words=self._parts.words), request)

    def hits(
        self, request: str | ParsedRequest, allowed: Collection[str], options: Options | None = None
    ) -> tuple[Hit, ...]:
        """What fits a request among the allowed."""
        read = self.read(request) if isinstance(request, str) else request
        wanted = options or Options()
        with suppress(EncoderUnavailable):
            return self._hits(read, allowed, wanted)
        self._parts.requests.embedding.hurry()
        read.go_by_words()
        return self._hits(read, allowed, wanted)

    def _hits(self, read: ParsedRequest, allowed: Collection[str], wanted: Options) -> tuple[Hit, ...]:
        found = self.candidates(read, allowed, wanted)
        existing, usable = self._loaded(found.ids.values(), allowed)
        found = self._with_vectors(found, existing.keys() - set(found.ids.values()))
        corpus = self._corpus(found, existing)
        ranker = Ranker(corpus, self._parts.calibration, population=self.count(allowed, wanted))
        again = self._parsed(corpus, read.request, by_words=not read.embeds)
        return lowered(ranker.search(again, corpus.mask(usable), wanted), self._failing)

    def _parsed(self, corpus: Corpus, request: str, by_words: bool = False) -> ParsedRequest:
        embedding = self._parts.requests.embedding
        if embedding.failure or by_words or not self.held.codes.width:
            return ParsedRequest(corpus, request)
        name = embedding.name
        return ParsedRequest(corpus, request, self._embed, known_to(name), partial(reader_for, name))

    def _embed(self, texts: Sequence[str]) -> Matrix:
        return self._parts.requests.of(texts, self.held.codes.width)

    def candidates(self, read: ParsedRequest, allowed: Collection[str], wanted: Options) -> StoredCandidates:
        """The rows that are ranked for a request."""
        reach = self._parts.reaches.of(self.held, allowed, wanted)
        finder = CandidateFinder(self.held, self._parts.lists, self._parts.calibration, self.taught)
        texts = [read.whole, *(read.in_needs[1:] if wanted.split else ())]
        return self._parts.database.from_replica(
            lambda transaction: finder.find(transaction, read.request, texts, reach, wanted.top_k)
        )

    def count(self, allowed: Collection[str], wanted: Options | None = None) -> int:
        """How many of what is indexed are allowed, and not left out by options."""
        return self._parts.reaches.of(self.held, allowed, wanted or Options()).count

    def few(self, allowed: Collection[str], most: int) -> Mapping[str, Capability] | None:
        """All of what is allowed, where it is so little."""
        reach = self._parts.reaches.of(self.held, allowed, Options())
        if reach.count > most:
            return None
        with self._parts.database.reading() as transaction:
            ids = tables.ids_of(transaction, np.flatnonzero(reach.mask).tolist())
        return several(allowed, ids.values()) if isinstance(allowed, Mapping) else None

    def areas(self, allowed: Collection[str]) -> Mapping[str, int]:
        """How many of each category, or server where there is none, are allowed."""
        with self._parts.database.reading() as transaction:
            condition = self._parts.reaches.condition_of(allowed).condition(transaction)
        return {area: size for (area,), size in self.counts(condition, "area").items()}

    def counts(self, condition: RowCondition, *fields: str) -> Mapping[tuple[str, ...], int]:
        """How many rows of which a condition is true have each value of some fields."""
        return self._parts.counted.counts(self.held.change, condition, fields)

    def count_of(self, condition: RowCondition) -> int:
        """How many rows a condition is true of."""
        return self._parts.counted.count(self.held.change, condition)

    def saying(self, words: Sequence[str]) -> Sequence[int]:
        """The rows in which each of these words stands, or whose id has it in it."""
        found, held = self.held.in_use, self.held
        for word in words:
            terms = self._parts.words.terms(word)
            with self._parts.database.reading() as transaction:
                lists = self._parts.lists.read(transaction, terms, held.groups, held.divisors)
                having = masked(queries.with_id_like(transaction, word), held)
            said = held.in_use if terms else having
            for parts in lists.values():
                said = said & masked(np.concatenate([part.rows for part in parts]), held)
            found = found & (said | having)
        return [int(number) for number in np.flatnonzero(found)]

    def _loaded(
        self, ids: Collection[str], allowed: Collection[str]
    ) -> tuple[dict[str, Capability], Collection[str]]:
        """The candidates and what they need, and which of them may be used."""
        found = self._parts.relations.with_needed(self.capabilities, self.capabilities.several(ids))
        if isinstance(allowed, PagedCapabilities):
            return found, allowed.among(found).keys()
        return found, [id for id in found if id in allowed]

    def _with_vectors(self, found: StoredCandidates, brought: Collection[str]) -> StoredCandidates:
        """The same, and what they bring along, which is told as well how near it is."""
        if not brought:
            return found
        with self._parts.database.reading() as transaction:
            numbers = tables.numbers_of(transaction, brought)
            vectors = encodings.vectors_of(transaction, self.held.encoding.encoding, numbers.values())
        more = {id: vectors[number] for id, number in numbers.items() if number in vectors}
        return replace(found, vectors={**found.vectors, **more})

    def _corpus(self, found: StoredCandidates, existing: Mapping[str, Capability]) -> Corpus:
        words = self._parts.words
        sizes = partial(self._parts.relations.sizes, self.held.change)
        corpus = Corpus(self._parts.presets, found.statistics, words, sizes)
        # What was learnt from is read anew, and so is what others need that is no candidate itself.
        documents = {
            id: document(each, words, examples_of(each, self._examples))
            if id in self._examples or id not in found.documents
            else found.documents[id]
            for id, each in existing.items()
        }
        corpus.put(existing.values(), documents=documents)
        vectors = {id: vector.astype(np.float32) for id, vector in found.vectors.items() if id in existing}
        corpus.give_vectors({**vectors, **vectors_of(self.taught, existing.keys())})
        corpus.give_handicaps({id: one.handicap for id, one in self.taught.taught.items() if id in existing})
        return corpus
