"""The rows of an index in the store that a request may mean: by their codes, their words, and their names.

Above: the search, which ranks them. Below: what this process holds of the index, and the tables of the rest.
What they score is worked out exactly, with the statistics of the whole catalogue.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from prowess.discovery.dense import Matrix
from prowess.discovery.fusion import Calibration
from prowess.discovery.lexical import IndexedTerms, LexicalStatistics
from prowess.discovery.names import keys_in
from prowess.discovery.ranking import RankedText
from prowess.discovery.stored import encodings, postings, tables
from prowess.discovery.stored.codes import Numbers
from prowess.discovery.stored.held import HeldIndex
from prowess.discovery.stored.lessons import TaughtRows
from prowess.discovery.stored.postings import Floats, PostingList, PostingLists
from prowess.discovery.stored.reach import Reach
from prowess.discovery.vectors import Half
from prowess.store.database import Transaction

RANKED = 30
"""How many candidates of a request are ranked beside twice those asked for: the best by words and meaning."""
MIN_COMPARED = 300
MAX_COMPARED = 800
COMPARED = 4
"""So many times as many as are ranked are compared by their vectors, of those that look best without."""
POOL = 8
"""So many times as many as are wanted are compared by words first, so that the rest has a limit to pass."""
MOST_CALLED = 50


@dataclass(frozen=True, slots=True)
class StoredCandidates:
    """Rows to rank, their vectors, and what the words of the request are worth."""

    ids: Mapping[int, str]
    vectors: Mapping[str, Half]
    documents: Mapping[str, IndexedTerms]
    """The words of each, as far as they stand in the request."""
    statistics: LexicalStatistics


@dataclass(frozen=True, slots=True)
class CandidateFinder:
    """Finds the candidates of requests in one state of an index."""

    held: HeldIndex
    lists: PostingLists
    calibration: Calibration
    taught: TaughtRows
    """What lessons and examples bring."""

    def find(
        self, transaction: Transaction, request: str, texts: Sequence[RankedText], reach: Reach, top_k: int
    ) -> StoredCandidates:
        """Those of the rows that may be looked at.

        texts: the whole request and each of its needs, of which so many are asked for.
        """
        terms = list(dict.fromkeys(term for text in texts for term in text.terms))
        lists = self.lists.read(transaction, terms, self.held.groups, self.held.divisors)
        vectors = dict[int, Half]()
        named = tables.called(transaction, keys_in(request), MOST_CALLED)
        chosen = {number for number in named if reach.mask[number : number + 1].any()}
        for text in texts:
            count = 2 * top_k + RANKED
            chosen.update(self._nearest(transaction, text, lists, reach, count, vectors).tolist())
            chosen |= self.taught.near(text, reach.mask, count)
        ids = tables.ids_of(transaction, chosen)
        vectors |= self._vectors(transaction, [number for number in ids if number not in vectors])
        numbers = np.array(sorted(ids), np.int32)
        documents = postings.documents_at(lists, numbers, self.held.lengths)
        frequencies = {term: sum(part.own for part in parts) for term, parts in lists.items()}
        return StoredCandidates(
            ids,
            {id: vectors[number] for number, id in ids.items() if number in vectors},
            {ids[number]: document for number, document in documents.items()},
            LexicalStatistics(self.held.population, self.held.mean_length, frequencies),
        )

    def _nearest(
        self, transaction: Transaction, text: RankedText, lists: Mapping[str, Sequence[PostingList]],
        reach: Reach, count: int, vectors: dict[int, Half],
    ) -> Numbers:  # fmt: skip
        """The best rows by words and meaning together; the vectors that are read go with the others."""
        own = {term: lists[term] for term in text.terms}
        words = postings.scores(own, self.held.population, len(self.held.in_use))
        compared = min(max(MIN_COMPARED, COMPARED * count), max(MAX_COMPARED, count))
        parts = [part for each in own.values() for part in each]
        chosen = _best_by_words(parts, words, reach, compared)
        if text.vector is None or not self.held.codes.width:
            strengths = self.calibration.strengths(words[chosen], None, None, reach.count)
            return chosen[_first(strengths, count)]
        chosen = self._promising(chosen, words, np.asarray(text.vector, np.float32), reach, compared, count)
        vectors |= self._vectors(transaction, [n for n in chosen.tolist() if n not in vectors])
        strengths = self._strengths(chosen, words, text.vector, vectors, reach.count)
        return chosen[_first(strengths, count)]

    def _vectors(self, transaction: Transaction, numbers: Collection[int]) -> dict[int, Half]:
        return encodings.vectors_of(transaction, self.held.encoding.encoding, numbers)

    def _promising(
        self, by_words: Numbers, words: Floats, vector: Matrix, reach: Reach, compared: int, count: int
    ) -> Numbers:
        """What is best by its words and by its code together, and what is best by its words alone."""
        near = self.held.codes.near(vector - self.held.mean, reach.mask, reach.numbers)
        pool = np.union1d(by_words, near).astype(np.int32)
        similar = self.held.codes.similarities(pool, vector, self.held.mean)
        strengths = self.calibration.strengths(words[pool], similar, None, reach.count)
        surely = by_words[_first(words[by_words], count)]
        return np.union1d(pool[_first(strengths, compared)], surely).astype(np.int32)

    def _strengths(
        self, numbers: Numbers, words: Floats, vector: Matrix, vectors: Mapping[int, Half], population: int
    ) -> Floats:
        if not len(numbers):
            return np.zeros(0, np.float32)
        known = np.array([number in vectors for number in numbers.tolist()])
        none = np.zeros(len(vector), np.float16)
        matrix = np.stack([vectors.get(number, none) for number in numbers.tolist()]).astype(np.float32)
        return self.calibration.strengths(words[numbers], np.vecdot(matrix, vector), known, population)


def _first(strengths: Floats, count: int) -> Numbers:
    """The places of the highest."""
    if len(strengths) <= count:
        return np.arange(len(strengths), dtype=np.int32)
    return np.argpartition(-strengths, count - 1)[:count].astype(np.int32)


def _best_by_words(lists: Iterable[PostingList], totals: Floats, reach: Reach, count: int) -> Numbers:
    """The numbers of the highest scores, of those that may be looked at."""
    if reach.numbers is not None:
        return _highest(reach.numbers, totals, count)
    among = reach.mask
    # A few are compared first, those with the rarest terms: what is not above them need not be.
    pool = np.zeros(0, np.int32)
    for one in sorted(lists, key=lambda one: one.count):
        if one.numbers is not None and one.count:
            pool = np.union1d(pool, one.numbers[among[one.numbers]]).astype(np.int32)
            if len(pool) >= POOL * count:
                break
    limit = float(np.partition(totals[pool], -count)[-count]) if len(pool) >= count else 0.0
    rows = np.flatnonzero(totals >= limit if limit > 0 else totals > 0)
    return _highest(rows[among[rows]].astype(np.int32), totals, count)


def _highest(numbers: Numbers, totals: Floats, count: int) -> Numbers:
    reached = totals[numbers]
    if len(numbers) > count:
        chosen = np.argpartition(-reached, count - 1)[:count]
        numbers, reached = numbers[chosen], reached[chosen]
    return np.sort(numbers[reached > 0])
