"""A quick look at the result of a call: does something in it speak to the model rather than to its user?

Above stands the gateway, which looks at every result of a server that is not fully trusted. Two small
networks (`word_network.py`) pass over nearly all that results say. What they find speaks to a model is
judged, also in letters that only look plain and in what is written in base64, hexadecimal, escapes or percent
signs. Only the passages around are judged, and of a result with many the few that say most.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from itertools import chain, islice
from urllib.parse import unquote

from prowess.guard.alphabets import from_escapes
from prowess.guard.classifier import Classifier
from prowess.guard.pointing_words import ENOUGH, Weighed, known_words, turned, weight
from prowess.guard.sanitise import judge
from prowess.guard.word_network import WINDOW, WordNetworks
from prowess.guard.word_numbers import words_of
from prowess.text.characters import fold
from prowess.text.invisible import uncover

AROUND = 300
"""How far before something written otherwise what it belongs to may begin."""
STRETCH, FURTHER = 900, 600
MOST_STRETCHES = 4
"""How many passages of one result are judged; the time is bounded, the promise is not complete."""
MARGIN = 120
"""How far a passage goes on, at most, to where its first and its last sentence begin and end."""
BREAK = re.compile(r"[.!?][ \n]|\n|[\u3002\uff01\uff1f]")
MOST_CHARACTERS = 1_000_000
SIGNS_OF_DATA = 24
"""So many letters and digits in a row may be base64 or hexadecimal."""
DATA_SIGN = ord("x")
DATA_SIGNS = bytes(
    DATA_SIGN if chr(sign).isascii() and (chr(sign).isalnum() or chr(sign) in "+/_-") else 32
    for sign in range(256)
)
ESCAPED: tuple[tuple[str, re.Pattern[str], Callable[[str], str]], ...] = (
    ("%", re.compile(r"(?:[\w.+-]{0,20}%[0-9A-Fa-f]{2}){6,400}[\w.]{0,40}"), unquote),
    ("\\", re.compile(r"(?:\\(?:u00|x)[0-9A-Fa-f]{2} ?){5,2000}"), from_escapes),
    ("&#", re.compile(r"(?:&#x?[0-9A-Fa-f]{2,4};){5,2000}"), unescape),
)
"""The sign that each way to write letters needs, how it looks, and how it is read."""
FEWEST_ESCAPED = 5
ODD = re.compile(
    "[a-zA-Z][\u0370-\u052f]|[\u0370-\u052f][a-zA-Z]|[\uff21-\uff5a\U0001d400-\U0001d7ff]{3}"
    "|\\w[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]+\\w|[\u202a-\u202e\u2066-\u2069\U000e0020-\U000e007e]"
)
"""Letters of two alphabets in one word, or letters that nobody sees: then the text is read as it looks."""
ODD_LETTER = re.compile(
    "[\u00ad\u0370-\u052f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\uff21-\uff5a"
    "\U0001d400-\U0001d7ff\U000e0020-\U000e007e]"
)
"""What such a text has in any case; quicker to look for."""
HEXADECIMAL = re.compile(r"(?:[0-9a-f]{2}){12,}", re.IGNORECASE)
MOST_ENCODED = 32
"""How many encoded stretches of one result are decoded."""
LONGEST_ENCODED = 2000
"""How much of one is decoded; an order stands at its beginning or in another."""


@dataclass(frozen=True, slots=True)
class ResultCheck:
    """What results are looked at with; without the small networks, words alone point at passages."""

    words: WordNetworks | None
    classifier: Classifier | None

    @classmethod
    def open(cls) -> "ResultCheck":
        return cls(WordNetworks.open(), Classifier.open())

    def speaks_to_the_model(self, text: str) -> bool:
        """Whether a result holds text that looks like instructions."""
        return any(map(self.is_order, self.pointed_at(text)))

    def is_order(self, passage: str) -> bool:
        return judge(passage, "result", classifier=self.classifier).verdict == "reject"

    def pointed_at(self, text: str) -> list[str]:
        """The passages in which something points at an order, at most a few; none in nearly every result."""
        text = as_it_looks(text[:MOST_CHARACTERS])
        small = text.lower()
        if len(small) != len(text):
            text = small
        found = chain(_turned(small), self._said(small), self._hidden(text))
        return [text[start:end] for start, end in islice(found, MOST_STRETCHES)]

    def _hidden(self, text: str) -> Iterator[tuple[int, int]]:
        """Around what is encoded and points at an order."""
        for at, said in encoded(text):
            if self._is_telling(said.lower()):
                yield max(0, at - AROUND), at + STRETCH

    def _is_telling(self, small: str) -> bool:
        """Whether something in what was encoded points at an order."""
        said = words_of(small)
        if weight(small, known_words(small, said)) >= ENOUGH:
            return True
        return self.words is not None and bool(self.words.telling(said.numbers))

    def _said(self, small: str) -> list[tuple[int, int]]:
        """The passages that say most, those first that say it most plainly."""
        said = words_of(small)
        if self.words is None:
            return [(start, start + STRETCH) for start in _heaviest(small, known_words(small, said))]
        return [
            _whole(small, int(said.starts[first]), int(said.ends[first : first + WINDOW][-1]))
            for first in self.words.telling(said.numbers)[:MOST_STRETCHES]
        ]


def as_it_looks(text: str) -> str:
    """A text without letters that only look plain, where it has any."""
    is_odd = not text.isascii() and ODD_LETTER.search(text) and ODD.search(text)
    return uncover(fold(text).text) if is_odd else text


def _whole(small: str, start: int, end: int) -> tuple[int, int]:
    """A passage with the rest of its first and of its last sentence, as far as these are near."""
    before = [match.end() for match in BREAK.finditer(small, max(0, start - MARGIN), start)]
    after = BREAK.search(small, end, end + MARGIN)
    return (before[0] if before else max(0, start - MARGIN)), (after.end() if after else end + MARGIN)


def _turned(small: str) -> list[tuple[int, int]]:
    at = turned(small)
    return [(max(0, at - AROUND), at + STRETCH)] if at >= 0 else []


def _heaviest(small: str, words: list[Weighed]) -> list[int]:
    """Where the stretches begin that hold enough of the words, those first that hold most."""
    starts = range(0, max(1, len(small) - (STRETCH - FURTHER)), FURTHER)
    weights = [(weight(small[start : start + STRETCH], words), start) for start in starts]
    chosen = sorted((one for one in weights if one[0] >= ENOUGH), key=lambda one: -one[0])
    return [start for _, start in chosen[:MOST_STRETCHES]]


def encoded(text: str) -> Iterator[tuple[int, str]]:
    """What is written in base64, hexadecimal or escapes and reads as text, and where it stands."""
    for sign, pattern, decode in ESCAPED:
        if text.count(sign) >= FEWEST_ESCAPED:
            for match in islice(pattern.finditer(text), MOST_ENCODED):
                yield match.start(), decode(match[0][:LONGEST_ENCODED])
    for start, end in islice(_data(text), MOST_ENCODED):
        said = text[start : min(end, start + LONGEST_ENCODED)]
        octets = bytes.fromhex(said[: len(said) & ~1]) if HEXADECIMAL.fullmatch(said) else _base64(said)
        decoded = octets.decode("utf-8", "ignore")
        if len(decoded) > len(octets) // 4 and decoded.isprintable():
            yield start, decoded


def _data(text: str) -> Iterator[tuple[int, int]]:
    """Where many letters and digits stand in a row; a search for one sign repeated is the quickest."""
    signs = text.encode("latin-1", "replace").translate(DATA_SIGNS)
    wanted = bytes([DATA_SIGN]) * SIGNS_OF_DATA
    end = 0
    while (start := signs.find(wanted, end)) >= 0:
        end = signs.find(b" ", start)
        end = end if end >= 0 else len(signs)
        yield start, end


def _base64(said: str) -> bytes:
    plain = said.replace("-", "+").replace("_", "/")
    return b64decode(plain[: len(plain) & ~3])
