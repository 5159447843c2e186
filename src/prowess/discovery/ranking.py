"""The one way from a request to hits, for every caller: find, offer, bench and the gates.

Above stands the index, which owns a corpus and an embedder; below are words, vectors, names, needs and
relations, none of which knows the others.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from prowess.discovery.corpus import Corpus, Mask
from prowess.discovery.dense import Matrix
from prowess.discovery.fusion import Calibration, pooled
from prowess.discovery.needs import MOST_NEEDS, Splitter
from prowess.discovery.reranking import USUAL_BOOST, Found, in_order, with_relatives
from prowess.types import Hit

Embed = Callable[[Sequence[str]], Matrix]
Floats = npt.NDArray[np.float32]

# What is called by name is at least this strong: a relevance of about .95.
CALLED = 4.2
# Candidates beyond those asked for, so that relations have something to work with.
SPARE = 20
SHOWN_WORDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to search in and how much to return; an empty filter lets everything through."""

    top_k: int = 5
    min_relevance: float = 0.3
    kind: str = ""
    category: str = ""
    provider: str = ""
    only_available: bool = False
    exclude: tuple[str, ...] = ()
    use_graph: bool = True
    boost: float = USUAL_BOOST
    split: bool = True
    abstain: bool = True
    """Return nothing for a request without a word that carries meaning."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """One text, the whole request or a need, with the evidence it gave for every row."""

    text: str
    terms: Sequence[str]
    words: Floats
    similar: Floats | None
    strengths: Floats


@dataclass(frozen=True, slots=True)
class Ranker:
    """Searches a corpus; without an embedder, by words alone."""

    corpus: Corpus
    calibration: Calibration
    embed: Embed | None = None
    most_needs: int = MOST_NEEDS

    def search(
        self, request: str, allowed: Mask | None = None, options: Options | None = None
    ) -> tuple[Hit, ...]:
        """The capabilities that answer a request, best first, from those that are allowed."""
        wanted = options or Options()
        searched = self._searched(allowed, wanted)
        called = {row for row in self.corpus.names.called(request) if searched[row]}
        says_something = bool(self.corpus.words.terms(request)) if wanted.abstain else bool(request.strip())
        if not searched.any() or not (called or says_something):
            return ()
        readings = self._readings(request, searched, wanted.split)
        found = self._found(readings, searched, called, wanted.top_k + SPARE)
        if wanted.use_graph:
            found = with_relatives(found, self.corpus.graph, self._permits(searched), wanted.boost)
        kept = self._kept(found, wanted)
        surfaces = self._surfaces(request) if kept else {}
        return tuple(self._hit(each, score, readings, surfaces) for each, score in kept)

    def _searched(self, allowed: Mask | None, options: Options) -> Mask:
        mask = self.corpus.present()
        if allowed is not None:
            mask = mask & allowed
        for name in ("kind", "category", "provider"):
            if value := getattr(options, name):
                mask = mask & self.corpus.where(name, value)
        if options.only_available:
            mask = mask & self.corpus.where("available", True)
        if options.exclude:
            mask = mask.copy()
            mask[list(self.corpus.names.written(options.exclude))] = False
        return mask

    def _readings(self, request: str, searched: Mask, split: bool) -> list[_Reading]:
        corpus = self.corpus
        needs = Splitter(corpus.words.terms, self.most_needs).split(request) if split else ()
        texts = [request, *needs]
        similar: Iterable[Floats | None] = [None] * len(texts)
        if self.embed is not None and corpus.dense.known.any():
            similar = corpus.dense.similarities(self.embed(texts))
        population = int(np.count_nonzero(searched))
        readings = []
        for text, near in zip(texts, similar, strict=True):
            terms = corpus.words.terms(text)
            words = corpus.lexical.scores(terms)
            strengths = self.calibration.strengths(words, near, corpus.dense.known, population)
            readings.append(_Reading(text, terms, words, near, strengths))
        return readings

    def _found(
        self, readings: Sequence[_Reading], searched: Mask, called: set[int], count: int
    ) -> list[Found]:
        candidates = searched & self._has_evidence(readings)
        merged = pooled([each.strengths for each in readings], candidates)
        rows = {*_strongest(merged, count), *called}
        top = max((float(merged[row]) for row in rows), default=0.0)
        return in_order(
            [
                Found(
                    id=self.corpus.at(row).id,
                    strength=max(CALLED, top) if row in called else float(merged[row]),
                    called=row in called,
                )
                for row in rows
            ]
        )

    def _has_evidence(self, readings: Sequence[_Reading]) -> Mask:
        """A row without a vector and without a shared word is no candidate at all."""
        known = self.corpus.dense.known
        if readings[0].similar is None:
            known = np.zeros_like(known)
        elif known.all():
            return known
        shared = [each.words > 0 for each in readings]
        either: Mask = np.logical_or.reduce([known, *shared])
        return either

    def _permits(self, searched: Mask) -> Callable[[str], bool]:
        def permits(id: str) -> bool:
            row = self.corpus.row(id)
            return row is not None and bool(searched[row])

        return permits

    def _kept(self, found: Sequence[Found], options: Options) -> list[tuple[Found, float]]:
        """What is relevant enough, with its relevance, and what the kept ones need."""
        kept: list[tuple[Found, float]] = []
        ids: set[str] = set()
        for each in found:
            score = self.calibration.relevance(each.strength)
            if score < options.min_relevance and each.needed_by in ids:
                score = options.min_relevance
            if score >= options.min_relevance and len(kept) < options.top_k:
                ids.add(each.id)
                kept.append((each, score))
        return kept

    def _hit(
        self, found: Found, score: float, readings: Sequence[_Reading], surfaces: Mapping[str, str]
    ) -> Hit:
        row, user = self.corpus.row(found.id), self.corpus.row(found.needed_by)
        asked = next(each for each in (user, row) if each is not None)
        # A need that says as much as the whole request says it more precisely.
        best = max(range(len(readings)), key=lambda at: (float(readings[at].strengths[asked]), at > 0))
        reasons = ["named in the request"] if found.called else []
        if row is not None:
            reasons += self._evidence(row, readings[best], surfaces)
        need = readings[best].text if best else ""
        return Hit(id=found.id, score=score, reasons=(*reasons, *found.reasons), need=need)

    def _evidence(self, row: int, reading: _Reading, surfaces: Mapping[str, str]) -> Iterable[str]:
        matched = self.corpus.lexical.matched(row, reading.terms)[:SHOWN_WORDS]
        if matched:
            yield "words: " + ", ".join(dict.fromkeys(surfaces.get(term, term) for term in matched))
        if reading.similar is not None and self.corpus.dense.known[row]:
            yield f"similarity {float(reading.similar[row]):.2f}"

    def _surfaces(self, request: str) -> dict[str, str]:
        """Terms as the request writes them, for people."""
        terms = self.corpus.words.terms
        return {term: word.strip(".,;:!?()\"'`") for word in request.split() for term in terms(word)}


def _strongest(strengths: Floats, count: int) -> list[int]:
    """The rows of the highest strengths; rows that tie with the last of them come too."""
    finite = np.isfinite(strengths)
    if count < len(strengths):
        finite &= strengths >= np.partition(strengths, -count)[-count]
    return np.flatnonzero(finite).tolist()
