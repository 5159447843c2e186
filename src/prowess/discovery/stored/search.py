"""A search over an index in the store: candidates first, then the usual ranking on them alone.

Above: the engine, which asks it as it asks any search. Below: what this process holds of the index, the
tables of the rest, and the ranker. Candidates are those nearest by their codes, by their words, and those
called by name; what they score is worked out exactly, with the statistics of the whole catalogue.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from prowess.catalogue.stored import PagedCapabilities
from prowess.discovery.corpus import Corpus
from prowess.discovery.dense import Matrix
from prowess.discovery.fusion import Calibration
from prowess.discovery.graph import Graph
from prowess.discovery.known_requests import known_to
from prowess.discovery.lexical import LexicalStatistics
from prowess.discovery.lint import LintFinding
from prowess.discovery.names import keys_in
from prowess.discovery.ranking import Options, ParsedRequest, RankedText, Ranker
from prowess.discovery.reader import reader_for
from prowess.discovery.search import RequestVectors, lowered
from prowess.discovery.stored import postings, tables
from prowess.discovery.stored.documents import Documents
from prowess.discovery.stored.held import HeldIndex
from prowess.discovery.stored.reach import Reach, Reaches
from prowess.discovery.vectors import Half
from prowess.errors import EncoderUnavailable
from prowess.store.database import Database, Transaction
from prowess.types import Capability, Hit

BY_CODE = 600
"""How many are taken by their codes, to be compared by their vectors."""
BY_WORDS = 300
"""How many are taken by their words."""
RANKED = 40
"""How many candidates of a request are ranked beside twice those asked for: the best by words and meaning."""
FOR_A_NEED = 30
"""How many of each need, where a request has several."""
MOST_CALLED = 50
DEEPEST = 4
"""How far what a candidate needs is followed."""


@dataclass(frozen=True, slots=True)
class StoredParts:
    """What every search over one index works with."""

    database: Database
    lists: postings.PostingLists
    documents: Documents
    calibration: Calibration
    requests: RequestVectors
    presets: Mapping[str, Sequence[str]]
    reaches: Reaches
    """Which rows may be looked at."""


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Rows to rank, their vectors, and what the words of the request are worth."""

    ids: Mapping[int, str]
    vectors: Mapping[int, Half]
    statistics: LexicalStatistics


