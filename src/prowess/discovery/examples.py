"""What requests that a capability was shown to answer are worth: a vector, and how much is taken off it.

Above: the index, which holds the vectors. Below: numpy. A capability is drawn towards its examples, so it
comes nearer to every request, also to those that are meant for others. What that would cost a capability
without examples is measured on the examples themselves, and taken off again: an example lifts only where
a request is nearer to it than requests usually are. Everything is in cosines.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Half = npt.NDArray[np.float16]

# Found on the train split of metatool with an encoder that never saw it; checked on the other sets.
OWN_WORDS = 3.0
"""What a capability says of itself counts as much as this many requests."""
EXPECTED_SHARE = 0.16
"""How much of the usual nearness of its requests is expected of a request before it counts for more."""
GROWTH = 0.87
"""How the price grows with the logarithm of the number of examples."""
USUAL_PRICE = 0.03
"""The price of one example where there is nothing to measure it by, and how many requests say so."""
USUAL_WEIGHT = 40
CAUTION = 1.25
LEAST_PRICE = 0.005
HIGHEST_PRICE = 0.25
MOST_WITNESSES = 512
HALVINGS = 12
DEPTH = 10


@dataclass(frozen=True, slots=True)
class Taught:
    """A capability drawn towards its examples, and what to take off its similarity to any request."""

    vector: Half
    handicap: float


class _Lesson(NamedTuple):
    """All that is taught, in rows: each capability, and each example with the row it belongs to."""

    own: Matrix
    sums: Matrix
    drawn: Matrix
    examples: Matrix
    rows: Ints
    counts: Floats


def taught(own: Mapping[str, Half], examples: Mapping[str, Half]) -> dict[str, Taught]:
    """Each capability that has examples, by id; `examples` holds a line for each request."""
    ids = sorted(id for id in examples if id in own and len(examples[id]))
    if not ids:
        return {}
    lesson = _lesson([own[id] for id in ids], [examples[id] for id in ids])
    expected = _expected(lesson)
    handicaps = expected + _price(lesson, expected) * _growth(lesson.counts)
    vectors = lesson.drawn.astype(np.float16)
    return {id: Taught(vectors[row], float(handicaps[row])) for row, id in enumerate(ids)}


def _lesson(own: Sequence[Half], shown: Sequence[Half]) -> _Lesson:
    words = np.stack(own).astype(np.float32)
    examples = np.concatenate(shown).astype(np.float32)
    counts = np.array([len(each) for each in shown], np.float32)
    rows = np.repeat(np.arange(len(shown)), [len(each) for each in shown])
    starts = np.searchsorted(rows, np.arange(len(shown)))
    sums = np.float32(OWN_WORDS) * words + np.add.reduceat(examples, starts)
    return _Lesson(words, sums, _unit(sums), examples, rows, counts)


def _expected(lesson: _Lesson) -> Floats:
    """What is expected of a request, more where requests usually come near; on average nothing.

    How near they usually come is what each example says about the capability without that example.
    """
    without = _unit(lesson.sums[lesson.rows] - lesson.examples)
    near = _means(np.vecdot(lesson.examples, without), lesson)
    before = _means(np.vecdot(lesson.examples, lesson.own[lesson.rows]), lesson)
    expected: Floats = np.float32(EXPECTED_SHARE) * (near - before.mean())
    return expected


def _price(lesson: _Lesson, expected: Floats) -> float:
    """The least price at which a capability without examples would come as far up as before.

    Each example is a witness: its own capability is looked for as though it had none, among the others
    with theirs.
    """
    witnesses = _witnesses(lesson.rows)
    rows, requests = lesson.rows[witnesses], lesson.examples[witnesses]
    target = np.vecdot(requests, lesson.own[rows])[:, None]
    before = _found(requests @ lesson.own.T, rows, target)
    rivals = requests @ lesson.drawn.T - expected
    low, high = 0.0, HIGHEST_PRICE
    for _ in range(HALVINGS):
        price = (low + high) / 2
        costs = _found(rivals - price * _growth(lesson.counts), rows, target) < before
        low, high = (price, high) if costs else (low, price)
    # Where one capability is taught nothing rivals it, and nothing was measured.
    known = len(witnesses) if len(lesson.own) > 1 else 0
    measured = CAUTION * high + LEAST_PRICE
    return (known * measured + USUAL_WEIGHT * USUAL_PRICE) / (known + USUAL_WEIGHT)


def _witnesses(rows: Ints) -> Ints:
    """Some of each capability's examples, the same every time: the first of all, then the second."""
    starts = np.searchsorted(rows, rows)
    turn = np.arange(len(rows)) - starts
    return np.lexsort((rows, turn))[:MOST_WITNESSES]


def _found(similar: Matrix, rows: Ints, target: Matrix) -> float:
    """How far up what is looked for comes, on average, as NDCG."""
    nearer = similar > target
    nearer[np.arange(len(rows)), rows] = False
    places = np.count_nonzero(nearer, axis=1)
    return float(np.where(places < DEPTH, 1 / np.log2(places + 2), 0.0).mean())


def _growth(counts: Floats) -> Floats:
    grown: Floats = 1 + np.float32(GROWTH) * np.log(counts)
    return grown


def _means(values: Floats, lesson: _Lesson) -> Floats:
    means: Floats = (np.bincount(lesson.rows, values, len(lesson.counts)) / lesson.counts).astype(np.float32)
    return means


def _unit(vectors: Matrix) -> Matrix:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), np.float32)
