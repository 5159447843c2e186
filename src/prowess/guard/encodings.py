"""Read what is written in another alphabet: base64, hexadecimal, escapes, binary, shifted letters.

Above stand `sanitise`, which takes encoded voices out, and hidden, which hands what was
decoded to the judge. For the judge only prose counts: a digest, a key or a picture decodes to no words.
The door reads all base64 and hexadecimal of a text at once, wherever it begins.
"""

import base64
import binascii
import html
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from prowess.guard.alphabets import from_binary, from_decimal, from_escapes, from_morse
from prowess.guard.turned import turned

Octets = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]
Chosen = npt.NDArray[np.bool_]

MAX_DECODED_RUNS = 64
"""How many encoded stretches of one text are read; nobody needs more, and time is bounded."""
MAX_DECODED_LENGTH = 20_000

MIN_ENCODED_LENGTH = 6
"""How many readable characters in a row say something; `<user>` has six."""
SMALL = 4000
"""In shorter texts a look at the words is quicker than reading all as if it were encoded."""
LETTER_RUN = re.compile(r"[A-Za-z0-9+/_\r\n-]{8,}")
INDENT = re.compile(r"\n[ \t]+")
DIGIT_RUN = re.compile(r"[0-9a-fA-F][0-9a-fA-FxX \t\r\n,:;\\]{11,}")
TWICE = 2
"""How often one encoding may stand in another."""

Decoding = Callable[[str], str]

# Each begins with the characters it is made of: the search then passes over everything else quickly.
BASE64 = re.compile(
    r"[A-Za-z0-9+/_-]{20,}(?:\r?\n[A-Za-z0-9+/_-]{20,})*(?:\r?\n[A-Za-z0-9+/_-]{1,80}=)?={0,2}"
)
HEXADECIMAL = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{2}(?:[ :,]?[0-9a-fA-F]{2}){13,8000}")
ESCAPED = re.compile(r"(?:(?:\\u\{?[0-9a-fA-F]{4}\}?|\\x[2-7][0-9a-fA-F]|\\[01][0-7]{2}) ?){5,8000}")
ENTITIES = re.compile(r"(?:&#(?:x[0-9a-fA-F]{2,5}|\d{2,6});[ ,.]?){8,8000}")
BINARY = re.compile(r"(?<!\d)[01]{8}(?:[ ,]?[01]{8}){7,4000}(?!\d)")
PERCENT = re.compile(r"(?:[\w.,:;'/?=-]{0,30}%[2-9A-Fa-f][0-9a-fA-F]){2,8000}[\w.,:;'/?=-]{0,30}")
SHORT_BASE64 = re.compile(r"(?<![\w+/-])(?=[a-z0-9+/]*[A-Z])[A-Za-z0-9+/]{8,19}={0,2}(?![\w+/-])")
SHORT_HEXADECIMAL = re.compile(r"(?<!\w)(?:[2-7][0-9a-fA-F]){5,13}(?!\w)")
ANNOUNCED = re.compile(
    r"base.?64|\bhex|decod|decipher|decrypt|unicode sequence|rot.?13|caesar|cipher|b64", re.IGNORECASE
)
"""Words beside which also a short stretch is worth decoding."""
PACKED = "H4sI"
"""How base64 of gzip begins."""
MOST_UNPACKED = 20_000
BASE32 = re.compile(r"\b[A-Z2-7]{32,8000}={0,6}")
DECIMAL = re.compile(r"(?<![\d.])(?:(?:3[2-9]|[4-9]\d|1[01]\d|12[0-6])[ ,]{1,2}){15,4000}\d{2,3}(?![\d.])")
MORSE_CODE = re.compile(r"(?:[.-]{1,5} (?:/ )?){7,800}[.-]{1,5}")
UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{4}")
"""Scripts that write no blanks, or few."""

PLAIN_KINDS = ("base64", "hexadecimal", "percent", "shifted letters", "reversed letters")


@dataclass(frozen=True, slots=True)
class Encoded:
    """A stretch of a text that says something else when decoded."""

    kind: str
    start: int
    end: int
    said: str

    @property
    def odd(self) -> bool:
        """Whether nobody writes this for an honest reason: plain letters as numbers.

        Letters of other languages are written so by programs, and shifted ones by people who play.
        """
        return self.kind not in PLAIN_KINDS and self.said.isascii()


