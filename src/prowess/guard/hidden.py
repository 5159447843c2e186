"""Bring out what a reader would not see: comments, hidden markup, odd letters, spelled-out words.

Above stands judge in sanitise, which reads what is found here as if it stood in the open, and more
severely. Below are encodings and characters.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from prowess.guard.encodings import encoded_prose
from prowess.text.characters import fold

MAX_HIDDEN_PARTS = 40

MAX_HIDDEN_LENGTH = 4000
COMMENTS = (("<!--", "-->"), ("{{!--", "--}}"), ("{#", "#}"), ("/*", "*/"))
LINK_NOTE = re.compile(r"\[(?://|\^?\w{1,20})\]:\s?#?\s?(?:\(([^\n]{6,2000})\)|\"([^\n]{6,2000})\")")
TITLE = re.compile(r"\]\([^\s()]{1,400}\s+[\"']([^\"'\n]{20,1000})[\"']\)|!\[([^\]\n]{40,1000})\]\(")
ATTRIBUTE = re.compile(
    r"\b(?:aria-label|alt|title|data-[\w-]{2,30}|content|placeholder|summary)\s?=\s?"
    r"(?:\"([^\"\n]{30,1000})\"|'([^'\n]{30,1000})')",
    re.IGNORECASE,
)
INVISIBLE_ELEMENT = re.compile(
    r"<\w{1,20}[^<>]{0,200}(?:display:\s?none|visibility:\s?hidden|font-size:\s?[01](?:px|pt|em)?\b"
    r"|opacity:\s?0(?:\.0)?\b"
    r"|color:\s?(?:#fff(?:fff)?|white|transparent)|left:\s?-\d{3,}|\bhidden\b)[^<>]{0,200}>([^<]{6,2000})",
    re.IGNORECASE,
)
FOLDED = re.compile(
    r"<(?:details|template|noscript|object|desc|metadata)\b[^<>]{0,100}>([^<]{20,2000})</", re.IGNORECASE
)
SPELLED = re.compile(r"(?:(?<![\w])\w(?: {2,3}|[ ._*-])){10,400}\w?")
DOTTED = re.compile(r"\w[._*-]\w[._*-]\w")
SPLIT = re.compile("(?<=\\w)[\u00a0\u2000-\u200a\u202f](?=\\w)")
EMPHASISED = re.compile(r"(?<=\w)(?:\*\*|__|\*|~~|\u200b|<b>|</b>|<i>|</i>)(?=\w)")
JOINING = re.compile(
    r"concatenat|combine|put together|assemble|\bjoin(?:s|ed|ing)?\b|\b[a-z] ?\+ ?[a-z]\b|in sequence",
    re.IGNORECASE,
)
STRING = re.compile(r"[=:]\s?\"([^\"\n]{3,400})\"")
JOINED = re.compile(r"(?<=[\"'])\s?(?:\+|,|\.|\|\|)\s?(?=[\"'])")
LEET = str.maketrans("0134579$@!|", "oieastgsail")
LEET_WORD = re.compile(r"\b(?=\w*[a-z])(?=\w*[013457@$])[\w@$]{4,14}\b")
OTHER_ALPHABET = r"[\u0370-\u052f\u13a0-\u13ff]"
MIXED_WORD = re.compile(
    rf"[a-zA-Z]{{1,20}}{OTHER_ALPHABET}[^\W\d_]{{1,20}}|{OTHER_ALPHABET}{{1,20}}[a-zA-Z][^\W\d_]{{1,20}}"
)
STYLED_WORD = re.compile("[\uff21-\uff5a\U0001d400-\U0001d7ff\u24b6-\u24e9\U0001f130-\U0001f189]{3,40}")
IDEOGRAPH = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
TAG_TEXT = re.compile("[\U000e0020-\U000e007e]{4,4000}")
SELECTOR_TEXT = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{8,4000}")
FLAG = "\U0001f3f4"


@dataclass(frozen=True, slots=True)
class Hidden:
    """Something a text says where people do not look; `weight` is how odd the hiding is by itself."""

    reason: str
    said: str
    place: int
    weight: int


def hidden(text: str) -> tuple[Hidden, ...]:
    """All that a text hides, markup first."""
    readers = (_in_comments, _in_markup, _in_characters, _in_encodings, _in_spelling)
    return tuple(found for reader in readers for found in reader(text))


def _in_comments(text: str) -> Iterator[Hidden]:
    for opening, closing in COMMENTS:
        end = 0
        for _ in range(MAX_HIDDEN_PARTS):
            start = text.find(opening, end)
            end = text.find(closing, start + len(opening))
            if start < 0 or end < 0:
                break
            said = text[start + len(opening) : end][:MAX_HIDDEN_LENGTH]
            yield Hidden("says it in a comment", said, start, 0 if opening == "/*" else 1)


def _in_markup(text: str) -> Iterator[Hidden]:
    if "<" in text or "[" in text or "{" in text:
        for reason, weight, pattern in MARKUP:
            for match in islice(pattern.finditer(text), MAX_HIDDEN_PARTS):
                said = next((group for group in match.groups() if group), "")
                yield Hidden(reason, said, match.start(), weight)


MARKUP = (
    ("says it in a note that is not rendered", 2, LINK_NOTE),
    ("says it in the title of a link", 1, TITLE),
    ("says it in an attribute", 1, ATTRIBUTE),
    ("says it in an element nobody sees", 2, INVISIBLE_ELEMENT),
    ("says it in a part that is folded away", 1, FOLDED),
)


def _in_characters(text: str) -> Iterator[Hidden]:
    if text.isascii():
        return
    for match in islice(TAG_TEXT.finditer(text), MAX_HIDDEN_PARTS):
        if text[match.start() - 1 : match.start()] != FLAG:
            said = "".join(chr(ord(c) - 0xE0000) for c in match[0])
            yield Hidden("says it in invisible tag characters", said, match.start(), 3)
    if selectors := SELECTOR_TEXT.search(text):
        yield Hidden("carries data in invisible selectors", _selected(selectors[0]), selectors.start(), 3)
    mixed = [m for m in islice(MIXED_WORD.finditer(text), MAX_HIDDEN_PARTS) if fold(m[0]).text.isascii()]
    if len(mixed) >= 3:
        yield Hidden("mixes alphabets inside words", fold(text).text, mixed[0].start(), 3)
    styled = list(islice(STYLED_WORD.finditer(text), MAX_HIDDEN_PARTS))
    if len(styled) >= 3 and not IDEOGRAPH.search(text):
        yield Hidden("writes in letters that only look plain", fold(text).text, styled[0].start(), 2)


def _selected(run: str) -> str:
    """The bytes that variation selectors can carry, one each."""
    numbers = [ord(c) - 0xFE00 if ord(c) < 0x10000 else ord(c) - 0xE0100 + 16 for c in run]
    return bytes(n for n in numbers if n < 256).decode("utf-8", "ignore")


def _in_encodings(text: str) -> Iterator[Hidden]:
    for found in encoded_prose(text):
        yield Hidden(f"says it in {found.kind}", found.said, found.start, 3 if found.odd else 1)


def _in_spelling(text: str) -> Iterator[Hidden]:
    if len(SPLIT.findall(text)) >= 10:
        yield Hidden("spells it letter by letter", SPLIT.sub("", text), 0, 2)
    for match in islice(SPELLED.finditer(text), MAX_HIDDEN_PARTS):
        # Letters that are parted by dots leave the blanks to part the words.
        words = re.split(r" +" if DOTTED.match(match[0]) else r" {2,}", match[0])
        said = " ".join(re.sub(r"[ ._*-]", "", word) for word in words)
        yield Hidden("spells it letter by letter", said, match.start(), 2 if len(words) > 3 else 0)
    if len(EMPHASISED.findall(text)) >= 3:
        yield Hidden("breaks words with markup", EMPHASISED.sub("", text), 0, 0)
    if len(JOINED.findall(text)) >= 2:
        said = re.sub(r"[\"']", "", JOINED.sub("", text))
        yield Hidden("is put together from pieces", said, 0, 1 if JOINING.search(text) else 0)
    strings = STRING.findall(text)
    if len(strings) >= 2 and JOINING.search(text):
        yield Hidden("is put together from pieces", "".join(strings), 0, 1)
    if len(LEET_WORD.findall(text.lower())) >= 2:
        yield Hidden("writes digits for letters", text.lower().translate(LEET), 0, 0)
