"""The one way from a request to hits, for every caller: find, offer, bench and the gates.

Above stands the index, which owns a corpus and an embedder; below are words, vectors, names, needs and
relations, none of which knows the others.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from prowess.discovery.corpus import Corpus, Mask
from prowess.discovery.dense import Matrix, joined
from prowess.discovery.fusion import Calibration, pooled
from prowess.discovery.glossary import in_other_words
from prowess.discovery.known_requests import KnownRequests
from prowess.discovery.needs import MOST_NEEDS, Splitter
from prowess.discovery.reader import PairReader, in_read_order
from prowess.discovery.reranking import USUAL_BOOST, Candidate, in_order, with_relatives
from prowess.discovery.text import embedding_text
from prowess.types import SIMILARITY, Hit

Embed = Callable[[Sequence[str]], Matrix]
Floats = npt.NDArray[np.float32]

# What is called by name is at least this strong: a relevance of about .95.
CALLED = 4.2
# Candidates beyond those asked for, so that relations have something to work with.
SPARE = 10
SHOWN_WORDS = 5
# Strengths are compared to a ten thousandth, which is no difference in what fits. How a dot product is summed
# depends on the processor, and so do its last digits: what ties must be ordered by its id everywhere.
STRENGTH_DIGITS = 4
# Where something fits, what fits not much less may be meant as well: from 1 / 20 of the odds of the best on,
# it has 4.5 times the odds it would have alone. Found on the train splits of metatool and BFCL.
CLOSE = 20.0
NEAR = 4.5
# Where nothing is stronger than this (a relevance of .67), the nearest known requests are asked as well: how
# near a row is to what did them, beyond what is usual, counts so much; see bench/results/candidates.md.
UNSURE = 1.0
LIKENED = 0.35
USUALLY_LIKE = 0.3


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
    with_reasons: bool = True
    by_known: bool = False
    """Where nothing fits for sure, go by known requests as well: for a model that asks, not for an offer."""
    read_closely: bool = False
    """Read the nearest together with a request for one thing: for a model that asks, not for an offer."""


@dataclass(frozen=True, slots=True)
class RankedText:
    """A need, or the whole request where it is empty, and how near each row is to it."""

    need: str
    terms: Sequence[str]
    words: Floats
    similar: Floats | None
    vector: Matrix | None = None
    """What it means, in English where it could be read so."""


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What was read of a request, how strongly each text speaks for every row, and what follows from it."""

    texts: Sequence[RankedText]
    strengths: Sequence[Floats]
    merged: Floats


