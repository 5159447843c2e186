"""How many tokens a text costs.

Two counters, and every offer names the one it used: `o200k` is exact, where the extra `tokens` is
installed; `estimate` follows how that tokenizer cuts text and needs nothing. On held-out texts the
estimate's total is within 2% for English, code, JSON schemas, Japanese and Korean, within 4% for Chinese
(simplified and traditional, prose and short descriptions) and within 7% for Russian; a single text is off
by 3 to 8% on average (`bench/tokens.py`).
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from prowess.word_lists import words_in

REMEMBERED = 4096
"""Texts whose count is kept: the lines of a catalogue come again turn after turn."""


@dataclass(frozen=True, slots=True)
class Counter:
    """A way to count, under the name that an offer carries."""

    name: str
    count: Callable[[str], int]


# What each match costs, fitted on one half of the texts and measured on the other.
ASCII_COSTS = (
    (re.compile(r"[A-Z]?[a-z]+|[A-Z]+"), 0.99),
    (re.compile(r"[A-Z]{2,}"), 0.38),
    (re.compile(r"[a-z]{9,}"), 0.27),
    (re.compile(r"[a-z]{13,}"), 0.25),
    (re.compile(r"[A-Za-z]{20}"), 8.0),
    (re.compile(r"[0-9]{1,3}"), 1.96),
    (re.compile(r"[!-/:-@\[-^`{-~]+"), 0.97),
    (re.compile(r"[!-/:-@\[-^`{-~]{3,}"), 0.42),
    (re.compile(r"_+"), 0.12),
    (re.compile(r"[ \t]{2,}"), 0.35),
    (re.compile(r"\n\s*"), 0.71),
)
OTHER_COSTS = (
    (re.compile(r"[\u3040-\u30ff]"), 0.61),
    (re.compile(r"[\uac00-\ud7af]"), 0.75),
    (re.compile(r"[^\W\d_A-Za-z\u3040-\u9fff\uac00-\ud7af]"), 0.28),
    (re.compile(r"[\u3000-\u303f\uff00-\uffef\u2018-\u201d\u2026]+"), 0.33),
    (re.compile(r"[^\x00-\x7f\w\s\u3000-\u303f\uff00-\uffef\u2018-\u201d\u2026]"), 3.26),
)
IDEOGRAPHS = re.compile(r"[\u3400-\u9fff]+")
WORD, COMMON, UNCOMMON = 1.04, 1.01, 1.35
"""What a word of two ideographs costs, and one ideograph that is in no such word."""
BEYOND_COMMON = 0xD8
"""Where GB 2312 goes on from the common simplified ideographs to the others."""

WORDS = Path(__file__).with_name("chinese_words.txt")


def estimate(text: str) -> int:
    """Count without a vocabulary; never 0 for a text that has anything in it."""
    ascii_only = text.isascii()
    costs = ASCII_COSTS if ascii_only else ASCII_COSTS + OTHER_COSTS
    total = sum(cost * len(pattern.findall(text)) for pattern, cost in costs)
    if not ascii_only:
        total += sum(_ideographs(run) for run in IDEOGRAPHS.findall(text))
    return max(math.ceil(total), 1 if text else 0)


def _ideographs(run: str) -> float:
    """Frequent words are one token; a traditional or rare ideograph often takes two."""
    known = words_in(WORDS)
    alone: list[str] = []
    at = 0
    while at < len(run):
        if run[at : at + 2] in known:
            at += 2
        else:
            alone.append(run[at])
            at += 1
    words = (len(run) - len(alone)) // 2
    lead_bytes = "".join(alone).encode("gb2312", "ignore")[::2]
    common = sum(byte < BEYOND_COMMON for byte in lead_bytes)
    return WORD * words + COMMON * common + UNCOMMON * (len(alone) - common)


def counter(exact: bool = True) -> Counter:
    """The exact counter where it is installed, else the estimate."""
    if exact and find_spec("rs_bpe"):
        return Counter("o200k", lru_cache(REMEMBERED)(_o200k()))
    return Counter("estimate", lru_cache(REMEMBERED)(estimate))


def _o200k() -> Callable[[str], int]:
    """Count exactly; the vocabulary costs 50 MB and is read when the first text is counted."""

    @cache
    def encoding() -> Any:
        from rs_bpe.bpe import openai  # an extra, with its vocabulary inside

        return openai.o200k_base()

    return lambda text: int(encoding().count(text))
