"""Vectors by their signs: one bit for each number, 48 bytes for a vector of 384.

All codes of a million are compared with one in a few milliseconds, whatever may be looked at, so no index
over vectors has to be built or kept in step. What is near by its code is then compared by its vector.
"""

import numpy as np
import numpy.typing as npt

from prowess.discovery.dense import Matrix

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

WORD = 8
"""Bytes that are compared at once."""
BY_BITS = 2000
"""How many are taken by the bits they share with the code of a request."""


def codes_of(vectors: Matrix, mean: Matrix) -> Bytes:
    """A row of bytes for each vector: where it is above the mean of all."""
    bits = np.packbits(vectors > mean, axis=1)
    return np.pad(bits, ((0, 0), (0, -bits.shape[1] % WORD)))


class Codes:
    """The codes of numbered rows; room grows, and nothing is ever changed in place."""

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
            longer = np.zeros(size, np.uint64)
            longer[: len(words)] = words
            longer[numbers] = given[:, place]
            made._words[place] = longer
        return made

    def with_room(self, size: int) -> "Codes":
        """The same, with room for so many."""
        none = np.zeros(0, np.int32)
        short = self.width and len(self._words[0]) < size
        return self.with_rows(none, np.zeros((0, 8 * len(self._words)), np.uint8), size) if short else self

    def near(self, vector: Matrix, among: Numbers | Mask, count: int) -> Numbers:
        """The rows nearest to a vector, of which the mean was taken off, by their codes alone."""
        code = np.packbits(vector > 0)
        code = np.pad(code, (0, -len(code) % WORD)).view(np.uint64)
        is_mask = among.dtype == np.bool_
        apart = np.zeros(len(among), np.uint16)
        for words, asked in zip(self._words, code, strict=True):
            compared = words[: len(among)] if is_mask else words[among]
            apart += np.bitwise_count(compared ^ asked)
        if is_mask:
            apart[~among] = np.iinfo(np.uint16).max
        closest = _least(apart, BY_BITS)
        found = np.asarray(closest if is_mask else among[closest], np.int32)
        return found[self._by_sign(vector, found)[:count]]

    def _by_sign(self, vector: Matrix, numbers: Numbers) -> npt.NDArray[np.intp]:
        """Their order by what the request's own numbers say where a code has a bit."""
        codes = np.stack([words[numbers] for words in self._words], axis=1).view(np.uint8)
        bits = np.unpackbits(codes, axis=1, count=self.width)
        return np.argsort(-np.vecdot(bits.astype(np.float32), vector), kind="stable")


def _least(distances: npt.NDArray[np.uint16], count: int) -> npt.NDArray[np.intp]:
    """The places of the smallest distances; all that tie with the last, up to half as many again."""
    most = np.iinfo(np.uint16).max
    counted = np.cumsum(np.bincount(distances[distances < most]))
    if not counted.size:
        return np.zeros(0, np.intp)
    limit = int(np.searchsorted(counted, count))
    return np.flatnonzero((distances <= limit) & (distances < most))[: count + count // 2]