class ParsedRequest:
    """A request as it reads against one corpus: whatever several searches for it need is made once.

    Without an embedder it is read by its words alone.
    """

    def __init__(
        self, corpus: Corpus, request: str, embed: Embed | None = None, known: KnownRequests | None = None,
        reader: Callable[[], PairReader | None] = lambda: None,
    ) -> None:  # fmt: skip
        self.corpus = corpus
        self.request = request
        self._embed = embed
        self._known = known
        self._reader = reader
        self._likened: dict[str, Floats] = {}
        self._weighed: list[tuple[Mask, tuple[bool, bool], _Evidence]] = []
        # Not cached properties: until Python 3.12 those lock, and all requests would wait for one encoder.
        self._whole: RankedText | None = None
        self._in_needs: list[RankedText] | None = None

    def remembered(
        self, searched: Mask, read_as: tuple[bool, bool], weigh: Callable[[], _Evidence]
    ) -> _Evidence:
        """What speaks for each row of what is searched; the same for a second search of the same rows."""
        for mask, was_read_as, evidence in self._weighed:
            if was_read_as == read_as and np.array_equal(mask, searched):
                return evidence
        self._weighed.append((searched, read_as, weigh()))
        return self._weighed[-1][2]

    @cached_property
    def called(self) -> set[int]:
        """The rows that the request calls by name."""
        return self.corpus.names.called(self.request)

    @cached_property
    def terms(self) -> list[str]:
        return self.corpus.words.terms(self.request)

    @property
    def whole(self) -> RankedText:
        if self._whole is None:
            self._whole = self._texts([self.request], self._vectors([self.request]))[0]
        return self._whole

    @property
    def in_needs(self) -> list[RankedText]:
        """The request as its needs, behind what they say together; nothing where it has only one."""
        if self._in_needs is None:
            self._in_needs = self._by_needs()
        return self._in_needs

    def _by_needs(self) -> list[RankedText]:
        needs = Splitter(self.corpus.words.terms, MOST_NEEDS).split(self.request)
        if not needs:
            return []
        vectors = self._vectors(needs)
        if vectors is not None:
            vectors = np.vstack([joined(vectors, [len(need) for need in needs]), vectors])
        return self._texts([self.request, *needs], vectors)

    def likened(self, text: RankedText) -> Floats | None:
        """How near each row is to what did the requests that are known and nearest to this text."""
        if self._known is None or text.vector is None:
            return None
        if text.need not in self._likened:
            answer = self._known.answer(text.vector)
            self._likened[text.need] = self.corpus.dense.similarities(answer[np.newaxis])[0]
        return self._likened[text.need]

    def nearest_read(self, found: list[Candidate]) -> list[Candidate]:
        """The candidates, those that are about equally near in the order in which reading puts them.

        A request for several things stays as it is: one tool does only a part of it.
        """
        reader = self._reader() if self._embed is not None and not self.in_needs else None
        return found if reader is None else in_read_order(found, self._said_by, self.request, reader)

    def _said_by(self, id: str) -> str:
        row = self.corpus.row(id)
        return "" if row is None else embedding_text(self.corpus.at(row))

    @property
    def embeds(self) -> bool:
        """Whether it is read by its meaning as well."""
        return self._embed is not None

    def go_by_words(self) -> None:
        """The embedder failed: what was read with it is read again without."""
        self._embed, self._weighed = None, []
        self._whole = self._in_needs = None

    def _vectors(self, texts: Sequence[str]) -> Matrix | None:
        dense = self.corpus.dense
        return self._embed(texts) if self._embed and (dense.complete or dense.known.any()) else None

    def _texts(self, texts: Sequence[str], vectors: Matrix | None) -> list[RankedText]:
        """The whole request, which comes first, and its needs; each as it is, and in other words."""
        corpus = self.corpus
        similar = [None] * len(texts) if vectors is None else corpus.dense.similarities(vectors)
        read = []
        for number, (text, near) in enumerate(zip(texts, similar, strict=True)):
            terms, other = corpus.words.terms(text), in_other_words(text)
            vector = None if vectors is None else vectors[number]
            if other:
                terms = list(dict.fromkeys((*terms, *corpus.words.terms(other))))
                reading = self._vectors([other])
                if near is not None and reading is not None:
                    near, vector = np.maximum(near, corpus.dense.similarities(reading)[0]), reading[0]
            words = corpus.lexical.scores(terms)
            read.append(RankedText(text if number else "", terms, words, near, vector))
        return read


