"""Requests that ask for nothing: greetings, thanks, yes and no. Pure.

Above: what reads the journal, for which such a request is neither a need nor a gap. Below: a list of words. A
request is small talk when every word of it is; one word more, and somebody may want something.
"""

import re
import unicodedata
from functools import cache
from pathlib import Path

from prowess.word_lists import words_in

WORDS = Path(__file__).parent / "small_talk.txt"
MAX_WORDS = 12
MAX_CHARACTERS = 200
"""What is longer than this says something."""
APOSTROPHES = "'\N{RIGHT SINGLE QUOTATION MARK}`"

_DRAWN_OUT = re.compile(r"(.)\1{2,}")


def says_nothing(request: str) -> bool:
    """Whether a request is small talk, or has no word at all."""
    text = unicodedata.normalize("NFC", request[:MAX_CHARACTERS]).casefold()
    words = "".join(map(_spaced, text)).split()
    return len(request) <= MAX_CHARACTERS and len(words) <= MAX_WORDS and all(map(_is_small, words))


def _spaced(character: str) -> str:
    """A character of a word as it is, nothing for an apostrophe within one, and a space for any other."""
    if unicodedata.category(character)[0] in "LMN":
        return character
    return "" if character in APOSTROPHES else " "


def _is_small(word: str) -> bool:
    """Also where it is drawn out, as in "thaaaanks", or where several are written without spaces."""
    short = {word, _DRAWN_OUT.sub(r"\1", word), _DRAWN_OUT.sub(r"\1\1", word)}
    return not words_in(WORDS).isdisjoint(short) or bool(_unspaced().fullmatch(word))


@cache
def _unspaced() -> re.Pattern[str]:
    """Several words of languages that are written without spaces."""
    words = (word for word in words_in(WORDS) if word[0] >= "\N{THAI CHARACTER KO KAI}")
    return re.compile("(?:" + "|".join(map(re.escape, sorted(words, key=len, reverse=True))) + ")+")
