"""Which requests are the same request in other words. Pure, and without an encoder.

Its little words and endings are its own, not those of `text.stems`: what gathers in one lesson was decided by
them and is stored, and gates were measured with them; other stems would part lessons that are there.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

ALIKE = 0.5

_WORD = re.compile(r"\w+")
_LITTLE = re.compile(
    r"an?|and|are|as|at|be|by|can|could|do|does|for|from|get|give|have|how|i|in|is|its?|me|my|of|on|or|our|"
    r"please|some|that|the|their|them|this|to|us|want|we|what|when|where|which|who|will|with|would|your?"
)


def normalised(text: str) -> str:
    """One text for requests that differ only in case, spaces and punctuation."""
    return " ".join(_WORD.findall(text.casefold())) or text.strip()


@lru_cache(maxsize=8192)  # gates hold the same few thousand requests against each other
def telling_words(text: str) -> frozenset[str]:
    words = _WORD.findall(text.casefold())
    return frozenset(_stem(word) for word in words if not _LITTLE.fullmatch(word)) or frozenset(words)


def telling(text: str) -> str:
    """One text for requests that say the same words in whatever order, with whatever little words between."""
    return " ".join(sorted(telling_words(text))) or normalised(text)


def alike(one: str, other: str) -> bool:
    """Whether two requests share most of the telling words of the shorter one."""
    first, second = telling_words(one), telling_words(other)
    smaller = min(len(first), len(second))
    return len(first & second) >= ALIKE * smaller if smaller else normalised(one) == normalised(other)


def distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Each request once, however often it was repeated."""
    return tuple({normalised(text): text for text in reversed(list(texts))}.values())[::-1]


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if len(word) - len(ending) >= 4 and word.endswith(ending):
            return word.removesuffix(ending)
    return word
