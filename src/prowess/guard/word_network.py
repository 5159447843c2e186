"""Two small networks that say which few words of a text may speak to a model, in half a millisecond.

Above stands the quick look at results of calls (`prefilter`). The first reads all of a text, the second only
what the first points at: both are of one kind and make different mistakes. Each word (`word_numbers`) is read
with the word before and the word behind, and of 48 words in a row the strongest signs are weighed together.
numpy does it alone: a program that starts for a single call has not loaded the network of the judge.
`train/guard_words.py` makes both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from prowess.guard.integrity import fault
from prowess.guard.word_numbers import Numbers

SHIPPED = Path(__file__).parent / "model" / "words.npz"
SECOND = SHIPPED.with_name("words_again.npz")

WINDOW, STEP = 48, 16
"""How many words are weighed together, and how many further on the next ones begin."""
NEIGHBOURS = 3
AT_ONCE = 64
"""How many windows are weighed at once: larger products wake further threads, which cost more."""
MOST_AT_ONCE = 256 * STEP
"""How many words are read at once, so that a text of a million characters needs little memory."""

POINTED = -1.0
"""From which log-odds of the first on the second reads a window."""
SURE, SURER = -0.3, 0.12
"""From which mean of both a window is telling, and how much more it takes by the logarithm of their number.

Of many windows, one reads like an order by chance.
"""
MOST_POINTED = 8
"""How many windows of a text the second reads."""

Weights = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WordNetwork:
    words: Numbers
    """The known words, as numbers in their order; each has its row among the meanings."""
    meanings: Weights
    """The first row is of all words that are not known."""
    signs: Weights
    """What three words in a row are a sign of, by their meanings."""
    usual_signs: Weights
    weighing: Weights
    usual_weighing: Weights
    sums: Weights
    usual_sum: float

    @classmethod
    def open(cls, file: Path = SHIPPED) -> Self | None:
        """The shipped network, or none when it is not there or damaged."""
        if not file.exists() or (file in (SHIPPED, SECOND) and fault()):
            return None
        with np.load(file, allow_pickle=False) as kept:
            parts = {name: kept[name].astype(np.float32) for name in kept.files if name != "words"}
            words = kept["words"]
        return cls(words, usual_sum=float(parts.pop("usual_sum")[0]), **parts)

    def log_odds(self, said: Numbers) -> Weights:
        """What it makes of each window of the words of a text."""
        # Windows begin every few words, and the last may reach beyond the end.
        size = max(WINDOW // STEP, -(-len(said) // STEP)) * STEP
        known = np.zeros((size + NEIGHBOURS - 1, self.meanings.shape[1]), np.float32)
        known[1 : len(said) + 1] = self.meanings[self._rows(said)]
        parts = [
            self._strongest(known[at : at + MOST_AT_ONCE + NEIGHBOURS - 1])
            for at in range(0, size, MOST_AT_ONCE)
        ]
        strongest = np.concatenate(parts)
        windows = len(strongest) - WINDOW // STEP + 1
        together = strongest[:windows]
        for further in range(1, WINDOW // STEP):
            together = np.maximum(together, strongest[further : further + windows])
        sums = [self._sum(together[at : at + AT_ONCE]) for at in range(0, windows, AT_ONCE)]
        return np.concatenate(sums)

    def of_windows(self, said: Numbers, starts: Sequence[int]) -> Weights:
        """What it makes of the windows that begin with these words."""
        at = np.array(starts)[:, None] + np.arange(WINDOW)
        rows = np.where(at < len(said), self._rows(said[np.minimum(at, len(said) - 1)]), 0)
        known = np.zeros((len(starts), WINDOW + NEIGHBOURS - 1, self.meanings.shape[1]), np.float32)
        known[:, 1 : WINDOW + 1] = self.meanings[rows]
        return self._sum(np.stack([self._strongest(window).max(0) for window in known]))

    def _rows(self, said: Numbers) -> Rows:
        """The row of each word among the meanings."""
        at = np.minimum(np.searchsorted(self.words, said), len(self.words) - 1)
        rows: Rows = np.where(self.words[at] == said, at + 1, 0)
        return rows

    def _sum(self, strongest: Weights) -> Weights:
        seen = np.maximum(strongest + self.usual_signs, 0)
        weighed = np.maximum(seen @ self.weighing + self.usual_weighing, 0)
        found: Weights = weighed @ self.sums + self.usual_sum
        return found

    def _strongest(self, known: Weights) -> Weights:
        """The strongest of each sign within every step of words, given these with one before and behind."""
        count, size = len(known) - NEIGHBOURS + 1, known.shape[1]
        # Neighbours lie side by side in memory: each row goes on into the next ones.
        rows = np.lib.stride_tricks.as_strided(
            known, (count, NEIGHBOURS * size), known.strides, writeable=False
        )
        strongest: Weights = np.matmul(rows.reshape(-1, STEP, rows.shape[1]), self.signs).max(1)
        return strongest


@dataclass(frozen=True, slots=True)
class WordNetworks:
    first: WordNetwork
    second: WordNetwork

    @classmethod
    def open(cls) -> Self | None:
        """Those that are shipped, or none when one is not there or damaged."""
        first, second = WordNetwork.open(), WordNetwork.open(SECOND)
        return cls(first, second) if first and second else None

    def telling(self, said: Numbers) -> list[int]:
        """With which words the windows begin that may speak to a model, the plainest first; none overlaps."""
        log_odds = self.first.log_odds(said)
        starts: list[int] = []
        for at in np.argsort(-log_odds).tolist() if float(log_odds.max()) >= POINTED else ():
            if log_odds[at] < POINTED or len(starts) == MOST_POINTED:
                break
            if at * STEP < len(said) and all(abs(at * STEP - other) >= WINDOW for other in starts):
                starts.append(at * STEP)
        if not starts:
            return []
        both = (log_odds[np.array(starts) // STEP] + self.second.of_windows(said, starts)) / 2
        enough = SURE + SURER * log(len(log_odds))
        return [starts[at] for at in np.argsort(-both).tolist() if both[at] >= enough]