class StoredSearch:
    def __init__(
        self, held: HeldIndex, capabilities: PagedCapabilities, examples: Mapping[str, Sequence[str]],
        parts: StoredParts,
    ) -> None:  # fmt: skip
        """held: the index; capabilities: everything there is; examples: requests that some answered."""
        self.held = held
        self.capabilities = capabilities
        self._examples = examples
        self._parts = parts
        self._failing: Mapping[str, str] = {}

    def lowering(self, failing: Mapping[str, str]) -> "StoredSearch":
        """The same search, in which what fails now comes behind what fits about as well."""
        other = copy(self)
        other._failing = failing
        return other

    @property
    def graph(self) -> Graph:
        """The relations of a whole catalogue are not known here."""
        return Graph(self._parts.presets, relates_alike=False)

    @property
    def unencoded(self) -> int:
        """How many capabilities are not indexed so far."""
        return max(0, len(self.capabilities) - self.held.population)

    def lint(self) -> tuple[LintFinding, ...]:
        """Nothing: what is compared with everything is not for a catalogue of this size."""
        return ()

    def read(self, request: str) -> ParsedRequest:
        """A request to be searched for once or several times."""
        return self._parsed(Corpus(self._parts.presets, words=self._parts.documents.words), request)

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
        reach = self._parts.reaches.of(self.held, allowed, wanted)
        found = self._candidates(read, reach, wanted)
        existing, usable = self._loaded(found.ids.values(), allowed)
        corpus = self._corpus(found, existing)
        ranker = Ranker(corpus, self._parts.calibration, population=reach.count)
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

    def count(self, allowed: Collection[str]) -> int:
        """How many of what is indexed are allowed."""
        return self._parts.reaches.of(self.held, allowed, Options()).count

    def areas(self, allowed: Collection[str]) -> Mapping[str, int]:
        """How many of each category, or server where there is none, are allowed."""
        reach = self._parts.reaches.of(self.held, allowed, Options())
        with self._parts.database.reading() as transaction:
            if reach.count <= self.held.population // 2:
                return tables.areas(transaction, np.flatnonzero(reach.mask).tolist())
            every = Counter(tables.areas(transaction))
            every.subtract(tables.areas(transaction, np.flatnonzero(self.held.in_use & ~reach.mask).tolist()))
        return {area: size for area, size in every.items() if size > 0}

    # --- candidates ----------------------------------------------------------------------------

    def _candidates(self, read: ParsedRequest, reach: Reach, wanted: Options) -> _Candidates:
        texts = [read.whole, *(read.in_needs[1:] if wanted.split else ())]
        terms = {term for text in texts for term in text.terms}
        with self._parts.database.reading() as transaction:
            lists = self._parts.lists.read(transaction, terms, self.held.segments)
            ids, vectors = dict[int, str](), dict[int, Half]()
            named = tables.called(transaction, keys_in(read.request), MOST_CALLED)
            chosen = {number for number in named if reach.mask[number : number + 1].any()}
            for text in texts:
                count = 2 * wanted.top_k + (FOR_A_NEED if text.need else RANKED)
                chosen |= set(self._nearest(transaction, text, lists, reach, count, vectors))
            ids = tables.ids_of(transaction, chosen)
            missing = [number for number in ids if number not in vectors]
            vectors |= tables.vectors_of(transaction, missing)
        frequencies = {term: sum(len(part.numbers) for part in parts) for term, parts in lists.items()}
        statistics = LexicalStatistics(self.held.population, self.held.mean_length, frequencies)
        return _Candidates(ids, {number: vectors[number] for number in ids if number in vectors}, statistics)

    def _nearest(
        self, transaction: Transaction, text: RankedText, lists: Mapping[str, Sequence[postings.PostingList]],
        reach: Reach, count: int, vectors: dict[int, Half],
    ) -> list[int]:  # fmt: skip
        """The best rows by words and meaning together, of those that are best by either."""
        own = {term: lists[term] for term in text.terms}
        having, words = postings.scores(own, self.held.population, len(self.held.in_use))
        chosen = postings.best(having, words, reach.mask, BY_WORDS)
        if text.vector is not None and self.held.codes.width:
            centred = np.asarray(text.vector, np.float32) - self.held.mean
            near = self.held.codes.near(centred, reach.rows, BY_CODE)
            chosen = np.union1d(chosen, near).astype(np.int32)
        vectors |= tables.vectors_of(transaction, [n for n in chosen.tolist() if n not in vectors])
        strengths = self._strengths(chosen.tolist(), words, text.vector, vectors, reach.count)
        order = np.argsort(-strengths, kind="stable")[:count]
        return [int(number) for number in chosen[order]]

    def _strengths(
        self, numbers: Sequence[int], words: npt.NDArray[np.float64], vector: Matrix | None,
        vectors: Mapping[int, Half], population: int,
    ) -> Matrix:  # fmt: skip
        score = words[list(numbers)].astype(np.float32)
        if vector is None or not numbers:
            return self._parts.calibration.strengths(score, None, None, population)
        known = np.array([number in vectors for number in numbers])
        none = np.zeros(len(vector), np.float16)
        matrix = np.stack([vectors.get(number, none) for number in numbers]).astype(np.float32)
        return self._parts.calibration.strengths(score, np.vecdot(matrix, vector), known, population)

    # --- what is ranked ------------------------------------------------------------------------

    def _loaded(
        self, ids: Collection[str], allowed: Collection[str]
    ) -> tuple[dict[str, Capability], Collection[str]]:
        """The candidates and what they need, and which of them may be used."""
        found = self.capabilities.several(ids)
        wanted = _needed(found.values()) - found.keys()
        for _ in range(DEEPEST):
            if not wanted:
                break
            more = self.capabilities.several(wanted)
            found |= more
            wanted = _needed(more.values()) - found.keys()
        if isinstance(allowed, PagedCapabilities):
            return found, allowed.among(found).keys()
        return found, [id for id in found if id in allowed]

    def _corpus(self, found: _Candidates, existing: Mapping[str, Capability]) -> Corpus:
        corpus = Corpus(self._parts.presets, found.statistics, self._parts.documents.words)
        examples = {id: self._examples[id] for id in existing if id in self._examples}
        corpus.put(existing.values(), examples, self._parts.documents.of(existing.values(), examples))
        numbers = {id: number for number, id in found.ids.items()}
        vectors = {
            id: found.vectors[numbers[id]].astype(np.float32)
            for id in existing
            if id in numbers and numbers[id] in found.vectors
        }
        corpus.give_vectors(vectors)
        return corpus


def _needed(capabilities: Collection[Capability]) -> set[str]:
    """What these need, by id, where a name is one."""
    names = {name for each in capabilities for name in each.required_tools}
    return names | {f"tool:{name}" for name in names}
