"""Where each term stands, read from the store when somebody asks for it, and held while there is room.

A list names the numbers that have a term and, in one byte each, how much of a full match it is there. Lists
are written once, a segment at a time, and never changed.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
import numpy.typing as npt

from prowess.discovery.lexical import LENGTH_SHARE, SATURATION, IndexedTerms, rarity_of
from prowess.discovery.stored.codes import Mask, Numbers
from prowess.store.database import Transaction

FULL = 255
MOST_HELD = 64_000_000
"""Bytes of lists that a process holds."""


@dataclass(frozen=True, slots=True)
class PostingList:
    """The numbers that have a term, and the impact of the term in each."""

    numbers: Numbers
    impacts: npt.NDArray[np.uint8]

    @property
    def bytes(self) -> int:
        return self.numbers.nbytes + self.impacts.nbytes


NONE = PostingList(np.zeros(0, np.int32), np.zeros(0, np.uint8))


class PostingLists:
    def __init__(self) -> None:
        self._held: OrderedDict[tuple[str, int], PostingList] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def read(
        self, transaction: Transaction, terms: Collection[str], segments: Sequence[int]
    ) -> Mapping[str, list[PostingList]]:
        """The lists of these terms in these segments; what is at hand is not read again."""
        with self._lock:
            wanted = [(term, segment) for term in terms for segment in segments]
            found = {key: self._held[key] for key in wanted if key in self._held}
            for key in found:
                self._held.move_to_end(key)
        missing = [key for key in wanted if key not in found]
        if missing:
            first = min(segment for _, segment in missing)
            rows = transaction.among(
                "SELECT term, segment, numbers, impacts FROM posting_list"
                " WHERE workspace = :workspace AND term IN (:listed) AND segment >= :first",
                {term for term, _ in missing}, first=first,
            )  # fmt: skip
            read = {
                (term, segment): PostingList(
                    np.frombuffer(numbers, np.int32), np.frombuffer(impacts, np.uint8)
                )
                for term, segment, numbers, impacts in rows
            }
            found |= {key: read.get(key, NONE) for key in missing}
            self._hold({key: found[key] for key in missing})
        return {term: [found[term, segment] for segment in segments] for term in terms}

    def _hold(self, lists: Mapping[tuple[str, int], PostingList]) -> None:
        with self._lock:
            for key, one in lists.items():
                if key not in self._held:
                    self._held[key] = one
                    self._bytes += one.bytes + len(key[0]) + 200  # what an entry costs by itself
            while self._bytes > MOST_HELD:
                (term, _), one = self._held.popitem(last=False)
                self._bytes -= one.bytes + len(term) + 200


def scores(
    lists: Mapping[str, Sequence[PostingList]], population: int, size: int
) -> tuple[Numbers, npt.NDArray[np.float64]]:
    """The numbers that have any of the terms, some several times, and the BM25 score of every number."""
    numbers, worth = [], []
    for parts in lists.values():
        weight = rarity_of(sum(len(part.numbers) for part in parts), population) / FULL
        for part in parts:
            numbers.append(part.numbers)
            worth.append(part.impacts * weight)
    if not numbers:
        return NONE.numbers, np.zeros(size)
    together = np.concatenate(numbers)
    return together, np.asarray(np.bincount(together, np.concatenate(worth), size), np.float64)


def best(numbers: Numbers, totals: npt.NDArray[np.float64], allowed: Mask | None, count: int) -> Numbers:
    """The numbers of the highest scores, of those that are allowed."""
    if allowed is not None:
        numbers = numbers[allowed[numbers]]
    if len(numbers) > count:
        reached = totals[numbers]
        # A number stands here once for each of its terms, so that more than are asked for may be left.
        numbers = numbers[reached >= np.partition(reached, -count)[-count]]
    return np.unique(numbers)


def lists_of(documents: Mapping[int, IndexedTerms], mean_length: float) -> Iterable[tuple[str, PostingList]]:
    """The lists of some documents by their numbers, term after term."""
    gathered: dict[str, tuple[list[int], list[float]]] = {}
    for number, document in documents.items():
        divisor = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * document.length / max(mean_length, 1e-9))
        for term, weight in zip(document.terms, document.weights, strict=True):
            numbers, impacts = gathered.setdefault(term, ([], []))
            numbers.append(number)
            impacts.append(weight / (weight + divisor))
    for term, (numbers, impacts) in gathered.items():
        yield (
            term,
            PostingList(np.array(numbers, np.int32), np.rint(np.array(impacts) * FULL).astype(np.uint8)),
        )
