"""What is usual of the head's scores, and what it finds plainly harmless.

Above stands `train.guard`, which gives it scores by heads that have not seen the texts. Channels differ in
what is usual, and some have few texts; so a score is measured by the middle and the spread of its channel,
and the limits are cuts over all channels together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from prowess.guard.classifier import CHANNELS
from train.guard_texts import Example

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

ALONE = 0.003
"""The share of ordinary honest texts that a head which has not seen them may reject by itself."""
DOUBTED = 0.2
"""Of the hard honest texts, the share it does not speak up for."""
OVERLOOKED = 0.01
"""The share of labelled attacks that the head may find plainly harmless, so that the reader is not asked."""


@dataclass(frozen=True, slots=True)
class Usual:
    """What is usual of honest texts, by channel."""

    middle: Numbers
    spread: Numbers

    def odd(self, scores: Numbers, channels: npt.NDArray[np.int64]) -> Numbers:
        return np.asarray((scores - self.middle[channels]) / self.spread[channels])


def reached(scores: Numbers, share: float) -> float:
    """The score that only such a share of them reaches."""
    return float(np.quantile(scores, 1 - share))


def channels_of(texts: Sequence[Example]) -> npt.NDArray[np.int64]:
    return np.array([CHANNELS.index(one.channel) for one in texts])


def honest_of(texts: Sequence[Example], hard: bool) -> Flags:
    return np.array([not one.attack and one.labelled and one.hard == hard for one in texts])


def usual_of(texts: Sequence[Example], scores: Numbers) -> Usual:
    channels = channels_of(texts)
    honest = np.array([not one.attack and one.labelled for one in texts])
    found = [np.quantile(scores[honest & (channels == at)], (0.5, 0.9)) for at in range(len(CHANNELS))]
    middle, spread = np.array([(low, high - low) for low, high in found]).T
    return Usual(middle, spread)


def alone(texts: Sequence[Example], odd: Numbers) -> tuple[float, float]:
    """For the head without the reader: where it rejects, and below what it speaks up for a text."""
    high = reached(odd[honest_of(texts, hard=False)], ALONE)
    return high, min(high, reached(odd[honest_of(texts, hard=True)], DOUBTED))


def harmless_below(texts: Sequence[Example], odd: Numbers) -> float:
    attacks = np.array([one.attack and one.labelled and not one.doubt for one in texts])
    return float(np.quantile(odd[attacks], OVERLOOKED))
