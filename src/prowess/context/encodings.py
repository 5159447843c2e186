"""Read what is written in another alphabet: base64, hexadecimal, escapes, binary, shifted letters.

Above stand the door in sanitise, which takes encoded voices out, and hidden, which hands what was
decoded to the judge. Only prose counts: a digest, a key or a picture decodes to no words.
"""

import base64
import binascii
import codecs
import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from urllib.parse import unquote

MOST = 64
"""How many encoded stretches of one text are read; nobody needs more, and time is bounded."""
LONGEST = 20_000
SHORTEST = 20

Decoding = Callable[[str], str]

# Each begins with the characters it is made of: the search then passes over everything else quickly.
BASE64 = re.compile(
    r"[A-Za-z0-9+/_-]{20,}(?:\r?\n[A-Za-z0-9+/_-]{20,})*(?:\r?\n[A-Za-z0-9+/_-]{1,80}=)?={0,2}"
)
HEXADECIMAL = re.compile(r"[0-9a-fA-F]{2}(?:[ :,]?[0-9a-fA-F]{2}){13,8000}")
ESCAPED = re.compile(r"(?:\\u\{?00[2-7][0-9a-fA-F]\}?|\\x[2-7][0-9a-fA-F]|\\[01][0-7]{2}){8,8000}")
ENTITIES = re.compile(r"(?:&#(?:x[2-7][0-9a-fA-F]|3[2-9]|[4-9]\d|1[01]\d|12[0-6]);){8,8000}")
BINARY = re.compile(r"(?<!\d)[01]{8}(?:[ ,]?[01]{8}){7,4000}(?!\d)")
PERCENT = re.compile(r"(?:[\w.,:;'/?=-]{0,30}%[2-7][0-9a-fA-F]){5,8000}[\w.,:;'/?=-]{0,30}")
BASE32 = re.compile(r"\b[A-Z2-7]{32,8000}={0,6}")
DECIMAL = re.compile(r"(?<![\d.])(?:(?:3[2-9]|[4-9]\d|1[01]\d|12[0-6])[ ,]{1,2}){15,4000}\d{2,3}(?![\d.])")
MORSE_CODE = re.compile(r"(?:[.-]{1,5} (?:/ )?){7,800}[.-]{1,5}")
WORD = re.compile(r"[a-z]{3,20}")

MARKS = (
    "ignore", "previous", "instructions", "system", "prompt", "user", "secret", "every", "before", "tool",
    "mode", "must", "with", "from", "that", "send", "the", "and", "this", "you", "are", "now", "all",
)  # fmt: skip
"""Words that betray shifted letters: three of one shift, one of them long, are no accident."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A stretch of a text that says something else when decoded."""

    kind: str
    start: int
    end: int
    said: str

    @property
    def odd(self) -> bool:
        """Whether nobody writes plain letters like this for an honest reason."""
        return self.kind not in ("base64", "hexadecimal", "percent")


def encoded_blocks(text: str) -> tuple[Encoded, ...]:
    """Blocks of base64 and hexadecimal without gaps that decode to words: what can be cut out whole."""
    if max(map(len, text.split()), default=0) < SHORTEST:
        return ()
    found = [one for kind in KINDS[:2] for one in _of_kind(text, *kind)]
    return tuple(sorted(found, key=lambda one: one.start))


def without_blocks(text: str, instead: str) -> str:
    """The text without any block of base64 or hexadecimal, whatever it says."""
    for _, _, pattern, _ in KINDS[:2]:
        text = pattern.sub(instead, text)
    return text


def encoded_prose(text: str) -> tuple[Encoded, ...]:
    """Every encoded stretch that decodes to words, in order."""
    return tuple(sorted(islice(_encoded(text), MOST), key=lambda found: found.start))


def _encoded(text: str) -> Iterator[Encoded]:
    for kind in KINDS:
        yield from _of_kind(text, *kind)
    yield from _shifted(text)


