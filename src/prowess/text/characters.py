"""Look through disguises of letters: which characters hide, and which only look like others.

Above stand the readers of roles and signals, which match on a folded text and act on the original;
below is only the character database of Python.
"""

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.uint32]
Places = npt.NDArray[np.int64]

LOOK_ALIKES = Path(__file__).with_name("look_alikes.txt")
"""Letters that look like a Latin one in common fonts, each row led by the letter it looks like."""
CONFUSABLES = Path(__file__).with_name("confusables.txt")
"""The same by Unicode's own table, made by `train/guard_confusables.py`."""

# Signs of tags and markers that have doubles.
SIGNS = {
    "<": "\uff1c\ufe64\u2039\u3008\u27e8\u02c2\u1438\u276e\u2329\u276c\u2770",
    ">": "\uff1e\ufe65\u203a\u3009\u27e9\u02c3\u1433\u276f\u232a\u276d\u2771",
    ":": "\uff1a\ufe55\u0589\u05c3\u02d0\u02f8\ua789\u2236\ufe13\u205a\u2982",
    "|": "\uff5c\xa6\u2223\u2758\u2502\u01c0\uffe8\u2503\u23ae",
    "/": "\uff0f\u2215\u2044",
    "_": "\u2581\uff3f",
    "-": "\u2010\u2011\u2012\u2013\uff0d",
    "\n": "\r\x0b\x0c\x85\u2028\u2029",
    " ": "\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
}

# NFKC makes one plain letter of each of these: full-width, mathematical, enclosed, letter-like.
COMPATIBLE = (
    range(0x00AA, 0x00BB), range(0x02B0, 0x02E5), range(0x1D2C, 0x1D6B), range(0x2070, 0x209D),
    range(0x2100, 0x2150), range(0x2170, 0x2180), range(0x24B6, 0x24EA), range(0xFF01, 0xFF5F),
    range(0x1D400, 0x1D800), range(0x1F130, 0x1F14A),
)  # fmt: skip
ENCLOSED = (0x1F150, 0x1F170)
"""White letters on a dark ground, a to z; the character database does not say which letter each is."""
COMBINING = (
    range(0x0300, 0x0370), range(0x1AB0, 0x1B00), range(0x1DC0, 0x1E00), range(0x20D0, 0x2100),
    range(0xFE20, 0xFE30),
)  # fmt: skip

INVISIBLE = (
    0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0,
    *range(0x180B, 0x1810), *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070),
    *range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFFD),
    *range(0x13430, 0x13440), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B),
)  # fmt: skip

TABLE_SIZE = 0x20000
GONE = 0

CONTROL = re.compile(r"[\x00\r\x0b\x0c\x1b]")
COLOUR = re.compile(r"\x1b\[[0-9;]{0,40}m")
ENTITY = re.compile(
    # An ampersand that is itself written as an entity leads to the same character in the end.
    r"&(?:amp;|#0*+38;|#[xX]0*+26;){0,9}"
    r"(#0*\d{1,7}|#[xX]0*[0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31}(?=;)|lt|gt|LT|GT|amp|quot|nbsp|shy);?"
)


@dataclass(frozen=True, slots=True)
class Folded:
    """A text in plain lower-case letters, and the place in the original of each of its characters."""

    text: str
    places: Places | None
    """None where both texts are equally long and each character stands where it stood."""
    length: int

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The original's stretch that a stretch of the folded text stands for."""
        if self.places is None:
            return start, end
        after = int(self.places[end]) if end < len(self.places) else self.length
        return int(self.places[start]) if start < len(self.places) else self.length, after


def fold(text: str, look_alikes: bool = True) -> Folded:
    """Undo every disguise: case, width, look-alikes, entities and characters nobody sees."""
    if "&" not in text and text.isascii() and not CONTROL.search(text):
        return Folded(text.lower(), None, len(text))
    codes = encoded(text)
    plain = _table(look_alikes)[np.minimum(codes, TABLE_SIZE - 1)]
    beyond = codes >= TABLE_SIZE
    if beyond.any():
        plain = np.where(beyond, np.where(_hidden_beyond(codes), GONE, codes), plain)
    if "\x1b" in text:
        colours = [match.span() for match in COLOUR.finditer(text)]
        plain[_covered(colours, len(plain))] = GONE
    if "&" in text:
        _replace_entities(text, plain, _table(look_alikes))
    places = np.flatnonzero(plain)
    return Folded(decoded(plain[places]), places, len(text))


def unmasked(text: str) -> Folded:
    """Undo what splits or widens letters and leave their case, which keys and tokens need."""
    if text.isascii():
        return Folded(text, None, len(text))
    codes = encoded(text)
    plain = np.where(codes < TABLE_SIZE, _unmasking()[np.minimum(codes, TABLE_SIZE - 1)], codes)
    places = np.flatnonzero(plain)
    return Folded(decoded(plain[places]), places, len(text))


