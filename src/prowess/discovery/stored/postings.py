"""Where each term stands, read from the store when somebody asks for it, and held while there is room.

A list names the numbers that have a term and, in one byte each, the weight it has there. Lists are written
once, a segment at a time, and never changed; those of all full segments are held as one. What is held has in
another byte how much of a full match the weight is, which is quicker to add up and nearly exact.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
import numpy.typing as npt

from prowess.discovery.lexical import LEAST_OWN, IndexedTerms, rarity_of
from prowess.discovery.stored.codes import Numbers
from prowess.store.database import Transaction

Weights = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]

UNIT = 10
"""Weights are kept in tenths: what fields weigh are tenths, and beyond 25 a repetition says nothing more."""
MAX_WEIGHT = 255
MOST_HELD = 64_000_000
"""Bytes of lists that a process holds."""
ENTRY = 200
"""Bytes that an entry costs by itself."""
MIN_DENSE_SHARE = 1 / 6
"""From this share on that has a term, two bytes for every number are about as small, and quicker."""
FULL = 255
BLOCK = 1 << 15


@dataclass(frozen=True, slots=True)
class PostingList:
    """The numbers that have a term, in their order, or all numbers; and the weight of the term in each."""

    numbers: Numbers | None
    weights: Weights
    impacts: Weights
    """How much of a full match that is, of FULL."""
    count: int
    own: int
    """How many have it by more than examples."""

    @classmethod
    def of(cls, numbers: Numbers, weights: Weights, divisors: Floats) -> "PostingList":
        """These numbers, in whichever order; a weight is measured against the divisor of its row."""
        own = int(np.count_nonzero(weights >= UNIT * LEAST_OWN))
        known = numbers < len(divisors)  # what came since is for the next state of the index
        if not known.all():
            numbers, weights = numbers[known], weights[known]
        if np.any(numbers[1:] < numbers[:-1]):
            order = np.argsort(numbers)
            numbers, weights = numbers[order], weights[order]
        worth = FULL * weights / (weights + divisors[numbers])
        impacts = np.maximum(np.rint(worth), 1).astype(np.uint8)
        if not len(numbers) or len(numbers) <= MIN_DENSE_SHARE * (int(numbers[-1]) + 1):
            return cls(numbers, weights, impacts, len(numbers), own)
        dense = np.zeros((2, int(numbers[-1]) + 1), np.uint8)
        dense[:, numbers] = weights, impacts
        return cls(None, dense[0], dense[1], len(numbers), own)

    @property
    def rows(self) -> Numbers:
        """The numbers that have it."""
        return np.flatnonzero(self.weights).astype(np.int32) if self.numbers is None else self.numbers

    @property
    def bytes(self) -> int:
        return 2 * self.weights.nbytes + (0 if self.numbers is None else self.numbers.nbytes)

    def add(self, totals: Floats, rarity: float) -> None:
        """What the term is worth in each of its rows."""
        unit = np.float32(rarity / FULL)
        if self.numbers is not None:
            totals[self.numbers] += self.impacts * unit
            return
        room = np.empty(BLOCK, np.float32)
        for low in range(0, len(self.impacts), BLOCK):
            block = self.impacts[low : low + BLOCK]
            worth = room[: len(block)]
            np.multiply(block, unit, out=worth)
            totals[low : low + len(block)] += worth

    def at(self, numbers: Numbers) -> Weights:
        """Its weight in each of these rows, 0 where it is not."""
        if self.numbers is None:
            known = numbers < len(self.weights)
            return np.where(known, self.weights[np.where(known, numbers, 0)], 0).astype(np.uint8)
        if not len(self.numbers):
            return np.zeros(len(numbers), np.uint8)
        places = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return np.where(self.numbers[places] == numbers, self.weights[places], 0).astype(np.uint8)


Group = tuple[int, ...]
"""Segments whose lists are held as one."""


class PostingLists:
    def __init__(self) -> None:
        self._held: OrderedDict[tuple[str, Group], PostingList] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def read(
        self, transaction: Transaction, terms: Collection[str], groups: Sequence[Group], divisors: Floats
    ) -> Mapping[str, list[PostingList]]:
        """The lists of these terms in these groups of segments; what is at hand is not read again.

        divisors: what the weight of a term is measured against in each row.
        """
        with self._lock:
            wanted = [(term, group) for term in terms for group in groups]
            found = {key: self._held[key] for key in wanted if key in self._held}
            for key in found:
                self._held.move_to_end(key)
        missing = dict[Group, set[str]]()
        for term, group in wanted:
            if (term, group) not in found:
                missing.setdefault(group, set()).add(term)
        # A change brings one small group, that all terms lack: those are read together.
        together = {frozenset(of): [g for g in missing if missing[g] == of] for of in missing.values()}
        for of, lacking in together.items():
            read = _read(transaction, of, lacking, divisors)
            found |= read
            self._hold(read)
        return {term: [found[term, group] for group in groups] for term in terms}

    def _hold(self, lists: Mapping[tuple[str, Group], PostingList]) -> None:
        with self._lock:
            for key, one in lists.items():
                if key not in self._held:
                    self._held[key] = one
                    self._bytes += one.bytes + len(key[0]) + ENTRY
            while self._bytes > MOST_HELD:
                (term, _), one = self._held.popitem(last=False)
                self._bytes -= one.bytes + len(term) + ENTRY


def _read(
    transaction: Transaction, terms: Collection[str], groups: Sequence[Group], divisors: Floats
) -> dict[tuple[str, Group], PostingList]:
    segments = [segment for group in groups for segment in group]
    rows = transaction.among(
        "SELECT term, segment, numbers, weights FROM posting_list"
        " WHERE workspace = :workspace AND term IN (:listed) AND segment >= :first AND segment <= :last",
        terms, first=min(segments), last=max(segments),
    )  # fmt: skip
    group_of = {segment: group for group in groups for segment in group}
    parts = dict[tuple[str, Group], list[tuple[bytes, bytes]]]()
    for term, segment, numbers, weights in rows:
        if segment in group_of:
            parts.setdefault((term, group_of[segment]), []).append((numbers, weights))
    found = {key: _joined(some, divisors) for key, some in parts.items()}
    return {(term, group): found.get((term, group), NONE) for term in terms for group in groups}


def _joined(parts: Sequence[tuple[bytes, bytes]], divisors: Floats) -> PostingList:
    numbers = np.frombuffer(b"".join(one for one, _ in parts), np.int32)
    return PostingList.of(numbers, np.frombuffer(b"".join(one for _, one in parts), np.uint8), divisors)


NONE = PostingList(np.zeros(0, np.int32), np.zeros(0, np.uint8), np.zeros(0, np.uint8), 0, 0)


def scores(lists: Mapping[str, Sequence[PostingList]], population: int, size: int) -> Floats:
    """The BM25 score of every number, as nearly as impacts tell."""
    totals = np.zeros(size, np.float32)
    for parts in lists.values():
        rarity = rarity_of(sum(part.own for part in parts), population)
        for part in parts:
            if part.count:
                part.add(totals, rarity)
    return totals


def documents_at(
    lists: Mapping[str, Sequence[PostingList]], numbers: Numbers, lengths: Floats
) -> dict[int, IndexedTerms]:
    """What these rows are made of, as far as some terms go: enough to score them by these, exactly."""
    terms = list(lists)
    table = np.zeros((len(terms), len(numbers)), np.uint8)
    for weights, parts in zip(table, lists.values(), strict=True):
        for part in parts:
            weights += part.at(numbers)
    places, at = np.nonzero(table.T)
    found = {number: (list[str](), list[float]()) for number in numbers.tolist()}
    for number, place, weight in zip(numbers[places].tolist(), at.tolist(), table.T[places, at].tolist(),
                                     strict=True):  # fmt: skip
        own, weighed = found[number]
        own.append(terms[place])
        weighed.append(weight / UNIT)
    return {
        number: IndexedTerms(tuple(own), tuple(weighed), float(lengths[number]))
        for number, (own, weighed) in found.items()
    }


def lists_of(documents: Mapping[int, IndexedTerms]) -> Iterable[tuple[str, Numbers, Weights]]:
    """The lists of some documents by their numbers, term after term."""
    gathered: dict[str, tuple[list[int], list[float]]] = {}
    for number, document in documents.items():
        for term, weight in zip(document.terms, document.weights, strict=True):
            numbers, weights = gathered.setdefault(term, ([], []))
            numbers.append(number)
            weights.append(weight)
    for term, (numbers, weights) in gathered.items():
        kept = np.clip(np.rint(UNIT * np.array(weights)), 1, MAX_WEIGHT)
        yield term, np.array(numbers, np.int32), kept.astype(np.uint8)
