"""Vectors by their signs: one bit for each number, 48 bytes for a vector of 384.

All codes of a million are compared with one in a few milliseconds, whatever may be looked at, so no index
over vectors has to be built or kept in step. What is near by its code is then compared by its vector.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from prowess.discovery.dense import Matrix

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]
Distances = npt.NDArray[np.uint16]

WORD = 8
"""Bytes that are compared at once."""
BY_BITS = 2000
"""How many are taken by the bits they share with the code of a request."""
BY_HALF = 16_000
"""How many of very many rows are taken by half of their bits, to be compared by all of them."""
SPARE = 16
"""One in so many is the room for rows to come, so that a new row copies none."""
BLOCK = 1 << 15
"""Rows that are compared while they are in the processor's cache."""
SAMPLED = 1 << 14
MARGIN = 1.5
"""How many more than wanted to expect below a limit that a sample says."""


def codes_of(vectors: Matrix, mean: Matrix | np.float32) -> Bytes:
    """A row of bytes for each vector: where it is above the mean of all."""
    bits = np.packbits(vectors > mean, axis=1)
    return np.pad(bits, ((0, 0), (0, -bits.shape[1] % WORD)))


class Codes:
    """The codes of numbered rows. Newer ones share its room: a row is written once, before anybody looks."""

    def __init__(self, width: int) -> None:
        """width: how many numbers a vector has."""
        self.width = width
        self._words = [np.zeros(0, np.uint64) for _ in range(-(-width // (8 * WORD)))]

    def with_rows(self, numbers: Numbers, codes: Bytes, size: int) -> "Codes":
        """The same, and these rows, with room for so many."""
        if not self.width:
            return self
        made = Codes(self.width)
        given = np.ascontiguousarray(codes).view(np.uint64)
        for place, words in enumerate(self._words):
            if len(words) < size:
                words = np.concatenate([words, np.zeros(size - len(words) + size // SPARE, np.uint64)])
            words[numbers] = given[:, place]
            made._words[place] = words
        return made

    def with_room(self, size: int) -> "Codes":
        """The same, with room for so many."""
        none = np.zeros(0, np.int32)
        short = self.width and len(self._words[0]) < size
        return self.with_rows(none, np.zeros((0, 8 * len(self._words)), np.uint8), size) if short else self

    def near(self, vector: Matrix, among: Mask, few: Numbers | None = None) -> Numbers:
        """The rows nearest to a vector, of which the mean was taken off, by the bits they share.

        among: those that may be looked at; few: the same by their numbers, where they are few.
        """
        code = np.ascontiguousarray(codes_of(vector[np.newaxis], np.float32(0))[0]).view(np.uint64)
        if few is not None:
            apart = _distances([words[few] for words in self._words], code)
            return few[_least(apart, BY_BITS)]
        half = (len(code) + 1) // 2
        by_half = _distances([words[: len(among)] for words in self._words[:half]], code)
        some = np.flatnonzero(by_half <= _limit(by_half, among, BY_HALF)).astype(np.int32)
        some = some[among[some]]
        if len(some) < BY_BITS:  # the sample said too little
            some = np.flatnonzero(among).astype(np.int32)
        apart = by_half[some]
        for words, asked in zip(self._words[half:], code[half:], strict=True):
            apart += np.bitwise_count(words[some] ^ asked)
        return some[_least(apart, BY_BITS)]

    def similarities(self, numbers: Numbers, vector: Matrix, mean: Matrix) -> Matrix:
        """About how similar rows are to a vector of length 1, as far as their codes tell.

        Of what a row has beyond the mean the code keeps the signs; how much it is, is taken to be usual.
        """
        codes = np.stack([words[numbers] for words in self._words], axis=1).view(np.uint8)
        bits = np.unpackbits(codes, axis=1, count=self.width).astype(np.float32)
        beyond = max(1 - float(mean @ mean), 0.0)
        usual = np.float32(np.sqrt(np.pi * beyond / (2 * self.width)))
        signed = np.float32(2) * np.vecdot(bits, vector) - vector.sum()
        return np.asarray(usual * signed + vector @ mean, np.float32)


def _distances(words: Sequence[npt.NDArray[np.uint64]], code: npt.NDArray[np.uint64]) -> Distances:
    """How many bits of each row differ from those of a code, or of its beginning."""
    size = len(words[0])
    apart = np.zeros(size, np.uint16)
    differing, counted = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint8)
    for low in range(0, size, BLOCK):
        high = min(low + BLOCK, size)
        room, bits, block = differing[: high - low], counted[: high - low], apart[low:high]
        for each, asked in zip(words, code, strict=False):
            np.bitwise_xor(each[low:high], asked, out=room)
            np.bitwise_count(room, out=bits)
            np.add(block, bits, out=block)
    return apart


def _limit(apart: Distances, among: Mask, wanted: int) -> int:
    """A distance below which there are enough of the rows that may be looked at, by a sample of them."""
    step = max(1, len(apart) // SAMPLED)
    sampled = apart[::step][among[::step]]
    count = int(MARGIN * wanted / step) + 1
    return int(np.partition(sampled, count)[count]) if count < len(sampled) else np.iinfo(np.uint16).max


def _least(distances: Distances, count: int) -> npt.NDArray[np.intp]:
    """The places of the smallest distances; all that tie with the last, up to half as many again."""
    counted = np.cumsum(np.bincount(distances))
    if not counted.size:
        return np.zeros(0, np.intp)
    limit = int(np.searchsorted(counted, count))
    return np.flatnonzero(distances <= limit)[: count + count // 2]
