"""Requests that were written for other catalogues, with what the tools said that do them.

People seldom ask in the words of tools. A request that is near "log a new bug", which `createIssue` did in
another catalogue, is probably for whatever reads like that one here. Above: the ranker, which asks where
nothing fits for sure. Below: a file that `train/known_requests.py` makes, for the shipped encoder alone.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from prowess.discovery.dense import Matrix
from prowess.discovery.encoder import shipped_as

SHIPPED = Path(__file__).parent / "model" / "known_requests.npz"
NEAREST = 3
SHARPNESS = 20.0
"""How much more the nearest of them counts than the others."""

Held = Mapping[str, npt.NDArray[np.generic]]


class KnownRequests:
    def __init__(self, held: Held) -> None:
        self.encoder = str(held["encoder"])
        """The digest of the encoder whose vectors these are."""
        self._middle, self._axes = _floats(held["middle"]), _floats(held["axes"])
        self._asked = _decoded(held["asked"], _floats(held["asked_choices"]))
        self._squares = np.vecdot(self._asked, self._asked) / 2
        self._done_by = np.repeat(np.arange(len(held["counts"])), held["counts"].astype(np.intp))
        self._tool_middle, self._tool_axes = _floats(held["tool_middle"]), _floats(held["tool_axes"])
        self._said, self._said_choices = held["said"], _floats(held["said_choices"])

    @classmethod
    def open(cls, file: Path = SHIPPED) -> Self:
        with np.load(file, allow_pickle=False) as held:
            return cls({name: held[name] for name in held.files})

    def answer(self, request: Matrix) -> Matrix:
        """About the vector of what a tool says that does this.

        request: its vector, as the encoder gives it.
        """
        near = np.vecdot(self._asked, self._axes @ (request - self._middle)) - self._squares
        best = np.argpartition(-near, NEAREST)[:NEAREST]
        weights = np.exp(SHARPNESS * (near[best] - near[best].max()))
        said = _decoded(self._said[self._done_by[best]], self._said_choices)
        answer: Matrix = self._tool_middle + (weights / weights.sum()) @ said @ self._tool_axes
        return answer


@cache
def known_to(embedder: str) -> KnownRequests | None:
    """What was asked elsewhere, for the shipped encoder; nothing for others, and where the file is missing.

    embedder: the name that its vectors are kept under.
    """
    try:
        known = KnownRequests.open()
    except (OSError, ValueError, KeyError):
        return None
    return known if embedder == shipped_as(known.encoder) else None


def _floats(values: npt.NDArray[np.generic]) -> Matrix:
    return np.asarray(values, np.float32)


def _decoded(codes: npt.NDArray[np.generic], choices: Matrix) -> Matrix:
    """Rows from one of the choices for each of their parts."""
    parts = [book[column] for book, column in zip(choices, codes.T.astype(np.intp), strict=True)]
    return np.concatenate(parts, axis=1)
