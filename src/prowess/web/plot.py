"""Where things lie in a picture of groups: each group a disc of points, and no disc on another. Pure."""

from collections.abc import Mapping, Sequence
from math import cos, pi, sin, sqrt
from typing import NamedTuple

SPACING = 44.0
"""How far points of one group lie from each other."""
MARGIN = 60.0
WIDER = 1.6
"""Pictures are wider than they are high, as screens are."""
GOLDEN = pi * (3 - sqrt(5))
"""Turning by this angle from point to point fills a disc as a sunflower does."""


class Disc(NamedTuple):
    x: float
    y: float
    radius: float


class Plotted(NamedTuple):
    places: dict[str, tuple[float, float]]
    discs: dict[str, Disc]


def plot(groups: Mapping[str, Sequence[str]]) -> Plotted:
    """A place for every member, the largest group in the middle and the others around it."""
    places: dict[str, tuple[float, float]] = {}
    discs: dict[str, Disc] = {}
    for name, members in sorted(groups.items(), key=lambda one: (-len(one[1]), one[0])):
        disc = _free(SPACING * sqrt(len(members)), list(discs.values()))
        discs[name] = disc
        for number, member in enumerate(members):
            far, angle = SPACING * sqrt(number + 0.5) * 0.95, number * GOLDEN
            places[member] = (round(disc.x + far * cos(angle), 1), round(disc.y + far * sin(angle), 1))
    return Plotted(places, discs)


def _free(radius: float, taken: Sequence[Disc]) -> Disc:
    """The first place on a spiral where a disc lies on no other."""
    turn = 0.0
    while True:
        x, y = WIDER * 8 * turn * cos(turn), 8 * turn * sin(turn)
        if all((x - d.x) ** 2 + (y - d.y) ** 2 >= (radius + d.radius + MARGIN) ** 2 for d in taken):
            return Disc(round(x, 1), round(y, 1), round(radius, 1))
        # Steps of equal length along the spiral, not of equal angle.
        turn += 16 / (16 + 8 * turn)
