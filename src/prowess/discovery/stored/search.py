"""A search over an index in the store: candidates first, then the usual ranking on them alone.

Above: the engine, which asks it as it asks any search. Below: the candidates, and the ranker.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass

import numpy as np

from prowess.catalogue.stored import PagedCapabilities
from prowess.discovery.corpus import Corpus
from prowess.discovery.dense import Matrix
from prowess.discovery.fusion import Calibration
from prowess.discovery.graph import Graph
from prowess.discovery.known_requests import known_to
from prowess.discovery.lexical import document
from prowess.discovery.lint import LintFinding
from prowess.discovery.ranking import Options, ParsedRequest, Ranker
from prowess.discovery.search import RequestVectors, lowered
from prowess.discovery.stored import tables
from prowess.discovery.stored.candidates import CandidateFinder, StoredCandidates
from prowess.discovery.stored.held import HeldIndex
from prowess.discovery.stored.postings import PostingLists
from prowess.discovery.stored.reach import Reaches
from prowess.discovery.text import Words
from prowess.errors import EncoderUnavailable
from prowess.store.database import Database, Transaction
from prowess.types import Capability, Hit

DEEPEST = 4
"""How far what a candidate needs is followed."""


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
        corpus = self._corpus(found, existing)
        ranker = Ranker(corpus, self._parts.calibration, population=self.count(allowed, wanted))
        again = self._parsed(corpus, read.request, by_words=not read.embeds)
        return lowered(ranker.search(again, corpus.mask(usable), wanted), self._failing)

    def _parsed(self, corpus: Corpus, request: str, by_words: bool = False) -> ParsedRequest:
        embedding = self._parts.requests.embedding
        if embedding.failure or by_words or not self.held.codes.width:
            return ParsedRequest(corpus, request)
        return ParsedRequest(corpus, request, self._embed, known_to(embedding.name))

    def _embed(self, texts: Sequence[str]) -> Matrix:
        return self._parts.requests.of(texts, self.held.codes.width)

    def candidates(self, read: ParsedRequest, allowed: Collection[str], wanted: Options) -> StoredCandidates:
        """The rows that are ranked for a request."""
        reach = self._parts.reaches.of(self.held, allowed, wanted)
        finder = CandidateFinder(self.held, self._parts.lists, self._parts.calibration)
        texts = [read.whole, *(read.in_needs[1:] if wanted.split else ())]
        return self._parts.database.from_replica(
            lambda transaction: finder.find(transaction, read.request, texts, reach, wanted.top_k)
        )

    def count(self, allowed: Collection[str], wanted: Options | None = None) -> int:
        """How many of what is indexed are allowed, and not left out by options."""
        return self._parts.reaches.of(self.held, allowed, wanted or Options()).count

    def areas(self, allowed: Collection[str]) -> Mapping[str, int]:
        """How many of each category, or server where there is none, are allowed."""
        reach = self._parts.reaches.of(self.held, allowed, Options())
        is_most = reach.count > self.held.population // 2
        left = np.flatnonzero(self.held.in_use & ~reach.mask if is_most else reach.mask).tolist()

        def counted(transaction: Transaction) -> Mapping[str, int]:
            if not is_most:
                return tables.areas(transaction, left)
            every = Counter(tables.areas(transaction))
            every.subtract(tables.areas(transaction, left))
            return {area: size for area, size in every.items() if size > 0}

        return self._parts.database.from_replica(counted)

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

    def _corpus(self, found: StoredCandidates, existing: Mapping[str, Capability]) -> Corpus:
        words = self._parts.words
        corpus = Corpus(self._parts.presets, found.statistics, words)
        examples = {id: self._examples[id] for id in existing if id in self._examples}
        # What was learnt from is read anew, and so is what others need that is no candidate itself.
        documents = {
            id: document(each, words, examples.get(id, ()))
            if id in examples or id not in found.documents
            else found.documents[id]
            for id, each in existing.items()
        }
        corpus.put(existing.values(), examples, documents)
        corpus.give_vectors(
            {id: vector.astype(np.float32) for id, vector in found.vectors.items() if id in existing}
        )
        return corpus


def _needed(capabilities: Collection[Capability]) -> set[str]:
    """What these need, by id, where a name is one."""
    names = {name for each in capabilities for name in each.required_tools}
    return names | {f"tool:{name}" for name in names}
