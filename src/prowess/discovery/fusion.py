"""From two kinds of evidence, words and meaning, to one relevance between 0 and 1.

Both kinds are log-odds: BM25 sums what each shared word is worth, a cosine times a constant is what
an encoder trained by softmax means by it. So they add up, and a request with many telling words leans
on words by itself, one with few leans on meaning. What a good score is grows with the catalogue, since
the best of many unrelated capabilities looks better than the best of few; `catalogue` takes that off.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

SHIPPED = Path(__file__).parent / "calibration.json"
# How much a need's own competition counts against the plain strength of a match.
BELIEF_SHARE = 2.0
# A cut counts only if two needs have each a clear answer of their own: one that holds this much belief.
CLEAR = 0.3


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

    def strengths(self, words: Floats, similar: Floats | None, known: Mask, searched: int) -> Floats:
        """How strongly each row answers one text; a row without a vector is judged by words alone."""
        if similar is not None and known.all():
            return _strength(self.hybrid, words, similar, searched)
        # The two scales have their own slopes; what leaves here is in units of the hybrid one.
        unit = np.float32(self.words.slope / self.hybrid.slope)
        plain = unit * _strength(self.words, words, None, searched)
        if similar is None:
            return plain
        return np.where(known, _strength(self.hybrid, words, similar, searched), plain)

    def relevance(self, strength: float) -> float:
        """The strength as a number from 0 to 1."""
        return 1 / (1 + exp(-max(-60.0, min(60.0, self.hybrid.slope * strength))))


def _strength(scale: Scale, words: Floats, similar: Floats | None, searched: int) -> Floats:
    shift = np.float32(scale.catalogue * log(max(searched, 1)) + scale.offset)
    strength = np.float32(scale.lexical) * words - shift
    if similar is not None:
        strength += np.float32(scale.dense) * similar
    return strength


def pooled(strengths: Sequence[Floats], allowed: Mask) -> Floats:
    """One strength for each row from the whole request (first) and its needs.

    The best match counts, and so does the share of a need's belief that a row holds: a need with one
    clear answer brings that answer forward, a vague one brings nothing.
    """
    whole = np.where(allowed, strengths[0], -np.inf).astype(np.float32)
    if len(strengths) == 1:
        return whole
    beliefs = [_belief(np.where(allowed, strength, -np.inf)) for strength in strengths]
    if len({int(held.argmax()) for held, _ in beliefs[1:] if held.max() >= CLEAR}) < 2:
        return whole
    share = sum((held for held, _ in beliefs), np.zeros(len(whole), np.float32))
    with np.errstate(divide="ignore"):
        believed = np.log(share) + beliefs[0][1]
    best = np.where(allowed, np.max(strengths, axis=0), -np.inf)
    merged = (best + np.float32(BELIEF_SHARE) * believed) / np.float32(1 + BELIEF_SHARE)
    return np.where(allowed, merged, -np.inf).astype(np.float32)


def _belief(strength: Floats) -> tuple[Floats, float]:
    """The softmax of a need over all rows, and the logarithm of its divisor."""
    top = float(strength.max()) if strength.size else 0.0
    if not np.isfinite(top):
        return np.zeros_like(strength), 0.0
    grown = np.exp(strength - np.float32(top))
    total = float(grown.sum())
    return grown / np.float32(total), top + log(total)
