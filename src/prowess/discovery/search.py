"""The searchable form of a catalogue at one moment: nobody changes it, so any number of threads search it.

Above: the engine, which takes one for a turn and searches it as often as it likes. Below: the ranker. A new
one takes the place of the old when the catalogue, the vectors or what was learnt change; who searches the
old one meanwhile is not disturbed.
"""

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial
from threading import Lock

import numpy as np

from prowess.discovery.corpus import Corpus, Mask
from prowess.discovery.dense import Matrix
from prowess.discovery.embedding import Embedding
from prowess.discovery.fusion import Calibration
from prowess.discovery.graph import Graph
from prowess.discovery.known_requests import known_to
from prowess.discovery.lint import LintFinding, lint
from prowess.discovery.ranking import Options, ParsedRequest, Ranker
from prowess.discovery.reader import reader_for
from prowess.errors import EncoderUnavailable
from prowess.types import Capability, Hit

REMEMBERED_QUERIES = 512
REMEMBERED_MASKS = 64
FAILING_WEIGHT = 0.5
"""What a capability that fails now is worth, of what it would be."""


def lowered(hits: tuple[Hit, ...], failing: Mapping[str, str]) -> tuple[Hit, ...]:
    """The hits with what fails now worth less, and why; nothing is taken out, for it may be all there is."""
    if failing.keys().isdisjoint(hit.id for hit in hits):
        return hits
    weighed = (
        replace(hit, score=hit.score * FAILING_WEIGHT, reasons=(*hit.reasons, f"ranked lower: {why}"))
        if (why := failing.get(hit.id))
        else hit
        for hit in hits
    )
    return tuple(sorted(weighed, key=lambda hit: -hit.score))


class RequestVectors:
    """What requests mean, remembered: a conversation repeats itself. Encoding happens outside of any lock."""

    def __init__(self, embedding: Embedding) -> None:
        self.embedding = embedding
        self._lock = Lock()
        self._known: OrderedDict[str, Matrix] = OrderedDict()
        self._remembered = REMEMBERED_QUERIES

    def of(self, texts: Sequence[str], width: int) -> Matrix:
        found: dict[str, Matrix] = {}
        for text in texts:
            if text not in found:
                found[text] = self._at_hand(text, width)
        return np.array([found[text] for text in texts])

    def keep(self, vectors: Mapping[str, Matrix], further: int = 0) -> None:
        """Remember these; with `further`, that many more than usual."""
        with self._lock:
            self._remembered = max(self._remembered, REMEMBERED_QUERIES + further)
            self._known.update(vectors)
            while len(self._known) > self._remembered:
                self._known.popitem(last=False)

    def _at_hand(self, text: str, width: int) -> Matrix:
        with self._lock:
            known = self._known.get(text)
            if known is not None:
                self._known.move_to_end(text)
        if known is None:
            known = self.embedding([text], width)[0]
            self.keep({text: known})
        return known


class Search:
    def __init__(
        self, corpus: Corpus, capabilities: Mapping[str, Capability], calibration: Calibration,
        vectors: RequestVectors,
    ) -> None:  # fmt: skip
        self._corpus = corpus
        self._capabilities = capabilities
        self._calibration = calibration
        self._vectors = vectors
        self._masks: list[tuple[Collection[str], Mask]] = []
        self._failing: Mapping[str, str] = {}
        self._lowered: Search | None = None

    def lowering(self, failing: Mapping[str, str]) -> "Search":
        """The same search, in which what fails now comes behind what fits about as well.

        failing: capability -> why it counts as failing.
        """
        if not failing:
            return self
        if self._lowered is None or self._lowered._failing is not failing:
            self._lowered = copy(self)
            self._lowered._failing = failing
        return self._lowered

    def count(self, allowed: Collection[str]) -> int:
        """How many are allowed."""
        return len(allowed)

    @property
    def graph(self) -> Graph:
        return self._corpus.graph

    @property
    def unencoded(self) -> int:
        """How many capabilities have no vector so far though an embedder works, and go by their words."""
        if self._vectors.embedding.failure is not None or self._corpus.dense.complete:
            return 0
        return len(self._corpus.without_vectors())

    def lint(self) -> tuple[LintFinding, ...]:
        return lint(self._capabilities, self._corpus)

    def read(self, request: str) -> ParsedRequest:
        """A request to be searched for once or several times; what it says is read once."""
        if self._vectors.embedding.failure:
            return ParsedRequest(self._corpus, request)
        name = self._vectors.embedding.name
        return ParsedRequest(self._corpus, request, self._embed, known_to(name), partial(reader_for, name))

    def hits(
        self, request: str | ParsedRequest, allowed: Collection[str], options: Options | None = None
    ) -> tuple[Hit, ...]:
        """What fits a request among the allowed, which must not change while it is passed again."""
        read = self.read(request) if isinstance(request, str) else request
        ranker, mask = Ranker(self._corpus, self._calibration), self._mask(allowed)
        with suppress(EncoderUnavailable):
            return lowered(ranker.search(read, mask, options), self._failing)
        self._vectors.embedding.hurry()
        read.go_by_words()
        return lowered(ranker.search(read, mask, options), self._failing)

    def _embed(self, texts: Sequence[str]) -> Matrix:
        return self._vectors.of(texts, self._corpus.dense.width)

    def _mask(self, allowed: Collection[str]) -> Mask:
        for known, mask in self._masks:
            if known is allowed:
                return mask
        mask = self._corpus.mask(allowed)
        self._masks = [*self._masks[-REMEMBERED_MASKS:], (allowed, mask)]
        return mask
