"""The one way from a request to hits, for every caller: find, offer, bench and the gates.

Above stands the index, which owns a corpus and an embedder; below are words, vectors, names, needs and
relations, none of which knows the others.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from prowess.discovery.corpus import Corpus, Mask
from prowess.discovery.dense import Matrix
from prowess.discovery.fusion import Calibration, pooled
from prowess.discovery.needs import Splitter
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
    """One text, the whole request or a need, with the evidence it gave."""

    text: str
    terms: Sequence[str]
    words: Floats
    similar: Floats | None


@dataclass(frozen=True, slots=True)
class Ranker:
    """Searches a corpus; without an embedder, by words alone."""

    corpus: Corpus
    calibration: Calibration
    embed: Embed | None = None
    most_needs: int = field(default=5)

    def search(
        self, request: str, allowed: Mask | None = None, options: Options | None = None
    ) -> tuple[Hit, ...]:
        """The capabilities that answer a request, best first, from those that are allowed."""
        wanted = options or Options()
        searched = self._searched(allowed, wanted)
        called = {row for row in self.corpus.names.called(request) if searched[row]}
        if not searched.any() or not (called or self._worth_reading(request, wanted)):
            return ()
        readings = self._readings(request, wanted)
        found = self._found(readings, searched, called, wanted.top_k + SPARE)
        if wanted.use_graph:
            found = with_relatives(found, self.corpus.graph, self._permits(searched), wanted.boost)
        return self._hits(found, wanted)

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

    def _worth_reading(self, request: str, options: Options) -> bool:
        return bool(self.corpus.words.terms(request)) if options.abstain else bool(request.strip())

    def _readings(self, request: str, options: Options) -> list[_Reading]:
        terms = self.corpus.words.terms
        needs = Splitter(terms, self.most_needs).split(request) if options.split else ()
        texts = [request, *needs]
        similar: Iterable[Floats | None] = [None] * len(texts)
        if self.embed is not None and self.corpus.dense.known.any():
            similar = self.corpus.dense.similarities(self.embed(texts))
        read = [terms(text) for text in texts]
        words = [self.corpus.lexical.scores(each) for each in read]
        return [_Reading(*parts) for parts in zip(texts, read, words, similar, strict=True)]

    def _found(
        self, readings: Sequence[_Reading], searched: Mask, called: set[int], count: int
    ) -> list[Found]:
        population, known = int(np.count_nonzero(searched)), self.corpus.dense.known
        strengths = [
            self.calibration.strengths(each.words, each.similar, known, population) for each in readings
        ]
        merged = pooled(strengths, searched & self._has_evidence(readings))
        rows = {*_strongest(merged, count), *called}
        top = max((float(merged[row]) for row in rows), default=0.0)
        surfaces = self._surfaces(readings[0].text)
        found = []
        for row in rows:
            best = int(np.argmax([strength[row] for strength in strengths]))
            strength = max(CALLED, top) if row in called else float(merged[row])
            found.append(
                Found(
                    id=self.corpus.at(row).id,
                    strength=strength,
                    called=row in called,
                    reasons=self._reasons(row, readings[best], row in called, surfaces),
                    need=readings[best].text if best else "",
                )
            )
        return in_order(found)

    def _has_evidence(self, readings: Sequence[_Reading]) -> Mask:
        """A row without a vector and without a shared word is no candidate at all."""
        known = self.corpus.dense.known
        if readings[0].similar is not None and known.all():
            return known
        shares = np.any([each.words > 0 for each in readings], axis=0)
        return np.asarray(shares | known if readings[0].similar is not None else shares, np.bool_)

    def _surfaces(self, request: str) -> dict[str, str]:
        """Terms as the request writes them, for people."""
        terms = self.corpus.words.terms
        return {term: word.strip(".,;:!?()\"'`") for word in request.split() for term in terms(word)}

    def _reasons(
        self, row: int, reading: _Reading, called: bool, surfaces: dict[str, str]
    ) -> tuple[str, ...]:
        reasons = ["named in the request"] if called else []
        matched = self.corpus.lexical.matched(row, reading.terms)[:SHOWN_WORDS]
        if matched:
            shown = dict.fromkeys(surfaces.get(term, term) for term in matched)
            reasons.append("words: " + ", ".join(shown))
        if reading.similar is not None and self.corpus.dense.known[row]:
            reasons.append(f"similarity {float(reading.similar[row]):.2f}")
        return tuple(reasons)

    def _permits(self, searched: Mask) -> Callable[[str], bool]:
        def permits(id: str) -> bool:
            row = self.corpus.row(id)
            return row is not None and bool(searched[row])

        return permits

    def _hits(self, found: Sequence[Found], options: Options) -> tuple[Hit, ...]:
        """Keep what is relevant enough, and what the kept ones need."""
        hits: list[Hit] = []
        kept: set[str] = set()
        for each in found:
            score = self.calibration.relevance(each.strength)
            if score < options.min_relevance and each.needed_by in kept:
                score = options.min_relevance
            if score >= options.min_relevance:
                kept.add(each.id)
                hits.append(Hit(id=each.id, score=score, reasons=each.reasons, need=each.need))
        return tuple(hits[: options.top_k])


def _strongest(strengths: Floats, count: int) -> list[int]:
    """The rows of the highest strengths; rows that tie with the last of them come too."""
    finite = np.isfinite(strengths)
    if count < len(strengths):
        finite &= strengths >= np.partition(strengths, -count)[-count]
    return np.flatnonzero(finite).tolist()
