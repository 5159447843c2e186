"""The one way from a request to hits, for every caller: find, offer, bench and the gates.

Above stands the index, which owns a corpus and an embedder; below are words, vectors, names, needs and
relations, none of which knows the others.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from prowess.discovery.corpus import Corpus, Mask
from prowess.discovery.dense import Matrix, joined
from prowess.discovery.fusion import Calibration, pooled
from prowess.discovery.needs import MOST_NEEDS, Splitter
from prowess.discovery.reranking import USUAL_BOOST, Found, in_order, with_relatives
from prowess.types import Hit

Embed = Callable[[Sequence[str]], Matrix]
Floats = npt.NDArray[np.float32]

# What is called by name is at least this strong: a relevance of about .95.
CALLED = 4.2
# Candidates beyond those asked for, so that relations have something to work with.
SPARE = 10
SHOWN_WORDS = 5
# Where something fits, what fits not much less may be meant as well: from 1 / 20 of the odds of the best on,
# it has 4.5 times the odds it would have alone. Found on the train splits of metatool and BFCL.
CLOSE = 20.0
NEAR = 4.5


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
    without_kind: str = ""
    use_graph: bool = True
    boost: float = USUAL_BOOST
    split: bool = True
    abstain: bool = True
    """Return nothing for a request without a word that carries meaning."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """A need, or the whole request where it is empty, with what it gave for every row."""

    need: str
    terms: Sequence[str]
    words: Floats
    similar: Floats | None
    strengths: Floats


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What was read of a request, and the strength of every row that follows from it."""

    readings: Sequence[_Reading]
    merged: Floats


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
        population = int(np.count_nonzero(searched))
        called = {row for row in self.corpus.names.called(request) if searched[row]}
        says_something = self.corpus.words.terms(request) if wanted.abstain else request.strip()
        if not population or not (called or says_something):
            return ()
        evidence = self._evidence(request, searched, population, wanted.split)
        found = self._found(evidence.merged, called, wanted.top_k + SPARE)
        asked = {each.id for each in found[: wanted.top_k]}
        if wanted.use_graph:
            permits = self._permits(searched)
            found = with_relatives(found, self.corpus.graph, permits, wanted.boost, wanted.top_k)
        kept = self._kept(self._close_lifted(found), asked, wanted)
        surfaces = self.corpus.words.surfaces(request) if kept else {}
        return tuple(self._hit(each, score, evidence.readings, surfaces) for each, score in kept)

    def _searched(self, allowed: Mask | None, options: Options) -> Mask:
        mask = self.corpus.present()
        if allowed is not None:
            mask = mask & allowed
        for name in ("kind", "category", "provider"):
            if value := getattr(options, name):
                mask = mask & self.corpus.where(name, value)
        if options.without_kind:
            mask = mask & ~self.corpus.where("kind", options.without_kind)
        if options.only_available:
            mask = mask & self.corpus.where("available", True)
        if options.exclude:
            mask = mask.copy()
            mask[list(self.corpus.names.written(options.exclude))] = False
        return mask

    def _evidence(self, request: str, searched: Mask, population: int, split: bool) -> _Evidence:
        """What speaks for each row: the needs of the request where they are clear, else all of it at once."""
        needs = Splitter(self.corpus.words.terms, self.most_needs).split(request) if split else ()
        readings: list[_Reading] = []
        if needs:
            vectors = self._vectors(needs)
            if vectors is not None:
                vectors = np.vstack([joined(vectors, [len(need) for need in needs]), vectors])
            readings = self._readings([request, *needs], vectors, population)
            merged = pooled([each.strengths for each in readings], self._candidates(readings, searched))
            if merged is not None:
                return _Evidence(readings, merged)
        # Encoded only now: it takes as long as all the needs together.
        whole = self._readings([request], self._vectors([request]), population)
        candidates = self._candidates(whole, searched)
        merged = np.where(candidates, whole[0].strengths, np.float32(-np.inf))
        return _Evidence([*whole, *readings[1:]], merged)

    def _vectors(self, texts: Sequence[str]) -> Matrix | None:
        dense = self.corpus.dense
        return self.embed(texts) if self.embed and (dense.complete or dense.known.any()) else None

    def _readings(self, texts: Sequence[str], vectors: Matrix | None, population: int) -> list[_Reading]:
        """The whole request, which comes first, and its needs."""
        corpus = self.corpus
        known = None if corpus.dense.complete else corpus.dense.known
        similar = [None] * len(texts) if vectors is None else corpus.dense.similarities(vectors)
        readings = []
        for number, (text, near) in enumerate(zip(texts, similar, strict=True)):
            terms = corpus.words.terms(text)
            words = corpus.lexical.scores(terms)
            strengths = self.calibration.strengths(words, near, known, population)
            readings.append(_Reading(text if number else "", terms, words, near, strengths))
        return readings

    def _found(self, merged: Floats, called: set[int], count: int) -> list[Found]:
        rows = sorted({*_strongest(merged, count), *called})
        strengths = dict(zip(rows, merged[rows].tolist(), strict=True))
        top = max(strengths.values(), default=0.0)
        strengths |= dict.fromkeys(called, max(CALLED, top))
        return in_order(
            [
                Found(id=self.corpus.at(row).id, strength=strength, called=row in called)
                for row, strength in strengths.items()
            ]
        )

    def _candidates(self, readings: Sequence[_Reading], searched: Mask) -> Mask:
        """What is searched, less rows without a vector and without a shared word."""
        dense = self.corpus.dense
        by_vector = readings[0].similar is not None
        if by_vector and dense.complete:
            return searched
        shared = [each.words > 0 for each in readings]
        either: Mask = np.logical_or.reduce([dense.known, *shared] if by_vector else shared)
        return searched & either

    def _permits(self, searched: Mask) -> Callable[[str], bool]:
        def permits(id: str) -> bool:
            row = self.corpus.row(id)
            return row is not None and bool(searched[row])

        return permits

    def _close_lifted(self, found: Sequence[Found]) -> list[Found]:
        """What is close to the best may be meant as well, and is the more likely the likelier the best is."""
        if not found:
            return []
        best = found[0].strength
        close, lift = best - self.calibration.apart(CLOSE), self.calibration.apart(NEAR)
        return [
            each._replace(strength=min(best, each.strength + lift)) if close <= each.strength < best else each
            for each in found
        ]

    def _kept(
        self, found: Sequence[Found], asked: Collection[str], options: Options
    ) -> list[tuple[Found, float]]:
        """What is relevant enough, and what that needs; what is used with it, while there is room."""
        line = self.calibration.strength(options.min_relevance)
        own = sum(each.id in asked and each.strength >= line for each in found)
        free, kept = options.top_k - own, dict[str, Found]()
        for each in found:
            fits = each.strength >= line
            if each.id in asked and fits:
                kept[each.id] = each._replace(brought_by="") if each.brought_by else each
            elif each.needed and each.brought_by in kept:
                kept[each.id] = each
            elif fits and free > 0:
                kept[each.id] = each
                free -= 1
        relevance = self.calibration.relevance
        return [(each, max(options.min_relevance, relevance(each.strength))) for each in kept.values()]

    def _hit(
        self, found: Found, score: float, readings: Sequence[_Reading], surfaces: Mapping[str, str]
    ) -> Hit:
        row, user = self.corpus.row(found.id), self.corpus.row(found.brought_by)
        asked = user if user is not None else row
        # A need that says as much as the whole request says it more precisely.
        best = max(readings, key=lambda each: (each.strengths[asked], bool(each.need)))
        reasons = ["named in the request"] if found.called else []
        if row is not None:
            reasons += self._reasons(row, best, surfaces)
        why = (*reasons, *found.reasons)
        return Hit(id=found.id, score=score, reasons=why, need=best.need, brought_by=found.brought_by)

    def _reasons(self, row: int, reading: _Reading, surfaces: Mapping[str, str]) -> Iterable[str]:
        matched = self.corpus.lexical.matched(row, reading.terms)[:SHOWN_WORDS]
        if matched:
            yield "words: " + ", ".join(dict.fromkeys(surfaces.get(term, term) for term in matched))
        if reading.similar is not None and self.corpus.dense.known[row]:
            yield f"similarity {reading.similar[row]:.2f}"


def _strongest(strengths: Floats, count: int) -> list[int]:
    """The rows of the highest strengths; rows that tie with the last of them come too."""
    least = np.partition(strengths, -count)[-count] if count < len(strengths) else -np.inf
    return np.flatnonzero(strengths >= least if least > -np.inf else strengths > least).tolist()
