"""Look through disguises of letters: which characters hide, and which only look like others.

Above stand the readers of roles and signals, which match on a folded text and act on the original;
below is only the character database of Python.
"""

import html
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.uint32]
Places = npt.NDArray[np.int64]

LOOK_ALIKES = Path(__file__).with_name("look_alikes.txt")
"""Letters that look like a Latin one in common fonts, each row led by the letter it looks like."""

# Signs of tags and markers that have doubles.
SIGNS = {
    "<": "\uff1c\ufe64\u2039\u3008\u27e8\u02c2\u1438\u276e",
    ">": "\uff1e\ufe65\u203a\u3009\u27e9\u02c3\u1433\u276f",
    ":": "\uff1a\ufe55\u0589\u05c3\u02d0\u02f8\ua789\u2236",
    "|": "\uff5c\xa6\u2223\u2758\u2502",
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
    range(0x1D400, 0x1D800), range(0x1F130, 0x1F14A), range(0x1F150, 0x1F16A), range(0x1F170, 0x1F18A),
)  # fmt: skip

INVISIBLE = (
    0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0,
    *range(0x180B, 0x1810), *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070),
    *range(0xFE00, 0xFE10), *range(0xFFF9, 0xFFFC),
)  # fmt: skip

TABLE_SIZE = 0x20000
GONE = 0

CONTROL = re.compile(r"[\x00\r\x0b\x0c]")
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});")


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
    if "&" in text:
        _replace_entities(text, plain, _table(look_alikes))
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
    for match in ENTITY.finditer(text):
        character = html.unescape(match[0])
        if len(character) == 1:
            code = ord(character)
            plain[match.start() : match.end()] = GONE
            plain[match.start()] = table[code] if code < TABLE_SIZE else code


@cache
def _table(look_alikes: bool) -> Codes:
    table = np.arange(TABLE_SIZE, dtype=np.uint32)
    for block in (range(0x80), range(0xC0, 0x250), range(0x370, 0x530), range(0x1E00, 0x1F00)):
        table[list(block)] = [_lower(code) for code in block]
    for block in COMPATIBLE:
        table[list(block)] = [_compatible(code) for code in block]
    for sign, doubles in SIGNS.items():
        table[[ord(double) for double in doubles]] = ord(sign)
    if look_alikes:
        _add_look_alikes(table)
    table[list(INVISIBLE)] = GONE
    return table


def _add_look_alikes(table: Codes) -> None:
    for code in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00)):
        base = unicodedata.normalize("NFD", chr(code))[0].lower()
        table[code] = ord(base) if base.isascii() else table[code]
    for row in LOOK_ALIKES.read_text(encoding="utf-8").splitlines():
        letter, doubles = row.split(" ", 1)
        table[[ord(double) for double in doubles]] = ord(letter)


def _lower(code: int) -> int:
    low = chr(code).lower()
    return ord(low) if len(low) == 1 else code


def _compatible(code: int) -> int:
    plain = unicodedata.normalize("NFKC", chr(code)).lower()
    return ord(plain) if len(plain) == 1 else code
