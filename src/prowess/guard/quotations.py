"""Find what a text shows rather than says: code, quotations, and the frontmatter above it.

Above stand roles, which leaves code alone, and signals, which weighs a quotation less than a statement.
Every reader here passes over the text once.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path

from prowess.word_lists import words_in

FRONTMATTER = re.compile(
    r"\ufeff?---[ \t]*\r?\n(?:(?!---[ \t]*\r?$)[^\n]*\n)*?---[ \t]*\r?(?:\n[\r\n]*|\Z)", re.MULTILINE
)
KEY_LINE = re.compile(r"^([A-Za-z_][\w.-]*)[ \t]*:(?=\s)", re.MULTILINE)
KEYS = frozenset(
    ("name", "title", "description", "id", "version", "tags", "author", "date", "license", "kind")
)
# A line ends for a reader also where it does not for a regular expression.
BREAKS = r"\n\r\x0b\x0c\x85\u2028\u2029"
FENCE = re.compile(rf"^([ \t>]{{0,6}}(?:[-*+][ \t]+)?)(`{{3,}}|~{{3,}})([^`{BREAKS}]*)\r?$", re.MULTILINE)
INLINE = re.compile(rf"(?<![`\\])(`{{1,2}})(?!`)[^`{BREAKS}]{{1,600}}?(?<!`)\1(?!`)")
QUOTED = re.compile(
    # The value of an attribute or of a JSON key is said, not quoted.
    r"(?<!=)(?<!\":)(?<!\": )\"[^\"\n]{3,400}\"|\u201c[^\u201d\n]{3,400}\u201d|\xab[^\xbb\n]{3,400}\xbb"
    r"|\u201e[^\u201c\u201d\n]{3,400}[\u201c\u201d]|\u300c[^\u300d\n]{3,400}\u300d"
    r"|(?<![\w])'(?:[^'\n]|(?<=\w)'(?=\w)){3,400}'(?!\w)|\u2018[^\u2019\n]{3,400}\u2019(?!\w)"
)
LEFT_QUOTE = re.compile(r"\n(?![ \t]{0,6}>)(?=[^\n])")
LEFT_LIST = re.compile(r"\n(?![ \t])(?=[^\s])")
CELL = re.compile(r"^[ \t]*\|[^\n]*\|[ \t]*$", re.MULTILINE)
BLOCKQUOTE = re.compile(r"^[ \t]{0,3}>[^\n]*$", re.MULTILINE)


ATTACK_WORDS = Path(__file__).with_name("attack_words.txt")
MOSTLY = 0.9
FLOOD = 5000
"""More blocks of code than any honest text has; what lies behind them is not taken for code."""


@dataclass(frozen=True, slots=True)
class Spans:
    """Stretches of a text, in order and apart from one another."""

    starts: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()

    @classmethod
    def of(cls, stretches: Iterable[tuple[int, int]]) -> "Spans":
        merged: list[tuple[int, int]] = []
        for start, end in sorted(stretches):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        return cls(tuple(s for s, _ in merged), tuple(e for _, e in merged))

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(zip(self.starts, self.ends, strict=True))

    def hold(self, start: int, end: int) -> bool:
        """Whether one of them holds this whole stretch."""
        at = bisect_right(self.starts, start) - 1
        return at >= 0 and end <= self.ends[at]

    def holding(self, start: int, end: int) -> tuple[int, int] | None:
        """The one that holds this whole stretch."""
        at = bisect_right(self.starts, start) - 1
        return (self.starts[at], self.ends[at]) if self.hold(start, end) else None


@dataclass(frozen=True, slots=True)
class QuotedSpans:
    quotations: Spans = Spans()
    all: Spans = Spans()
    """The quotations and the code."""

    def excuse(self, text: str, start: int, end: int) -> bool:
        """Whether a document shows this stretch rather than says it.

        In quotation marks and in a line of code it always does. A block of code is a place to hide an order
        in, unless the document speaks of attacks.
        """
        block = self.all.holding(start, end)
        if block is None:
            return False
        is_block = "\n" in text[slice(*block)] and not self.quotations.hold(start, end)
        return not is_block or speaks_of_attacks(text, self.all)


def speaks_of_attacks(text: str, shown: Spans) -> bool:
    """Whether a text has words for attacks outside of what it shows."""
    edges = [0, *(edge for span in shown for edge in span), len(text)]
    said = "".join(text[start:end] for start, end in list(pairwise(edges))[::2]).lower()
    return any(word in said for word in words_in(ATTACK_WORDS))


def without_frontmatter(text: str) -> str:
    """The body of a document; lines between two rules are not taken for frontmatter."""
    at = 0
    while (match := FRONTMATTER.match(text, at)) and _has_keys(text, match):
        at = match.end()
    return text[at:]


def _has_keys(text: str, block: re.Match[str]) -> bool:
    """Whether it holds keys, which are well known or begin in lower case; `Note:` begins a sentence."""
    keys = KEY_LINE.finditer(text, block.start(), block.end())
    return any(key[1][0].islower() or key[1].lower() in KEYS for key in keys)


def code(text: str) -> Spans:
    """Fenced blocks that are closed, and inline code. An open fence shields nothing."""
    if "`" not in text and "~~~" not in text:
        return Spans()
    blocks = list(_fenced(text))
    inline: list[tuple[int, int]] = []
    edges = [0, *(edge for block in blocks for edge in block), len(text)]
    for start, end in list(pairwise(edges))[::2]:
        inline += [match.span() for match in islice(INLINE.finditer(text, start, end), FLOOD)]
    return Spans.of([*blocks, *inline])


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    opening: re.Match[str] | None = None
    read = 0
    for fence in islice(FENCE.finditer(text), FLOOD):
        if opening is not None and not _goes_on(text, opening, read, fence.start()):
            opening = None
        read = fence.end()
        if opening is None:
            opening = fence
        elif fence[2].startswith(opening[2]) and not fence[3].strip():
            yield opening.start(), fence.end()
            opening = None


def _goes_on(text: str, opening: re.Match[str], start: int, end: int) -> bool:
    """Whether every line here has what a quotation or a list puts before the lines of its code."""
    left = LEFT_QUOTE if ">" in opening[1] else LEFT_LIST if opening[1].strip() else None
    return left is None or left.search(text, start, end) is None


def shown(text: str) -> QuotedSpans:
    """What a text shows rather than says. A text that is one long quotation quotes nothing."""
    code_spans = code(text)
    marked = Spans.of([*_spans(QUOTED, text), *_spans(BLOCKQUOTE, text)])
    if sum(end - start for start, end in marked) > MOSTLY * len(text.strip()):
        marked = Spans()
    quotations = Spans.of([*marked, *_spans(CELL, text)])
    return QuotedSpans(quotations, Spans.of([*code_spans, *quotations]))


def _spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    return [match.span() for match in islice(pattern.finditer(text), FLOOD)]
