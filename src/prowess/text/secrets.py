"""Find credentials that were left in a text: keys, tokens, private keys, passwords in addresses.

Above stands judge in sanitise. The shapes are those the issuers document; a placeholder is no secret.
"""

import base64
import math
import re
import tomllib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from prowess.text.characters import unmasked

PRIVATE_KEY = "a private key"
BASIC = "a name and a password"
WEB_TOKEN = "a signed web token"
SHAPES = Path(__file__).with_name("secret_shapes.toml")
"""What issuers document: how each kind of credential is written."""
WRITTEN = (
    (PRIVATE_KEY, ("private key",),
     r"-----BEGIN (?:[A-Z]{2,9} )?PRIVATE KEY(?: BLOCK)?-----\s+[A-Za-z0-9+/=\s]{40}"),
    (WEB_TOKEN, ("eyj",),
     r"\beyJ[A-Za-z0-9_-]{10,400}\.eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{20,600}"),
    (BASIC, ("authorization",),
     r"(?i)\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?basic\s{1,3}([A-Za-z0-9+/]{12,400})"),
)  # fmt: skip
"""Those that are read in a way of their own."""

PLACEHOLDER = re.compile(
    r"(?i)example|placeholder|your|dummy|sample|fake|test|xxx|\*\*\*|\.\.\.|redacted|changeme|1234|abcd"
    r"|insert|<|password|secret|0000|s6bhdrkqt3|open sesame"
)
READABLE = (WEB_TOKEN, BASIC)
KEY_END = re.compile(r"-----END [^-]{0,40}-----")
DISORDER = 3.0
"""Bits per character below which a string is a word or a pattern, not a key."""


@dataclass(frozen=True, slots=True)
class Secret:
    what: str
    place: int
    end: int


@dataclass(frozen=True, slots=True)
class SecretShape:
    """One kind of credential: what a text has in small letters that holds one, and how it is written."""

    what: str
    signs: tuple[str, ...]
    written: re.Pattern[str]


@cache
def shapes() -> tuple[SecretShape, ...]:
    held = tomllib.loads(SHAPES.read_text(encoding="utf-8"))["shape"]
    told = [(each["what"], tuple(each["signs"]), each["shape"]) for each in held]
    return tuple(SecretShape(what, signs, re.compile(written)) for what, signs, written in (*WRITTEN, *told))


def secrets(text: str) -> tuple[Secret, ...]:
    """Every credential in a text, also one with unseen or wide letters; its value is not in the answer."""
    plain = unmasked(text)
    return tuple(Secret(what, *plain.span(start, end)) for what, start, end in _found(plain.text))


def _found(text: str) -> Iterator[tuple[str, int, int]]:
    endings: list[int] | None = None
    small = text.lower()
    for shape in shapes():
        if not any(sign in small for sign in shape.signs):
            continue
        for match in shape.written.finditer(text):
            if not _is_secret(shape.what, match[match.lastindex or 0]):
                continue
            if shape.what == PRIVATE_KEY:
                if endings is None:
                    endings = [last.end() for last in KEY_END.finditer(text)]
                yield shape.what, match.start(), _end(endings, match)
            else:
                yield shape.what, match.start(), match.end()


def _is_secret(what: str, value: str) -> bool:
    if what in READABLE and PLACEHOLDER.search(_said(what, value)):
        return False
    return not PLACEHOLDER.search(value) and (what == PRIVATE_KEY or _disorder(value) > DISORDER)


def masked(text: str) -> str:
    """The text with a dot for each character of a credential, so that every place stays where it is."""
    for secret in secrets(text):
        text = f"{text[: secret.place]}{'•' * (secret.end - secret.place)}{text[secret.end :]}"
    return text


def without_secrets(text: str) -> str:
    """The text for people: of a credential, only which kind it is."""
    kept, said = len(text), []
    for secret in sorted(secrets(text), key=lambda one: (one.end, one.place), reverse=True):
        if secret.place < kept:
            said += [text[min(secret.end, kept) : kept], f"[{secret.what}]"]
            kept = secret.place
    return text[:kept] + "".join(reversed(said))


def _end(endings: list[int], match: re.Match[str]) -> int:
    """A private key goes on to the line that ends it, or for ever."""
    at = bisect_left(endings, match.end())
    return endings[at] if at < len(endings) else len(match.string)


def _said(what: str, token: str) -> str:
    """What a token says to whoever decodes it; one from the textbooks says that it is an example."""
    payload = token.split(".")[1] if what == WEB_TOKEN else token
    whole = payload[: len(payload) - (len(payload) % 4 == 1)]
    return base64.urlsafe_b64decode(whole + "=" * (-len(whole) % 4)).decode("utf-8", "replace")


def _disorder(value: str) -> float:
    counts = Counter(value)
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())