def flattened(text: str, signs: dict[int, str]) -> str:
    """Undo every disguise but entities, and put harmless signs in the place of others, in one pass."""
    codes = encoded(text)
    table = _table(True).copy()
    table[list(signs)] = [ord(harmless) for harmless in signs.values()]
    plain = table[_table(True)[np.minimum(codes, TABLE_SIZE - 1)]]
    beyond = codes >= TABLE_SIZE
    if beyond.any():
        plain = np.where(beyond, np.where(_hidden_beyond(codes), GONE, codes), plain)
    return decoded(plain[plain != GONE])


def encoded(text: str) -> Codes:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def decoded(codes: Codes) -> str:
    return codes.astype(np.uint32).tobytes().decode("utf-32-le", "surrogatepass")


def _hidden_beyond(codes: Codes) -> npt.NDArray[np.bool_]:
    """Tag characters and variation selectors above the two planes that have letters."""
    return np.asarray((codes >= 0xE0000) & (codes < 0xE1000))


def _replace_entities(text: str, plain: Codes, table: Codes) -> None:
    found = [(*match.span(), _entity(match[1])) for match in ENTITY.finditer(text)]
    spans = [(start, end) for start, end, code in found if code]
    codes = np.array([code for _, _, code in found if code], np.uint32)
    plain[_covered(spans, len(plain))] = GONE
    letters = np.where(codes < TABLE_SIZE, table[np.minimum(codes, TABLE_SIZE - 1)], codes)
    plain[[start for start, _ in spans]] = np.where(_hidden_beyond(codes), GONE, letters)


@lru_cache(maxsize=1 << 12)
def _entity(name: str) -> int:
    """The one character an entity stands for, or 0 where it is none."""
    character = html.unescape(f"&{name};")
    return ord(character) if len(character) == 1 else 0


def _covered(spans: Sequence[tuple[int, int]], length: int) -> npt.NDArray[np.bool_]:
    """Which places lie in one of these stretches, none of which overlap."""
    edges = np.zeros(length + 1, np.int8)
    edges[[start for start, _ in spans]] += 1
    edges[[end for _, end in spans]] -= 1
    return np.asarray(np.cumsum(edges[:-1], dtype=np.int8) > 0)


@cache
def _table(look_alikes: bool) -> Codes:
    table = np.arange(TABLE_SIZE, dtype=np.uint32)
    for block in (range(0x80), range(0xC0, 0x250), range(0x370, 0x530), range(0x1E00, 0x1F00)):
        table[list(block)] = [_lower(code) for code in block]
    for block in COMPATIBLE:
        table[list(block)] = [_compatible(code) for code in block]
    for first in ENCLOSED:
        table[first : first + 26] = np.arange(ord("a"), ord("z") + 1)
    for sign, doubles in SIGNS.items():
        table[[ord(double) for double in doubles]] = ord(sign)
    if look_alikes:
        _add_look_alikes(table)
    table[list(INVISIBLE)] = GONE
    return _settled(table)


def _settled(table: Codes) -> Codes:
    """Until nothing changes: what stands for a letter that only looks like another stands for that one."""
    for _ in range(4):
        further = table[table]
        if np.array_equal(further, table):
            break
        table = further
    return table


@cache
def _unmasking() -> Codes:
    table = np.arange(TABLE_SIZE, dtype=np.uint32)
    for block in COMPATIBLE:
        plain = [unicodedata.normalize("NFKC", chr(code)) for code in block]
        table[list(block)] = [
            ord(one) if len(one) == 1 else code for one, code in zip(plain, block, strict=True)
        ]
    table[list(INVISIBLE)] = GONE
    return table


def _add_look_alikes(table: Codes) -> None:
    for code in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00)):
        base = unicodedata.normalize("NFD", chr(code))[0].lower()
        table[code] = ord(base) if base.isascii() else table[code]
    for row in CONFUSABLES.read_text(encoding="utf-8").splitlines()[1:]:
        letter, *codes = row.split()
        table[[int(code, 16) for code in codes]] = ord(letter)
    for row in LOOK_ALIKES.read_text(encoding="utf-8").splitlines():
        letter, doubles = row.split(" ", 1)
        table[[ord(double) for double in doubles]] = ord(letter)
    for block in COMBINING:
        table[list(block)] = GONE


def _lower(code: int) -> int:
    low = chr(code).lower()
    return ord(low) if len(low) == 1 else code


def _compatible(code: int) -> int:
    plain = unicodedata.normalize("NFKC", chr(code)).lower()
    return ord(plain) if len(plain) == 1 else code