@dataclass(frozen=True, slots=True)
class Ranker:
    """Searches a corpus; without an embedder, by words alone."""

    corpus: Corpus
    calibration: Calibration
    embed: Embed | None = None
    known: KnownRequests | None = None
    population: int = 0
    """How many are searched, where only candidates of them are here."""

    def search(
        self, request: str | ParsedRequest, allowed: Mask | None = None, options: Options | None = None
    ) -> tuple[Hit, ...]:
        """The capabilities that answer a request, best first, from those that are allowed."""
        wanted = options or Options()
        read = request
        if isinstance(read, str):
            read = ParsedRequest(self.corpus, read, self.embed, self.known)
        searched = self._searched(allowed, wanted)
        present = int(np.count_nonzero(searched))
        population = self.population or present
        called = {row for row in read.called if searched[row]}
        says_something = read.terms if wanted.abstain else read.request.strip()
        if not present or not (called or says_something):
            return ()
        evidence = read.remembered(
            searched,
            (wanted.split, wanted.by_known),
            lambda: self._evidence(read, searched, population, wanted),
        )
        found = self._found(evidence.merged, called, wanted.top_k + SPARE)
        if wanted.read_closely:
            found = read.nearest_read(found)
        asked = {each.id for each in found[: wanted.top_k]}
        if wanted.use_graph:
            permits = self._permits(searched)
            found = with_relatives(found, self.corpus.graph, permits, wanted.boost, wanted.top_k)
        kept = self._kept(self._close_lifted(found), asked, wanted)
        if not wanted.with_reasons:
            return tuple(Hit(id=each.id, score=score, brought_by=each.brought_by) for each, score in kept)
        surfaces = self.corpus.words.surfaces(read.request) if kept else {}
        return tuple(self._hit(each, score, evidence, surfaces) for each, score in kept)

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

    def _evidence(self, read: ParsedRequest, searched: Mask, population: int, wanted: Options) -> _Evidence:
        """What speaks for each row: the needs of the request where they are clear, else all of it at once."""
        needs = read.in_needs if wanted.split else []
        strengths = self._strengths(read, needs, searched, population, wanted.by_known)
        if needs:
            merged = pooled(strengths, self._candidates(needs, searched))
            if merged is not None:
                return _Evidence(needs, strengths, merged)
        # Encoded only now: it takes as long as all the needs together.
        whole = [read.whole]
        strength = self._strengths(read, whole, searched, population, wanted.by_known)
        merged = np.where(self._candidates(whole, searched), strength[0], np.float32(-np.inf))
        return _Evidence([*whole, *needs[1:]], [*strength, *strengths[1:]], merged)

    def _strengths(
        self,
        read: ParsedRequest,
        texts: Sequence[RankedText],
        searched: Mask,
        population: int,
        by_known: bool,
    ) -> list[Floats]:
        dense = self.corpus.dense
        known = None if dense.complete else dense.known
        weigh = self.calibration.strengths
        strengths = [weigh(each.words, each.similar, known, population) for each in texts]
        if not by_known:
            return strengths
        return [
            self._with_likeness(read, each, strength, searched)
            for each, strength in zip(texts, strengths, strict=True)
        ]

    def _with_likeness(
        self, read: ParsedRequest, text: RankedText, strength: Floats, searched: Mask
    ) -> Floats:
        """Where nothing fits for sure, what is like the tools that did requests like this one counts more."""
        if text.similar is None or strength.max(where=searched, initial=-np.inf) >= UNSURE:
            return strength
        like = read.likened(text)
        if like is None:
            return strength
        more = np.float32(self.calibration.hybrid.dense * LIKENED) * (like - np.float32(USUALLY_LIKE))
        return strength + np.where(self.corpus.dense.known, more, np.float32(0))

    def _found(self, merged: Floats, called: set[int], count: int) -> list[Candidate]:
        rounded = np.round(merged, STRENGTH_DIGITS)
        rows = sorted({*_strongest(rounded, count), *called})
        strengths = dict(zip(rows, rounded[rows].tolist(), strict=True))
        top = max(strengths.values(), default=0.0)
        strengths |= dict.fromkeys(called, max(CALLED, top))
        return in_order(
            [
                Candidate(id=self.corpus.at(row).id, strength=strength, called=row in called)
                for row, strength in strengths.items()
            ]
        )

    def _candidates(self, texts: Sequence[RankedText], searched: Mask) -> Mask:
        """What is searched, less rows without a vector and without a shared word."""
        dense = self.corpus.dense
        by_vector = texts[0].similar is not None
        if by_vector and dense.complete:
            return searched
        shared = [each.words > 0 for each in texts]
        either: Mask = np.logical_or.reduce([dense.known, *shared] if by_vector else shared)
        return searched & either

    def _permits(self, searched: Mask) -> Callable[[str], bool]:
        def permits(id: str) -> bool:
            row = self.corpus.row(id)
            return row is not None and bool(searched[row])

        return permits

    def _close_lifted(self, found: Sequence[Candidate]) -> list[Candidate]:
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
        self, found: Sequence[Candidate], asked: Collection[str], options: Options
    ) -> list[tuple[Candidate, float]]:
        """What is relevant enough, and what that needs; what is used with it, while there is room."""
        line = self.calibration.strength(options.min_relevance)
        own = sum(each.id in asked and each.strength >= line for each in found)
        free, kept = options.top_k - own, dict[str, Candidate]()
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

    def _hit(self, found: Candidate, score: float, evidence: _Evidence, surfaces: Mapping[str, str]) -> Hit:
        row, user = self.corpus.row(found.id), self.corpus.row(found.brought_by)
        asked = user if user is not None else row
        # A need that says as much as the whole request says it more precisely.
        best, _ = max(
            zip(evidence.texts, evidence.strengths, strict=True),
            key=lambda each: (each[1][asked], bool(each[0].need)),
        )
        reasons = ["named in the request"] if found.called else []
        if row is not None:
            reasons += self._reasons(row, best, surfaces)
        why = (*reasons, *found.reasons)
        return Hit(id=found.id, score=score, reasons=why, need=best.need, brought_by=found.brought_by)

    def _reasons(self, row: int, text: RankedText, surfaces: Mapping[str, str]) -> Iterable[str]:
        matched = self.corpus.lexical.matched(row, text.terms)[:SHOWN_WORDS]
        if matched:
            yield "words: " + ", ".join(dict.fromkeys(surfaces.get(term, term) for term in matched))
        if text.similar is not None and self.corpus.dense.known[row]:
            yield f"{SIMILARITY} {text.similar[row]:.2f}"


def _strongest(strengths: Floats, count: int) -> list[int]:
    """The rows of the highest strengths; rows that tie with the last of them come too."""
    least = np.partition(strengths, -count)[-count] if count < len(strengths) else -np.inf
    return np.flatnonzero(strengths >= least if least > -np.inf else strengths > least).tolist()
