"""From which score on the guard's classifier rejects, and below which it overrules the rules.

Above stands `train.guard`, which gives it scores by heads that have not seen the texts. Channels differ in
what is usual, and some have few texts; so a score is measured by the middle and the spread of its channel,
and the limits are cuts over all channels together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from prowess.context.classifier import CHANNELS, WORDS_COUNT
from prowess.context.quoting import without_frontmatter
from prowess.context.reader import Reader
from prowess.context.sanitise import DOCUMENTS, judge
from train.guard_fit import Head, windows_of
from train.guard_texts import CORPORA, FRESH, Example, kept_back

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

ALONE = 0.01
"""The share of labelled honest texts that a classifier which has not seen them may reject by itself."""
BULK = 0.01
"""The same for honest texts in quantity and for those written to be hard."""
OVERRULED = 0.05
"""Of the honest texts the rules would reject, the share it does not speak up for."""
OVERLOOKED = 0.015
"""The share of labelled attacks that the head may find plainly harmless, so that the reader is not asked."""


@dataclass(frozen=True, slots=True)
class Kinds:
    """Which texts are what: all honest ones, those of a corpus, those the rules would reject."""

    honest: Flags
    labelled: Flags
    ruled: Flags

    def cuts(self, odd: Numbers, among: Flags | None = None) -> tuple[float, float]:
        """The two limits, by these texts or by some of them."""
        chosen = np.ones(len(odd), bool) if among is None else among
        bulk = self.honest & ~self.labelled & ~self.ruled
        corpus = reached(odd[self.honest & self.labelled & chosen], ALONE)
        high = max(corpus, reached(odd[bulk & chosen], BULK))
        return high, min(high, reached(odd[self.ruled & chosen], OVERRULED))


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


def kinds_of(texts: Sequence[Example]) -> Kinds:
    honest = np.array([not one.attack for one in texts])
    labelled = np.array([one.labelled for one in texts])
    # The rules were made with the other corpora in view.
    sources = {FRESH.name, "written", *(folder.name for folder in CORPORA)}
    ruled = np.array([not one.attack and one.source in sources and rejected_by_rules(one) for one in texts])
    return Kinds(honest, labelled, ruled)


def rejected_by_rules(one: Example) -> bool:
    return judge(one.text, one.channel).verdict == "reject"


def channels_of(texts: Sequence[Example]) -> npt.NDArray[np.int64]:
    return np.array([CHANNELS.index(one.channel) for one in texts])


def usual_of(texts: Sequence[Example], scores: Numbers, kinds: Kinds) -> Usual:
    channels = channels_of(texts)
    honest = kinds.honest & kinds.labelled
    found = [np.quantile(scores[honest & (channels == at)], (0.5, 0.9)) for at in range(len(CHANNELS))]
    middle, spread = np.array([(low, high - low) for low, high in found]).T
    return Usual(middle, spread)


def harmless_below(odd: Numbers, kinds: Kinds) -> float:
    return float(np.quantile(odd[~kinds.honest & kinds.labelled], OVERLOOKED))


def together(
    texts: Sequence[Example], odd: Numbers, kinds: Kinds, reader: Reader, head: Head
) -> tuple[float, float]:
    """The limits for the sum of both opinions, by the texts the reader was not taught with."""
    kept = np.array([kept_back(one) for one in texts])
    total = np.full(len(texts), -np.inf)
    for number in np.flatnonzero(kept).tolist():
        total[number] = WORDS_COUNT * odd[number] + _read(reader, head, texts[number])
    return kinds.cuts(total, kept)


def _read(reader: Reader, head: Head, one: Example) -> float:
    """What the reader says, led by this head to the places it reads."""
    body = without_frontmatter(one.text) if one.channel in DOCUMENTS else one.text
    seen = windows_of(one)
    by_words = np.argsort([-head.score_of(window, one.channel) for window in seen])
    score, _ = reader.read(body, one.channel, [seen[place].place for place in by_words])
    return score