@dataclass(frozen=True, slots=True)
class Spoken:
    """What base64 and hexadecimal in a text say, one stretch on each line, and where each stands."""

    text: str
    lines: Places
    """Where in `text` each stretch begins."""
    starts: Places
    ends: Places
    """Where in the original each stretch begins and ends."""

    def span(self, place: int) -> tuple[int, int]:
        """The encoded stretch that says what stands at a place of `text`."""
        at = max(0, int(np.searchsorted(self.lines, place, "right")) - 1)
        return int(self.starts[at]), int(self.ends[at])


NOTHING = Spoken("", *(np.zeros(0, np.int64) for _ in range(3)))


def spoken(text: str, depth: int = TWICE) -> Spoken:
    """All that is written in base64 or hexadecimal and can be read, also what is encoded twice."""
    if len(text) < SMALL and not _may_be_encoded(text):
        return NOTHING
    # A stop behind it all, so that every stretch has an end.
    signs = text.encode("latin-1", "replace") + b"."
    once = _joined([_base64_said(signs), _hexadecimal_said(signs)])
    if depth > 1 and once.text:
        again = spoken(once.text, depth - 1)
        if again.text:
            starts, ends = np.array(
                [_outer(once, *span) for span in zip(again.starts, again.ends, strict=True)]
            ).T
            return _joined([once, Spoken(again.text, again.lines, starts, ends)])
    return once


def _may_be_encoded(text: str) -> bool:
    """Whether there are digits in a row, or letters in no common order of large and small ones."""
    mixed = any(not run[1:].islower() for run in LETTER_RUN.findall(INDENT.sub("\n", text)))
    return mixed or DIGIT_RUN.search(text) is not None


def _outer(once: Spoken, start: int, end: int) -> tuple[int, int]:
    return once.span(start)[0], once.span(max(start, end - 1))[1]


def _joined(parts: Sequence[Spoken]) -> Spoken:
    parts = [part for part in parts if part.text]
    if len(parts) < 2:
        return parts[0] if parts else NOTHING
    begins = np.cumsum([0, *(len(part.text) + 1 for part in parts[:-1])])
    return Spoken(
        "\n".join(part.text for part in parts),
        np.concatenate([part.lines + begin for part, begin in zip(parts, begins, strict=True)]),
        np.concatenate([part.starts for part in parts]),
        np.concatenate([part.ends for part in parts]),
    )


