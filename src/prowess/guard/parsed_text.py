"""A text as the rules read it: what it says, what it hides, what it only shows.

Above stand judge in sanitise, and the reader of quotations; below are the readers of signals and of what is
hidden.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from prowess.guard.hidden import Hidden, hidden
from prowess.guard.quotations import QuotedSpans, Spans, shown
from prowess.guard.signals import IN_CODE, Signal, heaviest, signals
from prowess.text.characters import fold

ENOUGH = 3
"""The weight at which signals near one another reject a text."""
MOST_HIDDEN = 4000
MOST_COUNTED = 6
"""How much of the weight of the rules' signals counts beside the network's log-odds."""


@dataclass(frozen=True, slots=True)
class ParsedText:
    """A text as the rules read it, once for all who ask."""

    text: str
    signals: tuple[Signal, ...]
    hidden: tuple[Hidden, ...]
    shown: QuotedSpans


def read(text: str) -> ParsedText:
    excused = shown(fold(text).text)
    return ParsedText(text, signals_of(text, excused), hidden(text), excused)


def signals_of(text: str, excused: QuotedSpans) -> tuple[Signal, ...]:
    latin = fold(text).text
    plain = latin if text.isascii() else fold(text, look_alikes=False).text
    return signals(plain, latin, excused)


def tells_to_drop(words: str) -> bool:
    """Whether a text tells the model to drop its instructions."""
    return any(one.family == "override" and one.weight >= ENOUGH for one in signals_of(words, QuotedSpans()))


def rules_count(weight: int, hidden: Sequence[Hidden], anywhere: int) -> float:
    """What the rules' findings count in the sum of opinions."""
    odd = max((one.weight for one in hidden), default=0)
    heavy = any(weight + one.weight >= ENOUGH for one, weight in spoken_hidden(hidden, anywhere))
    return float(min(weight, MOST_COUNTED) + ENOUGH * (odd >= ENOUGH) + ENOUGH * heavy)


def spoken_hidden(hidden: Sequence[Hidden], anywhere: int) -> Iterator[tuple[Hidden, int]]:
    """What is hidden and says something that rules know, with how heavy that is."""
    for one in hidden:
        weight, _ = heaviest(signals_of(one.said[:MOST_HIDDEN], QuotedSpans()))
        if weight and not (one.weight == 0 and weight <= anywhere):
            yield one, weight


REMOVED = "[quoted instruction removed]"
MARKS = "`~\"'\u201c\u201d\u201e\u2018\u2019\xab\xbb\u300c\u300d>|*_ \t\r\n"
"""What may stand around a quotation without being part of it."""
ROUNDS = 3


def without_quoted_orders(text: str) -> str:
    """A document of others without the orders to a model that it quotes; all else as it was written.

    What was taken out cannot be acted upon by a model that misses the quotation marks.
    """
    for _ in range(ROUNDS):
        found = quoted_orders(read(text))
        if not found.starts:
            return text
        parts: list[str] = []
        at = 0
        for start, end in found:
            parts += [text[at:start], REMOVED]
            at = end
        text = "".join([*parts, text[at:]])
    return text


def quoted_orders(reading: ParsedText) -> Spans:
    """Where a text quotes an order to a model: the whole line of code, or the quotation."""
    folded = fold(reading.text)
    return Spans.of(
        _line(reading.text, folded.span(start, end), folded.span(one.place, one.place + 1)[0])
        for start, end in reading.shown.all
        if heaviest(inside := [s for s in reading.signals if start <= s.place < end])[0] >= ENOUGH - 1
        and any(s.family not in IN_CODE for s in inside)
        for one in inside
    )


def _line(text: str, shown: tuple[int, int], place: int) -> tuple[int, int]:
    """The line of what is shown in which a place stands, without the marks around it."""
    start = max(shown[0], text.rfind("\n", 0, place) + 1)
    line_end = text.find("\n", place)
    end = min(shown[1], line_end if line_end >= 0 else len(text))
    said = text[start:end]
    return start + len(said) - len(said.lstrip(MARKS)), start + len(said.rstrip(MARKS))
