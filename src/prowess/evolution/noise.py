"""How far apart two evaluations of an agent lie when nothing happened.

A step within that distance is noise and no reason for a transition; where it is the beginning of
a decline, `drift` finds it a few evaluations later.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from statistics import median

WINDOW = 21
FEWEST = 9
MEAN_OF_HALF_NORMAL = 0.7979
NEGLIGIBLE = 1e-6


def scatter(recent: Sequence[float]) -> float:
    """The standard deviation of steps between recent evaluations; 0 while there are too few."""
    if len(recent) < FEWEST:
        return 0.0
    steps = sorted(abs(after - before) for before, after in pairwise(recent))
    # The largest step may be the very change that somebody is looking for.
    usual = steps[:-1]
    # Few steps say little about how large they can be, so they count for more.
    return sum(usual) / len(usual) / MEAN_OF_HALF_NORMAL * (1 + 4 / len(usual))


def spread(recent: Sequence[float]) -> float:
    """The standard deviation of recent evaluations around their level, or around a steady rise or decline."""
    if len(recent) < FEWEST:
        return 0.0
    steps = [after - before for before, after in pairwise(recent)]
    usual = median(steps)
    away = sorted(abs(step - usual) for step in steps)[:-1]
    found = sum(away) / len(away) / MEAN_OF_HALF_NORMAL * (1 + 4 / len(away)) / sqrt(2)
    return found if found > NEGLIGIBLE else 0.0
