"""From two kinds of evidence, words and meaning, to one relevance between 0 and 1.

Both kinds are log-odds: BM25 sums what each shared word is worth, a cosine times a constant is what
an encoder trained by softmax means by it. So they add up, and a request with many telling words leans
on words by itself, one with few leans on meaning. What a good score is grows with the catalogue, since
the best of many unrelated capabilities looks better than the best of few; `catalogue` takes that off.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, log
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

SHIPPED = Path(__file__).parent / "calibration.json"
# How much a need's own competition counts against the plain strength of a match.
BELIEF_SHARE = 4.0
# A cut counts only if two needs have each a clear answer of their own: one that holds this much of the
# need's belief, and is this strong. How these were chosen stands in bench/results/discovery.md.
FEWEST_CLEAR = 2
CLEAR = 0.5
STRONG = 2.0


@dataclass(frozen=True, slots=True)
class Scale:
    """What evidence is worth: similarity, words, the size of the catalogue, and where zero lies."""

    dense: float
    lexical: float
    catalogue: float
    offset: float
    slope: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Fitted for one encoder by bench/tuning: with vectors, and for words alone."""

    hybrid: Scale
    words: Scale

    @classmethod
    def read(cls, path: Path = SHIPPED) -> "Calibration":
        values = json.loads(path.read_text(encoding="utf-8"))
        return cls(Scale(**values["hybrid"]), Scale(**values["words"]))

    def strengths(self, words: Floats, similar: Floats | None, known: Mask | None, searched: int) -> Floats:
        """How strongly each row answers one text; a row that is not known by vector, by words alone."""
        if similar is not None and known is None:
            return _strength(self.hybrid, words, similar, searched)
        # The two scales have their own slopes; what leaves here is in units of the hybrid one.
        unit = np.float32(self.words.slope / self.hybrid.slope)
        plain = unit * _strength(self.words, words, None, searched)
        if similar is None or known is None:
            return plain
        return np.where(known, _strength(self.hybrid, words, similar, searched), plain)

    def relevance(self, strength: float) -> float:
        """The strength as a number from 0 to 1."""
        return 1 / (1 + exp(-max(-60.0, min(60.0, self.hybrid.slope * strength))))

    def strength(self, relevance: float) -> float:
        """From which strength on something is this relevant."""
        if relevance <= 0:
            return -inf
        return (log(relevance / (1 - relevance)) if relevance < 1 else 60.0) / self.hybrid.slope

    def apart(self, odds: float) -> float:
        """How far apart in strength two are when one has this many times the odds of the other."""
        return log(odds) / self.hybrid.slope


def _strength(scale: Scale, words: Floats, similar: Floats | None, searched: int) -> Floats:
    shift = np.float32(scale.catalogue * log(max(searched, 1)) + scale.offset)
    strength = np.float32(scale.lexical) * words - shift
    if similar is not None:
        strength += np.float32(scale.dense) * similar
    return strength


class _Belief(NamedTuple):
    """How a need spreads over the rows: a softmax, the logarithm of its divisor, and its clear answer."""

    shares: Floats
    divisor: float
    answer: int | None


def pooled(strengths: Sequence[Floats], allowed: Mask) -> Floats | None:
    """One strength for each row from the whole request (first) and its needs, unless these are unclear.

    The best match counts, and so does the share of a need's belief that a row holds: a need with one
    clear answer brings that answer forward, a vague one brings nothing.
    """
    permitted = [np.where(allowed, strength, np.float32(-np.inf)) for strength in strengths]
    whole, *needs = beliefs = [_belief(strength) for strength in permitted]
    if len({need.answer for need in needs} - {None}) < FEWEST_CLEAR:
        return None
    share = np.sum([belief.shares for belief in beliefs], axis=0)
    with np.errstate(divide="ignore"):
        believed = np.log(share) + np.float32(whole.divisor)
    best = np.max(permitted, axis=0)
    merged: Floats = (best + np.float32(BELIEF_SHARE) * believed) / np.float32(1 + BELIEF_SHARE)
    return merged


def _belief(strength: Floats) -> _Belief:
    best = int(strength.argmax()) if strength.size else 0
    top = float(strength[best]) if strength.size else -inf
    if top == -inf:
        return _Belief(np.zeros_like(strength), -inf, None)
    grown = np.exp(strength - np.float32(top))
    total = float(grown.sum())
    clear = 1 / total >= CLEAR and top >= STRONG
    return _Belief(grown / np.float32(total), top + log(total), best if clear else None)
