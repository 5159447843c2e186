"""How near in meaning a request is to each capability: exact cosines over all rows.

Measured with numpy on one thread, float32 is the fastest exact choice: float16 has no fast product,
and an approximate index would have to be kept in step for little gain below a million rows.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
Half = npt.NDArray[np.float16]

# What a capability says of itself counts as much as this many requests that it was shown to answer.
OWN_WORDS = 4.0


class Dense:
    """Vectors of length one in numbered rows; a row without a vector is known as such."""

    def __init__(self, dimensions: int = 0) -> None:
        self._matrix = np.zeros((0, dimensions), np.float32)
        self._known = np.zeros(0, np.bool_)
        self._size = 0

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which rows have a vector."""
        return self._known[: self._size]

    @property
    def matrix(self) -> Matrix:
        return self._matrix[: self._size]

    def grow(self, size: int) -> None:
        """Make room for rows up to `size`, without vectors so far."""
        if size > len(self._known):
            # Doubling keeps the cost of adding one row small on average.
            room = max(size, 2 * len(self._known))
            matrix = np.zeros((room, self._matrix.shape[1]), np.float32)
            matrix[: self._size] = self.matrix
            known = np.zeros(room, np.bool_)
            known[: self._size] = self.known
            self._matrix, self._known = matrix, known
        self._size = max(self._size, size)

    def put(self, rows: Sequence[int], vectors: Matrix) -> None:
        """Set the vectors of these rows; a change of dimensions forgets all the others."""
        if not len(rows):
            return
        if vectors.shape[1] != self._matrix.shape[1]:
            self._matrix = np.zeros((len(self._known), vectors.shape[1]), np.float32)
            self._known[:] = False
        self._matrix[rows] = vectors
        self._known[rows] = True

    def forget(self, row: int) -> None:
        self._known[row] = False

    def similarities(self, vectors: Matrix) -> Matrix:
        """One line of cosines for each vector, one column for each row."""
        if vectors.shape[1] != self._matrix.shape[1]:
            return np.zeros((len(vectors), self._size), np.float32)
        # One row at a time stays on one thread; a matrix product would wake them all for a millisecond's
        # work, and wait for them longer than it takes when the machine is busy.
        return np.stack([np.vecdot(self.matrix, vector) for vector in vectors])


def blended(own: Half, shown: Half) -> Matrix:
    """One vector from a capability's own and those of its demonstrated requests.

    Searching costs the same with examples and without; what has none keeps its vector.
    """
    total = np.float32(OWN_WORDS) * own.astype(np.float32) + shown.astype(np.float32).sum(axis=0)
    length = float(np.linalg.norm(total))
    return total / np.float32(length) if length > 0 else own.astype(np.float32)
