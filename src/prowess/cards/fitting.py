"""Fit the weights of `relevance` from labels: for the package once, for a user when a person asks.

Logistic regression that starts from known weights and is held near them, so that few labels move
little. A relevant card counts more than an irrelevant one, because a card that is missing costs more
than one that is there for nothing; this also puts the border between the two at a score of 0.6.
"""

import math
from collections.abc import Sequence
from dataclasses import astuple
from typing import NamedTuple

import numpy as np

from prowess.cards.relevance import Features
from prowess.cards.weights import CardWeights

STEPS = 100
SMALLEST_STEP = 1e-9
BORDER = 0.6
WORTH_OF_A_RELEVANT_ONE = 8.5


class Labelled(NamedTuple):
    """What was read for a card and a message, and whether the card was relevant."""

    features: tuple[float, ...]
    relevant: bool


def fit(labels: Sequence[Labelled], start: CardWeights, held: float = 1.0) -> CardWeights:
    """Weights that agree with the labels, by Newton's method; `held` is how strongly `start` pulls."""
    problem = _Problem(labels, np.array(astuple(start)), held)
    values = problem.start
    for _ in range(STEPS):
        step = problem.step(values)
        # Far from the solution a whole step may lead further away.
        while problem.loss(values - step) > problem.loss(values) and np.abs(step).max() > SMALLEST_STEP:
            step = step / 2
        values = values - step
        if np.abs(step).max() < SMALLEST_STEP:
            break
    return CardWeights(*(round(float(value), 4) for value in values))


class _Problem:
    """How wrong weights are about the labels, and how far they are from where they started."""

    def __init__(self, labels: Sequence[Labelled], start: Features, held: float) -> None:
        self.start = start
        self._held = held
        self._features = np.array([[*label.features, 1.0] for label in labels])
        self._relevant = np.array([label.relevant for label in labels], float)
        self._worth = np.where(self._relevant == 1, WORTH_OF_A_RELEVANT_ONE, 1.0)

    def loss(self, values: Features) -> float:
        logits = self._features @ values
        wrong = self._worth * (np.logaddexp(0, logits) - self._relevant * logits)
        return float(wrong.sum() + self._held / 2 * ((values - self.start) ** 2).sum())

    def step(self, values: Features) -> Features:
        guess = 1 / (1 + np.exp(-np.clip(self._features @ values, -30, 30)))
        off = self._worth * (guess - self._relevant)
        slope = self._features.T @ off + self._held * (values - self.start)
        bend = (self._features.T * (self._worth * guess * (1 - guess))) @ self._features
        return np.linalg.solve(bend + self._held * np.eye(len(values)), slope)


class Reviewed(NamedTuple):
    """What a person said about a card in a turn, beside its score and whether it was shown."""

    score: float
    relevant: bool
    shown: bool = True


def best_threshold(reviews: Sequence[Reviewed]) -> float:
    """The lowest threshold that agrees with most reviews, of those that keep every card rightly shown.

    It has two decimals, which is what people write, and is compared as a selection compares it.
    """
    kept = min((one.score for one in reviews if one.relevant and one.shown), default=1.0)
    scores = {_hundredths(one.score) for one in reviews}
    borders = sorted(border / 100 for score in scores for border in (score, min(score + 1, 100)))
    usable = [border for border in borders if border <= kept]
    return max(usable, key=lambda border: (_agreeing(reviews, border), -border))


def _hundredths(score: float) -> int:
    """Rounded down: what stands at a threshold must reach it."""
    return math.floor(round(score * 100, 6))


def _agreeing(reviews: Sequence[Reviewed], border: float) -> int:
    return sum((one.score >= border) == one.relevant for one in reviews)


def agreement(labels: Sequence[tuple[float, bool]], border: float = BORDER) -> float:
    """The share of labels that a threshold agrees with."""
    return sum((score >= border) == relevant for score, relevant in labels) / len(labels)
