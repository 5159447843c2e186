"""A quick look at the result of a call: does something in it speak to the model rather than to its user?

Above stands the gateway, which looks at every result of a server that is not fully trusted. Nearly all hold
nothing that points at an order, and are passed over by a search for single words, in some 25 languages and
also in letters that only look plain and in what is written in base64, hexadecimal, escapes or percent signs;
only what stands around such words is judged, and of a long result the places where most of them stand.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from html import unescape
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

from prowess.guard.alphabets import from_escapes
from prowess.guard.classifier import Classifier
from prowess.guard.sanitise import judge
from prowess.text.characters import fold
from prowess.text.invisible import uncover
from prowess.word_lists import lists_in

ENOUGH = 3
WORDS = Path(__file__).with_name("prefilter.toml")
WEIGHTS = {"strong": ENOUGH, "pointing": 2, "weak": 1, "turned": ENOUGH}
STRETCH, STEP = 900, 600
MOST_STRETCHES = 4
"""How many stretches of one result are judged; the time is bounded, the promise is not complete."""
MOST_CHARACTERS = 1_000_000
ENCODED = re.compile(
    r"(?P<base64>[A-Za-z0-9+/_-]{24,4000})|(?P<percent>(?:[\w.+-]{0,20}%[0-9A-Fa-f]{2}){6,400}[\w.]{0,40})"
    r"|(?P<escapes>(?:\\(?:u00|x)[0-9A-Fa-f]{2} ?){5,2000})|(?P<entities>(?:&#x?[0-9A-Fa-f]{2,4};){5,2000})"
)
ODD = re.compile(
    "[a-zA-Z][\u0370-\u052f]|[\u0370-\u052f][a-zA-Z]|[\uff21-\uff5a\U0001d400-\U0001d7ff]{3}"
    "|\\w[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]+\\w|[\u202a-\u202e\u2066-\u2069\U000e0020-\U000e007e]"
)
"""Letters of two alphabets in one word, or letters that nobody sees: then the text is read as it looks."""
HEXADECIMAL = re.compile(r"(?:[0-9a-f]{2}){12,}", re.IGNORECASE)
PLAINLY: dict[str, Callable[[str], str]] = {"percent": unquote, "escapes": from_escapes, "entities": unescape}
MOST_ENCODED = 16
"""How many encoded stretches of one result are decoded."""
LONGEST_ENCODED = 2000
"""How much of one is decoded; an order stands at its beginning or in another."""


def speaks_to_the_model(text: str, classifier: Classifier | None) -> bool:
    """Whether a result holds text that looks like instructions."""
    return any(
        judge(stretch, "result", classifier=classifier).verdict == "reject" for stretch in pointed_at(text)
    )


def pointed_at(text: str) -> list[str]:
    """The stretches in which words point at an order, at most a few; none in nearly every result."""
    text = text[:MOST_CHARACTERS]
    if not text.isascii() and ODD.search(text):
        text = uncover(fold(text).text)
    small = text.lower()
    found = [text[at : at + STRETCH] for at in _heaviest(small, known_words(small))]
    room = MOST_STRETCHES - len(found)
    encoded = (one for one in _encoded(text) if _weight(said := one[1].lower(), known_words(said)) >= ENOUGH)
    return found + [text[max(0, at - STEP // 2) : at + STRETCH] for at, _ in islice(encoded, room)]


def known_words(small: str) -> list[tuple[str, int]]:
    """The words of the lists that stand in a text of small letters, each with its weight."""
    lists = lists_in(WORDS)
    # Words in other letters than ours cannot stand in a text that has none of them.
    plain = small.isascii()
    return [
        (word, weight)
        for name, weight in WEIGHTS.items()
        for word in lists[name]
        if not (plain and not word.isascii()) and word in small
    ]


def _heaviest(small: str, words: list[tuple[str, int]]) -> list[int]:
    """Where the stretches begin that hold enough of the words, those first that hold most."""
    if sum(weight for _, weight in words) < ENOUGH:
        return []
    starts = range(0, max(1, len(small) - (STRETCH - STEP)), STEP)
    weights = [(_weight(small[start : start + STRETCH], words), start) for start in starts]
    chosen = sorted((one for one in weights if one[0] >= ENOUGH), key=lambda one: -one[0])
    return [start for _, start in chosen[:MOST_STRETCHES]]


def _weight(small: str, words: list[tuple[str, int]]) -> int:
    return sum(weight for word, weight in words if word in small)


def _encoded(text: str) -> Iterator[tuple[int, str]]:
    """What is written in base64, hexadecimal or percent signs and reads as text, and where it stands."""
    for match in islice(ENCODED.finditer(text), MOST_ENCODED):
        said = match[0][:LONGEST_ENCODED]
        if match.lastgroup in PLAINLY:
            yield match.start(), PLAINLY[match.lastgroup](said)
            continue
        octets = bytes.fromhex(said[: len(said) & ~1]) if HEXADECIMAL.fullmatch(said) else _base64(said)
        decoded = octets.decode("utf-8", "ignore")
        if len(decoded) > len(octets) // 4 and decoded.isprintable():
            yield match.start(), decoded


def _base64(said: str) -> bytes:
    plain = said.replace("-", "+").replace("_", "/")
    return b64decode(plain[: len(plain) & ~3])