def _base64_said(signs: bytes) -> Spoken:
    # A line that was wrapped goes on behind the break, and behind the blanks that indent it.
    for blanks in (8, 4, 2, 1):
        signs = signs.replace(b"\n" + b" " * blanks, b"\n" * (blanks + 1))
    digits = _Digits.of(signs, BASE64_VALUES, MIN_ENCODED_LENGTH * 4 // 3)
    # It may begin anywhere, so it is read from each of four digits on.
    size = (len(digits.values) + 7) // 4 * 4
    padded = np.append(digits.values, np.zeros(12, np.uint8))
    quads = np.concatenate([padded[shift : shift + size] for shift in range(4)]).reshape(-1, 4)
    a, b, c, d = (np.ascontiguousarray(column) for column in quads.T)
    triples = np.empty((size, 3), np.uint8)
    triples[:, 0] = a << 2 | b >> 4
    triples[:, 1] = b << 4 | c >> 2
    triples[:, 2] = c << 6 | d
    octets, whole = triples.reshape(-1), size // 4 * 3
    for shift in range(4):
        at = digits.stops[digits.stops >= shift] - shift
        for touched in (FIRST_TOUCHED, LAST_TOUCHED):
            octets[shift * whole + at // 4 * 3 + touched[at % 4]] = UNREADABLE
    return _readable(octets, digits, lambda at: at // whole + at % whole // 3 * 4 + at % 3)


def _hexadecimal_said(signs: bytes) -> Spoken:
    # `0x` is no pair of digits.
    signs = signs.replace(b"0x", b"  ").replace(b"0X", b"  ")
    digits = _Digits.of(signs, HEXADECIMAL_VALUES, MIN_ENCODED_LENGTH * 2)
    size = (len(digits.values) + 3) // 2 * 2
    padded = np.append(digits.values, np.zeros(4, np.uint8))
    pairs = np.concatenate([padded[shift : shift + size] for shift in range(2)]).reshape(-1, 2)
    octets, whole = pairs[:, 0] << 4 | pairs[:, 1], size // 2
    for shift in range(2):
        octets[shift * whole + (digits.stops[digits.stops >= shift] - shift) // 2] = UNREADABLE
    return _readable(octets, digits, lambda at: at // whole + at % whole * 2)


@dataclass(frozen=True, slots=True)
class _Digits:
    """The digits of all stretches that are long enough, and where each stands."""

    values: Octets
    places: Places
    stops: Places
    """Where a stretch ends; whatever is read across such a place is no text."""

    @classmethod
    def of(cls, signs: bytes, table: bytes, shortest: int) -> "_Digits":
        values = np.frombuffer(signs.translate(table), np.uint8)
        starts, ends = _runs(values < NO_VALUE)
        chosen = ends - starts >= shortest
        digits, places = _gathered(values, starts[chosen], ends[chosen] + 1)
        if (gaps := digits == GAP).any():
            digits, places = digits[~gaps], places[~gaps]
        stops = np.flatnonzero(digits == NO_VALUE)
        digits[stops] = 0
        return cls(digits, places, stops)


def _runs(member: Chosen) -> tuple[Places, Places]:
    """Where stretches of members begin and end; the last character is none."""
    edges = np.flatnonzero(member[1:] != member[:-1]) + 1
    edges = np.append(0, edges) if member[0] else edges
    return edges[::2], edges[1::2]


def _gathered(values: Octets, starts: Places, ends: Places) -> tuple[Octets, Places]:
    """The values of these stretches, one behind the other, and where each stands."""
    sizes = ends - starts
    before = np.cumsum(sizes) - sizes
    places = np.arange(int(sizes.sum())) + np.repeat(starts - before, sizes)
    return values[places], places


def _readable(octets: Octets, digits: _Digits, digit: Callable[[Places], Places]) -> Spoken:
    """The stretches of octets that are text; of wide characters, the halves that carry nothing go."""
    if not len(digits.stops):
        return NOTHING
    kept = None if octets.all() else np.flatnonzero(octets)
    octets = np.append(octets if kept is None else octets[kept], np.uint8(0))
    if len(octets) <= MIN_ENCODED_LENGTH:
        return NOTHING
    good = _is_text(octets)
    enough = good[: 1 - MIN_ENCODED_LENGTH].copy()
    for step in range(1, MIN_ENCODED_LENGTH):
        enough &= good[step : len(good) - MIN_ENCODED_LENGTH + 1 + step]
    starts, ends = _runs(np.append(enough, False))
    if not len(starts):
        return NOTHING
    ends = ends + MIN_ENCODED_LENGTH - 1
    octets[ends] = ord("\n")
    chosen, _ = _gathered(octets, starts, ends + 1)
    lines = np.cumsum(ends + 1 - starts) - (ends + 1 - starts)
    text = chosen.tobytes().decode()
    if not text.isascii():
        lines = (np.cumsum(chosen & 0xC0 != 0x80) - 1)[lines]
    first, final = (starts, ends - 1) if kept is None else (kept[starts], kept[ends - 1])
    return Spoken(text, lines, digits.places[digit(first)], digits.places[digit(final) + 1] + 1)


def _is_text(octets: Octets) -> Chosen:
    """Which octets are plain characters, or part of a longer one."""
    good: Chosen = (octets >= 32) & (octets < 127) | (octets == 9) | (octets == 10) | (octets == 13)
    inner = octets & 0xC0 == 0x80
    for size, leads in (
        (2, (octets >= 0xC2) & (octets < 0xE0)),
        (3, (octets > 0xE0) & (octets < 0xF0) & (octets != 0xED)),
        (4, (octets == 0xF0) & np.append(octets[1:] >= 0x90, False)),
    ):
        whole = leads[: 1 - size].copy()
        for step in range(1, size):
            whole &= inner[step : len(inner) - size + 1 + step]
        for step in range(size):
            good[step : len(good) - size + 1 + step] |= whole
    return good


def encoded_prose(text: str) -> tuple[Encoded, ...]:
    """Every encoded stretch that decodes to words, in order."""
    return tuple(sorted(islice(_encoded(text), MAX_DECODED_RUNS), key=lambda found: found.start))


def _encoded(text: str) -> Iterator[Encoded]:
    for kind in KINDS:
        yield from _of_kind(text, *kind)
    sample = text[:MAX_DECODED_LENGTH].lower()
    for how, said in turned(sample, announced=ANNOUNCED.search(sample) is not None):
        yield Encoded(how, 0, len(text), said)
    if ANNOUNCED.search(text):
        yield from _announced(text)


def _announced(text: str) -> Iterator[Encoded]:
    """Short stretches in a text that speaks of decoding: one word is enough there."""
    for kind, pattern, decode in (
        ("base64", SHORT_BASE64, _from_base64),
        ("hexadecimal", SHORT_HEXADECIMAL, _from_hexadecimal),
    ):
        for match in islice(pattern.finditer(text), MAX_DECODED_RUNS):
            said = decode(match[0])
            if len(said) >= MIN_ENCODED_LENGTH - 1 and said.isascii() and said.replace(" ", "").isalpha():
                yield Encoded(kind, match.start(), match.end(), said)


def _of_kind(
    text: str, kind: str, sign: str, pattern: re.Pattern[str], decode: Decoding
) -> Iterator[Encoded]:
    if sign in text:
        for match in islice(pattern.finditer(text), 4 * MAX_DECODED_RUNS):
            said = decode(match[0][:MAX_DECODED_LENGTH])
            # Encoded twice is still encoded.
            said = decode(said) or said if said and pattern.fullmatch(said) else said
            if reads_as_prose(said) or (kind == "escapes" and said.strip().isalpha()):
                yield Encoded(kind, match.start(), match.end(), said)


def reads_as_prose(text: str) -> bool:
    """Words with spaces between them, nearly all letters."""
    shortest = 6 if UNSPACED.search(text) else 11
    if (
        len(text) < shortest
        or not text.replace("\n", " ").replace("\t", " ").replace("\r", " ").isprintable()
    ):
        return False
    letters = sum(c.isalpha() or c in " .,'!?:;\n" or not c.isascii() for c in text)
    words = [word for word in text.split() if len(word) < 25]
    return letters > 0.65 * len(text) and (len(words) >= 2 or UNSPACED.search(text) is not None)


def _from_base64(text: str) -> str:
    compact = re.sub(r"\s", "", text).replace("-", "+").replace("_", "/").rstrip("=")
    # Of an unfinished group of four nothing is lost; a single digit of one says nothing.
    whole = compact[: len(compact) - (len(compact) % 4 == 1)]
    try:
        content = base64.b64decode(whole + "=" * (-len(whole) % 4), validate=True)
        return (_unpacked(content) if text.startswith(PACKED) else content).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError, zlib.error):
        return ""


def _unpacked(content: bytes) -> bytes:
    """What was packed by gzip, as far as it is read at all."""
    return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(content, MOST_UNPACKED)


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


KINDS = (
    ("base64", "", BASE64, _from_base64),
    ("hexadecimal", "", HEXADECIMAL, _from_hexadecimal),
    ("escapes", "\\", ESCAPED, from_escapes),
    ("entities", "&#", ENTITIES, html.unescape),
    ("binary", "0", BINARY, from_binary),
    ("percent", "%", PERCENT, unquote),
    ("morse", "/", MORSE_CODE, from_morse),
    ("decimal", "", DECIMAL, from_decimal),
    ("base32", "", BASE32, _from_base32),
)


UNREADABLE = 1
# Of three octets in four digits, the first and the last that each digit is part of.
FIRST_TOUCHED, LAST_TOUCHED = np.array([0, 0, 1, 2]), np.array([0, 1, 2, 2])
NO_VALUE, GAP = 255, 64
"""What is neither a digit nor between digits, and what may stand between digits."""


def _valued(gaps: bytes, *alphabets: bytes) -> bytes:
    """A table that gives each character its place in an alphabet."""
    values = bytearray([NO_VALUE]) * 256
    for gap in gaps:
        values[gap] = GAP
    for alphabet in alphabets:
        for at, sign in enumerate(alphabet):
            values[sign] = at
    return bytes(values)


LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
BASE64_VALUES = _valued(b"\r\n", LETTERS + b"+/", LETTERS + b"-_")
HEXADECIMAL_VALUES = _valued(b" \t\r\n,:;\\xX", b"0123456789abcdef", b"0123456789ABCDEF")
