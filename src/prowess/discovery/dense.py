"""How near in meaning a request is to each capability: exact cosines over all rows.

Measured with numpy on one thread, float32 is the fastest exact choice: float16 has no fast product,
and an approximate index would have to be kept in step for little gain below a million rows.
"""

from collections.abc import Sequence
from copy import copy

import numpy as np
import numpy.typing as npt

from prowess.errors import EncoderUnavailable

Matrix = npt.NDArray[np.float32]


class Dense:
    """Vectors of length one in numbered rows; a row without a vector is known as such.

    Copies share one matrix: rows that nobody reads yet are filled in place by the copy that was made last,
    and whoever else writes, or writes over a row that others read, makes a matrix of its own first.
    """

    def __init__(self, matrix: Matrix | None = None, known: npt.NDArray[np.bool_] | None = None) -> None:
        """The matrix, where there is one, is taken over and not copied."""
        self._matrix = np.zeros((0, 0), np.float32) if matrix is None else matrix
        self._known = np.zeros(0, np.bool_) if known is None else known.copy()
        self._size = len(self._known)
        self._handicaps = np.zeros(self._size, np.float32)
        self._complete: bool | None = None
        self._writer: list[Dense] = [self]

    def copied(self) -> "Dense":
        """The same rows, to be changed without changing these."""
        other = copy(self)
        other._known, other._handicaps = self._known.copy(), self._handicaps.copy()
        self._writer[0] = other
        return other

    @property
    def complete(self) -> bool:
        """Whether every row in use has a vector."""
        if self._complete is None:
            self._complete = bool(self.known.all())
        return self._complete

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which rows have a vector, or are out of use."""
        return self._known[: self._size]

    @property
    def matrix(self) -> Matrix:
        return self._matrix[: self._size]

    @property
    def width(self) -> int:
        """How many numbers a vector has; 0 before the first."""
        return int(self._matrix.shape[1])

    def grow(self, size: int) -> None:
        """Make room for rows up to `size`, without vectors so far."""
        self._complete = None
        if size > len(self._known):
            self._writer = [self]
            # Some room to spare keeps the cost of adding one row small on average.
            room = size + size // 8
            matrix = np.zeros((room, self._matrix.shape[1]), np.float32)
            matrix[: self._size] = self.matrix
            known = np.zeros(room, np.bool_)
            known[: self._size] = self.known
            handicaps = np.zeros(room, np.float32)
            handicaps[: self._size] = self._handicaps[: self._size]
            self._matrix, self._known, self._handicaps = matrix, known, handicaps
        self._size = max(self._size, size)

    def put(self, rows: Sequence[int], vectors: Matrix) -> None:
        """Set the vectors of these rows; a change of dimensions forgets all the others."""
        if not len(rows):
            return
        self._complete = None
        if vectors.shape[1] != self._matrix.shape[1]:
            self._matrix = np.zeros((len(self._known), vectors.shape[1]), np.float32)
            self._known[:] = False
            self._writer = [self]
        elif self._writer[0] is not self or self._known[rows].any():
            self._matrix = self._matrix.copy()
            self._writer = [self]
        self._matrix[rows] = vectors
        self._known[rows] = True

    def drop(self, row: int) -> None:
        """A row that is out of use waits for no vector, and keeps nobody from taking all as known."""
        self._known[row] = True
        self._complete = None

    def handicap(self, row: int, amount: float) -> None:
        """Take this off the similarity of a row to anything."""
        self._handicaps[row] = amount

    def similarities(self, vectors: Matrix) -> list[Matrix]:
        """For each vector the cosine of every row, less its handicap."""
        if vectors.shape[1] != self._matrix.shape[1]:
            return [np.zeros(self._size, np.float32) for _ in vectors]
        # One row at a time stays on one thread; a matrix product would wake them all for a millisecond's
        # work, and wait for them longer than it takes when the machine is busy.
        handicaps = self._handicaps[: self._size]
        return [np.vecdot(self.matrix, vector) - handicaps for vector in vectors]


def unit_rows(answer: npt.ArrayLike, count: int) -> Matrix:
    """What an embedder answered to so many texts, as rows of length one."""
    remedy = "it must answer with one row of finite numbers for each text, all of one length"
    try:
        vectors = np.asarray(answer, np.float64)
    except (ValueError, TypeError) as failure:
        raise EncoderUnavailable(f"its answer is no table of numbers ({failure})", remedy) from failure
    if vectors.ndim != 2 or len(vectors) != count or not vectors.shape[1]:
        raise EncoderUnavailable(f"it answered {count} texts with shape {vectors.shape}", remedy)
    with np.errstate(over="ignore"):
        squares = np.vecdot(vectors, vectors)
    if not np.isfinite(squares.sum()):
        raise EncoderUnavailable("it answered with numbers that are not finite", remedy)
    return np.asarray(vectors / np.sqrt(np.maximum(squares, 1e-24))[:, None], np.float32)


def joined(vectors: Matrix, lengths: Sequence[int]) -> Matrix:
    """About the vector of a text from those of its parts, for encoders that average over what they read."""
    total = np.average(vectors, axis=0, weights=np.array(lengths, np.float32))
    length = np.linalg.norm(total)
    return np.asarray(total / length if length > 0 else total, np.float32)