def _of_kind(
    text: str, kind: str, sign: str, pattern: re.Pattern[str], decode: Decoding
) -> Iterator[Encoded]:
    if sign in text:
        for match in islice(pattern.finditer(text), 4 * MOST):
            said = decode(match[0][:LONGEST])
            # Encoded twice is still encoded.
            said = decode(said) or said if said and pattern.fullmatch(said) else said
            if reads_as_prose(said):
                yield Encoded(kind, match.start(), match.end(), said)


def reads_as_prose(text: str) -> bool:
    """Words with spaces between them, nearly all letters."""
    if len(text) < 11 or not text.replace("\n", " ").replace("\t", " ").replace("\r", " ").isprintable():
        return False
    letters = sum(c.isalpha() or c in " .,'!?:;\n" for c in text)
    words = [word for word in text.split() if len(word) < 25]
    return letters > 0.65 * len(text) and len(words) >= 2


def _from_base64(text: str) -> str:
    compact = re.sub(r"\s", "", text).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(compact[: len(compact) // 4 * 4 or None], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return ""


def _from_base32(text: str) -> str:
    letters = text.rstrip("=")
    try:
        return base64.b32decode(letters[: len(letters) // 8 * 8]).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _from_hexadecimal(text: str) -> str:
    try:
        return bytes.fromhex(re.sub(r"0x|[ :,]", "", text)).decode()
    except ValueError:
        return ""


def _from_escapes(text: str) -> str:
    return re.sub(
        r"\\(?:u\{?00|x)([0-9a-fA-F]{2})\}?|\\([01][0-7]{2})",
        lambda m: chr(int(m[1], 16) if m[1] else int(m[2], 8)),
        text,
    )


def _from_binary(text: str) -> str:
    bits = re.sub(r"[ ,]", "", text)
    return "".join(chr(int(bits[at : at + 8], 2)) for at in range(0, len(bits), 8))


def _from_decimal(text: str) -> str:
    return "".join(chr(int(number)) for number in re.findall(r"\d+", text))


def _from_morse(text: str) -> str:
    return " ".join("".join(MORSE.get(sign, "") for sign in word.split()) for word in re.split(r"[/|]", text))


MORSE = {
    ".-": "a", "-...": "b", "-.-.": "c", "-..": "d", ".": "e", "..-.": "f", "--.": "g", "....": "h",
    "..": "i", ".---": "j", "-.-": "k", ".-..": "l", "--": "m", "-.": "n", "---": "o", ".--.": "p",
    "--.-": "q", ".-.": "r", "...": "s", "-": "t", "..-": "u", "...-": "v", ".--": "w", "-..-": "x",
    "-.--": "y", "--..": "z",
}  # fmt: skip

KINDS = (
    ("base64", "", BASE64, _from_base64),
    ("hexadecimal", "", HEXADECIMAL, _from_hexadecimal),
    ("escapes", "\\", ESCAPED, _from_escapes),
    ("entities", "&#", ENTITIES, html.unescape),
    ("binary", "0", BINARY, _from_binary),
    ("percent", "%", PERCENT, unquote),
    ("morse", "/", MORSE_CODE, _from_morse),
    ("decimal", "", DECIMAL, _from_decimal),
    ("base32", "", BASE32, _from_base32),
)


def _shifted(text: str) -> Iterator[Encoded]:
    """Rot13 and its relatives, and words written backwards."""
    sample = text[:LONGEST].lower()
    words = set(WORD.findall(sample))
    for shift in range(1, 26):
        marks = words & _shifted_marks(shift)
        if len(marks) >= 3 and max(map(len, marks)) >= 4:
            yield Encoded("shifted letters", 0, len(text), shifted(sample, 26 - shift))
    backwards = {word for word in MARKS if word[::-1] in words}
    if len(backwards) >= 3 and max(map(len, backwards)) >= 4:
        yield Encoded("reversed letters", 0, len(text), sample[::-1])


@cache
def _shifted_marks(shift: int) -> frozenset[str]:
    return frozenset(shifted(word, shift) for word in MARKS)


def shifted(text: str, by: int) -> str:
    if by == 13:
        return codecs.encode(text, "rot13")
    return "".join(chr((ord(c) - 97 + by) % 26 + 97) if "a" <= c <= "z" else c for c in text)
