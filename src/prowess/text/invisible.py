"""Remove characters nobody sees, and keep those a script, an emoji or a coloured log needs.

Above stands `sanitise`; below is characters. Each rule is one pass over all places at once,
so the time it takes grows with the text and with nothing else.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

import numpy as np
import numpy.typing as npt

from prowess.text.characters import Codes, decoded, encoded

Flags = npt.NDArray[np.uint8]
Places = npt.NDArray[np.bool_]

FEW_CHARACTERS = 6
"""So many stray invisible characters come from copying; more are a pattern."""

SMALL = 4000
"""Shorter texts are looked through before they are taken apart."""

FLOOD = 50_000
"""More than any honest text of a megabyte has; nothing of such a flood is kept."""

WIDTHLESS = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b"
    "\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
TAGS = "\U000e0000-\U000e007f"
REGION = "\U000e0030-\U000e0039\U000e0061-\U000e007a"

INVISIBLE = re.compile(f"[{WIDTHLESS}{BIDI}\u200c\u200d{SELECTORS}{TAGS}]")
RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
# A selector follows the one character it selects a form of, and these have none.
FORMLESS = '\n -"$-)+-/:-~'

WIDTHLESS_FLAG, BIDI_FLAG, OVERRIDE, JOINER, SELECTOR, TAG, REGION_FLAG, RIGHT_FLAG = (
    1 << n for n in range(8)
)
CLASSES = (
    (WIDTHLESS_FLAG, WIDTHLESS), (BIDI_FLAG, BIDI), (OVERRIDE, "\u202d\u202e"), (JOINER, "\u200c\u200d"),
    (SELECTOR, SELECTORS), (TAG, TAGS), (REGION_FLAG, REGION), (RIGHT_FLAG, RIGHT_TO_LEFT),
)  # fmt: skip
UNSEEN = WIDTHLESS_FLAG | BIDI_FLAG | JOINER | SELECTOR | TAG
SMALL = WIDTHLESS_FLAG | BIDI_FLAG | JOINER
BEYOND = 0xE0200
LAST_TAG, BLACK_FLAG, SOFT_HYPHEN = 0xE007F, 0x1F3F4, 0x00AD

TAG_CHARACTERS = "".join(map(chr, range(0xE0000, 0xE0080)))
FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
TAG_RUN = re.compile(f"\U0001f3f4?[{TAGS}]+")

ESCAPE = re.compile(
    # Colours stay unless they conceal; cursor moves, links and clipboard writes go.
    # The plain ones are passed over at the first look.
    "\x1b(?!\\[(?:[0-7]|[39][0-7])?m)(?:\\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\\\)?"
    "|\\[[0-9;]{0,40}(?:8|38;5;(\\d{1,3});48;5;\\1|3(\\d);4\\2)m"
    "|\\[[34]8;([25](?:;\\d{1,3}){1,3})(?:;|m\x1b\\[)[34]8;\\3m"
    "|\\[[0-?]{0,40}[ -/]{0,4}[@-ln-~]"
    "|(?!\\[[0-9;]{0,40}m))"
)
CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")


def uncover(text: str) -> str:
    """The text without hidden characters and without orders to the terminal."""
    if "\x1b" in text:
        text = ESCAPE.sub("", text) if text.count("\x1b") < FLOOD else text.replace("\x1b", "")
    if CONTROL.search(text):
        text = CONTROL.sub("", text)
    if text.isascii() or (len(text) < SMALL and not INVISIBLE.search(text)):
        return text
    return _without_hidden(text)


def _without_hidden(text: str) -> str:
    codes = encoded(text)
    flags = _flags(codes)
    count = np.count_nonzero(flags & UNSEEN)
    if not count:
        return text
    if count > FLOOD:
        return decoded(codes[flags & UNSEEN == 0])
    for rule in (_runs, _misused):
        codes = codes[~rule(codes, _flags(codes))]
    if np.any(_flags(codes) & TAG):
        codes = encoded(TAG_RUN.sub(_flag, decoded(codes)))
    for rule in (_directions, _strays):
        codes = codes[~rule(codes, _flags(codes))]
    return decoded(codes)


def _flags(codes: Codes) -> Flags:
    return _table()[np.minimum(codes, BEYOND - 1)]


@cache
def _table() -> Flags:
    table = np.zeros(BEYOND, np.uint8)
    for flag, characters in CLASSES:
        table[list(_members(characters))] |= flag
    return table


def _members(characters: str) -> Iterator[int]:
    """The codes of a set of characters as regular expressions write it."""
    for match in re.finditer("(.)(?:-(.))?", characters, re.DOTALL):
        yield from range(ord(match[1]), ord(match[2] or match[1]) + 1)


def _runs(codes: Codes, flags: Flags) -> Places:
    """Three in a row join nothing: they spell something in the unseen."""
    small = flags & SMALL != 0
    run = np.zeros(len(codes), np.bool_)
    if len(codes) > 2:
        three = small[:-2] & small[1:-1] & small[2:]
        for shift in range(3):
            run[shift : len(codes) - 2 + shift] |= three
    return run


def _misused(codes: Codes, flags: Flags) -> Places:
    places = np.flatnonzero(flags & (OVERRIDE | JOINER | SELECTOR | TAG))
    flag, before, after = flags[places], _beside(codes, places, -1), _beside(codes, places, 1)
    # Overrides turn letters around; no script needs them.
    wrong = flag & OVERRIDE != 0
    # Joiners belong between letters of scripts that join, or between emoji.
    wrong |= (flag & JOINER != 0) & ((before < 0x80) | (after < 0x80))
    formless = np.isin(before, list(_members(FORMLESS))) | (_flags(before) & SELECTOR != 0)
    wrong |= (flag & SELECTOR != 0) & (formless | (places == 0))
    # Tag characters spell hidden text, except in the flags of regions.
    lawful = (before == BLACK_FLAG) | (_flags(before) & REGION_FLAG != 0)
    lawful &= (flag & REGION_FLAG != 0) | (codes[places] == LAST_TAG)
    wrong |= (flag & TAG != 0) & ~lawful
    return _at(places[wrong], len(codes))


def _directions(codes: Codes, flags: Flags) -> Places:
    """Marks of direction, where nothing is written from right to left."""
    if np.any(flags & RIGHT_FLAG):
        return np.zeros(len(codes), np.bool_)
    return np.asarray(flags & BIDI_FLAG != 0)


def _strays(codes: Codes, flags: Flags) -> Places:
    places = np.flatnonzero(flags & WIDTHLESS_FLAG)
    before, after = _beside(codes, places, -1), _beside(codes, places, 1)
    inside = (places > 0) & (before < 0x80) | (places < len(codes) - 1) & (after < 0x80)
    places = places[inside]
    if len(places) > FEW_CHARACTERS:
        soft = codes[places] == SOFT_HYPHEN
        parts_word = np.array([_parts_a_word(codes, int(place)) for place in places[soft]], np.bool_)
        places = np.concatenate([places[~soft], places[soft][~parts_word]])
    return _at(places if len(places) > FEW_CHARACTERS else places[:0], len(codes))


def _parts_a_word(codes: Codes, place: int) -> bool:
    """A soft hyphen between syllables is how a page says where a long word may break."""
    around = [int(code) for code in (*codes[max(0, place - 2) : place], *codes[place + 1 : place + 3])]
    return len(around) == 4 and all(chr(code).isalnum() and not chr(code).isdecimal() for code in around)


def _beside(codes: Codes, places: npt.NDArray[np.int64], step: int) -> Codes:
    """The characters before or after these places; 0 at the ends of the text."""
    beside = places + step
    outside = (beside < 0) | (beside >= len(codes))
    return np.where(outside, 0, codes[np.clip(beside, 0, len(codes) - 1)]).astype(np.uint32)


def _at(places: npt.NDArray[np.int64], length: int) -> Places:
    chosen = np.zeros(length, np.bool_)
    chosen[places] = True
    return chosen


def _flag(run: re.Match[str]) -> str:
    """A flag of a region as it is; of any other run of tag characters, only what can be seen."""
    return run[0] if FLAG.fullmatch(run[0]) else run[0].strip(TAG_CHARACTERS)


def visible(text: str) -> str:
    """The text for people: every character nobody sees by its number."""
    return "".join(f"⟦U+{ord(c):04X}⟧" if _is_unseen(c) else c for c in text)


def _is_unseen(character: str) -> bool:
    return character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co")
