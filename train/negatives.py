"""Find the tools most easily mistaken for the right one: near in the catalogue, and wrong."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]

# The very nearest are often right without being marked so; the far ones teach nothing.
NEAREST, FARTHEST = 3, 25


def mine(
    asked: Matrix, right: Sequence[Sequence[str]], tools: Sequence[str], known: Matrix
) -> list[list[str]]:
    """Return, for each request, the wrong tools between the two ranks, nearest first."""
    depth = min(FARTHEST + max(map(len, right), default=0), len(tools))
    similar = asked @ known.T
    near = np.argpartition(-similar, depth - 1, axis=1)[:, :depth]
    inside = np.argsort(-np.take_along_axis(similar, near, axis=1), axis=1, kind="stable")
    order = np.take_along_axis(near, inside, axis=1)
    return [
        [tool for tool in (tools[place] for place in row) if tool not in correct][NEAREST - 1 : FARTHEST]
        for row, correct in zip(order, map(set, right), strict=True)
    ]
