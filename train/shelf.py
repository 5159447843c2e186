"""Lay out what a batch compares: requests of one catalogue against right, near and random tools."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np
import numpy.typing as npt

from train.bench import Bench
from train.negatives import Matrix, mine
from train.pairs import Pair
from train.text import thinned_text, tool_text

# Tools this near to each other answer the same requests, whichever of them is marked as right.
ALIKE = 0.8
VARIANTS = 3


@dataclass(frozen=True, slots=True)
class Guide:
    """What a model trained before thinks: a tool that it puts above the right one may be right too."""

    requests: Mapping[str, int]
    tools: Mapping[str, int]
    asked: Matrix
    known: Matrix

    def above(self, pairs: Sequence[Pair], tools: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Mark, for each request, the tools it finds nearer than the right one."""
        asked = self.asked[[self.requests[pair.request] for pair in pairs]]
        near = asked @ self.known[[self.tools[tool] for tool in tools]].T
        right = self.known[[self.tools[pair.tool] for pair in pairs]]
        return np.asarray(near > (asked * right).sum(axis=1)[:, None])


@dataclass(frozen=True, slots=True)
class Shelf:
    """One catalogue as the training sees it: its pairs, and the texts of its tools, whole one first."""

    pairs: Sequence[Pair]
    texts: Mapping[str, Sequence[str]]
    # How often the training turns to it, for each root of its pairs.
    weight: float = 1.0
    misses: Mapping[str, Sequence[str]] = field(default_factory=dict)
    alike: Mapping[str, Sequence[str]] = field(default_factory=dict)
    guide: Guide | None = None


@dataclass(frozen=True, slots=True)
class Columns:
    """What each request of a batch is compared with; the first are the batch's own tools."""

    tools: Sequence[str]
    texts: Sequence[str]


def shelve(bench: Bench, pairs: Sequence[Pair], random: Random) -> Shelf:
    texts = {
        tool.id: [tool_text(tool), *(thinned_text(tool, random) for _ in range(VARIANTS))]
        for tool in bench.tools
    }
    return Shelf(pairs, texts)


def compare(shelf: Shelf, requests: Sequence[str], asked: Matrix, known: Matrix) -> Shelf:
    """Add what the base model's vectors tell: which tools are near misses, and which are alike."""
    right = {pair.request: pair.right for pair in shelf.pairs}
    tools = list(shelf.texts)
    found = mine(asked, [right[request] for request in requests], tools, known)
    misses = dict(zip(requests, found, strict=True))
    return replace(shelf, misses=misses, alike=near_twins(tools, known))


def near_twins(tools: Sequence[str], known: Matrix) -> dict[str, list[str]]:
    near = known @ known.T > ALIKE
    return {
        tool: [tools[place] for place in np.flatnonzero(row).tolist()]
        for tool, row in zip(tools, near, strict=True)
    }


def batches(
    shelves: Sequence[Shelf], size: int, steps: int, random: Random
) -> Iterator[tuple[Shelf, list[Pair]]]:
    """Draw batches of one catalogue each, a catalogue's pairs in a new order each time round."""
    # The square root keeps the largest catalogue from drowning the others.
    weights = [shelf.weight * len(shelf.pairs) ** 0.5 for shelf in shelves]
    queues = [list[Pair]() for _ in shelves]
    for _ in range(steps):
        place = random.choices(range(len(shelves)), weights)[0]
        if len(queues[place]) < size:
            queues[place] += random.sample(shelves[place].pairs, len(shelves[place].pairs))
        taken, queues[place] = queues[place][:size], queues[place][size:]
        yield shelves[place], taken


def lay_out(shelf: Shelf, pairs: Sequence[Pair], near: int, strangers: int, random: Random) -> Columns:
    """Put beside the batch's own tools some near misses of each request and some tools at random."""
    wrong = set(random.sample(list(shelf.texts), min(strangers, len(shelf.texts))))
    for pair in pairs:
        misses = shelf.misses.get(pair.request, [])
        wrong.update(random.sample(misses, min(near, len(misses))))
    extra = sorted(wrong)
    texts = [random.choice(shelf.texts[tool]) for tool in extra]
    return Columns([*(pair.tool for pair in pairs), *extra], [*(pair.text for pair in pairs), *texts])


def also_right(shelf: Shelf, pairs: Sequence[Pair], columns: Columns) -> npt.NDArray[np.bool_]:
    """Mark, for each request, the columns that must not count as mistakes."""
    places: dict[str, list[int]] = {}
    for place, tool in enumerate(columns.tools):
        places.setdefault(tool, []).append(place)
    mask = np.zeros((len(pairs), len(columns.tools)), np.bool_)
    if shelf.guide is not None:
        mask = shelf.guide.above(pairs, columns.tools)
    for row, pair in enumerate(pairs):
        fine = {*pair.right, *shelf.alike.get(pair.tool, ())}
        mask[row, [place for tool in fine for place in places.get(tool, ())]] = True
        mask[row, row] = False
    return mask
