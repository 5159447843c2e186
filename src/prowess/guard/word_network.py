"""A small network that says which few words of a text may speak to a model, in under half a millisecond.

Above stands the quick look at results of calls (`prefilter`). A word is its first six letters, a letter of a
script without spaces is a word. Each is read with the word before and the word behind, and of 48 words in a
row the strongest signs are weighed together. numpy does it alone: a program that starts for a single call has
not loaded the large network. `train/guard_words.py` makes `model/words.npz`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from prowess.guard.integrity import fault

SHIPPED = Path(__file__).parent / "model" / "words.npz"

PLAIN_WORD = re.compile(r"[a-z]+|[<|@!]")
WORD = re.compile(
    "[a-z]+|[<|@!]|[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\\W\\d_a-z]+(?:[^\\W\\d_]+)*"
)
"""Thai, Japanese, Chinese and Korean words are not told apart by spaces: there a letter counts as one."""
BEGINNING = 6
"""How many letters of a word count, so that its forms are one word."""
WINDOW, STEP = 48, 16
"""How many words are weighed together, and how many further on the next ones begin."""
NEIGHBOURS = 3
AT_ONCE = 64
"""How many windows are weighed at once: larger products wake further threads, which cost more."""
MOST_AT_ONCE = 256 * STEP
"""How many words are read at once, so that a text of a million characters needs little memory."""

Weights = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class WordNetwork:
    numbers: Mapping[str, int]
    """Each known word, and its row among the meanings; words that are not known share the first row."""
    meanings: Weights
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
        if not file.exists() or (file == SHIPPED and fault()):
            return None
        with np.load(file, allow_pickle=False) as kept:
            words = kept["words"].tobytes().decode().split("\n")
            parts = {name: kept[name].astype(np.float32) for name in kept.files if name != "words"}
        usual_sum = float(parts.pop("usual_sum")[0])
        return cls({word: at for at, word in enumerate(words, 1)}, usual_sum=usual_sum, **parts)

    def log_odds(self, said: Sequence[str]) -> Weights:
        """What it makes of each window of the words of a text."""
        read = np.fromiter(map(self.numbers.get, said, repeat(0)), np.int64, len(said))
        # Windows begin every few words, and the last may reach beyond the end.
        size = max(WINDOW // STEP, -(-len(read) // STEP)) * STEP
        known = np.zeros((size + NEIGHBOURS - 1, self.meanings.shape[1]), np.float32)
        known[1 : len(read) + 1] = self.meanings[read]
        parts = [
            self._strongest(known[at : at + MOST_AT_ONCE + NEIGHBOURS - 1])
            for at in range(0, size, MOST_AT_ONCE)
        ]
        strongest = np.concatenate(parts)
        windows = len(strongest) - WINDOW // STEP + 1
        together = strongest[:windows]
        for further in range(1, WINDOW // STEP):
            together = np.maximum(together, strongest[further : further + windows])
        seen = np.maximum(together + self.usual_signs, 0)
        sums = [self._sum(seen[at : at + AT_ONCE]) for at in range(0, windows, AT_ONCE)]
        return np.concatenate(sums)

    def _sum(self, seen: Weights) -> Weights:
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


def words_of(small: str) -> list[str]:
    """The words of a text in small letters, as far as they count."""
    return [word[:BEGINNING] for word in _pattern(small).findall(small)]


def places(small: str, windows: Sequence[int]) -> list[tuple[int, int]]:
    """Where in a text in small letters these windows begin and end."""
    words, read = _pattern(small).finditer(small), 0
    spans: dict[int, tuple[int, int]] = {}
    for at in sorted({one * STEP + more for one in windows for more in (0, WINDOW - 1)}):
        word = next(islice(words, at - read, None), None)
        # The last window may reach beyond the end.
        spans[at], read = word.span() if word else (len(small), len(small)), at + 1
    return [(spans[one * STEP][0], spans[one * STEP + WINDOW - 1][1]) for one in windows]


def _pattern(small: str) -> re.Pattern[str]:
    return PLAIN_WORD if small.isascii() else WORD
