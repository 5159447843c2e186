"""Which separate needs a request states, so that each can be served.

Conservative on purpose: a request that is cut wrongly loses the words that belong together, so a cut
needs a sentence end, a list item, a word such as "then", or a conjunction before a verb of action.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from prowess.word_lists import words_in

Form: TypeAlias = Literal["", "order", "question", "wish"]

MOST_NEEDS = 5
FEWEST_NEEDS = 2
FEWEST_TERMS = 2

ACTIONS = Path(__file__).with_name("actions.txt")
# "... and show me the result" says what becomes of an answer; it asks for nothing new.
PRESENTING = frozenset(("display", "explain", "give", "inform", "list", "make", "outline", "provide", "show"))

_QUOTED = re.compile(r"\"[^\"]*\"|`[^`]*`|(?<!\w)'[^']*'(?!\w)|\u201c[^\u201d]*\u201d|\u300c[^\u300d]*\u300d")
_SENTENCE = re.compile(
    r"(?<=[.!?;])\s+|(?:^|\s*\n)\s*(?:[-*\u2022]\s|\d+[.)]\s)?\s*|(?<=[\u3002\uff01\uff1f\uff1b])"
)
_PLAIN_SENTENCE = re.compile(r"(?<=[.!?;])\s+")
_STEP = re.compile(
    r"(?:,\s*(?:and\s+)?|\s+and\s+)"
    r"(?:then|afterwards|after that|also|additionally|in addition|finally|lastly)\b,?\s+",
    re.IGNORECASE,
)
_CONJUNCTION = re.compile(
    r"(?:,\s*(?:and\s+|or\s+)?|\s+(?:and|then|&)\s+|;\s*)(?=([A-Za-z]+)\b)", re.IGNORECASE
)
_CJK_STEP = re.compile(
    "(?:[\uff0c\u3001,]\\s*)?(?:\u7136\u540e|\u7136\u5f8c|\u5e76\u4e14|\u4e26\u4e14|\u540c\u65f6|\u540c\u6642"
    "|\u53e6\u5916|\u63a5\u7740|\u6700\u540e|\u6700\u5f8c|\u305d\u306e\u5f8c|\u305d\u3057\u3066|\u307e\u305f"
    "|\uadf8\ub9ac\uace0|\ub610\ud55c)"
)
_CONNECTIVE = re.compile(
    r"(?:(?:and|also|then|next|first(?:ly)?|second(?:ly)?|third(?:ly)?|finally|lastly|additionally|afterwards"
    r"|after that|in addition|moreover|besides|furthermore|once done)\b,?\s*)+",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"(?:please|kindly|now|can you|could you|would you|will you|can i|could i|i'd like|i would like|i also"
    r"|i need|i want|i'm looking|i am looking|i'm interested|help me|assist me|let's|show me"
    r"|tell me|give me)\b",
    re.IGNORECASE,
)
# What begins like this, or speaks of "it", tells more about the thing that was just asked for.
_CONTINUES = re.compile(
    r"(?:the|it|its|it's|this|that|these|those|they|their|he|she|his|her|there|which|who|because|since|as|so|by"
    r"|for example|thank|thanks|use|using|make sure|ensure|include|including|specify)\b",
    re.IGNORECASE,
)
_REFERS = re.compile(r"\b(?:it|that|this|them|these|those|there|one)\b", re.IGNORECASE)
_FIRST_WORD = re.compile(r"\s*([A-Za-z]+)")


@dataclass(frozen=True, slots=True)
class Splitter:
    """Cuts requests into needs; `terms` says which words of a part carry meaning."""

    terms: Callable[[str], Sequence[str]]
    most: int = MOST_NEEDS

    def split(self, request: str) -> tuple[str, ...]:
        """The needs of a request in order, or nothing when it states only one."""
        # What is quoted is one thing, so separators inside it do not count.
        masked = _QUOTED.sub(lambda quote: "\0" * len(quote.group()), request)
        sentences = [list(_clause_spans(masked, *span)) for span in self._joined(request, masked)]
        if sum(map(len, sentences)) < FEWEST_NEEDS:
            return ()
        parts = [part for spans in sentences for part in self._clauses(request, spans)]
        return tuple(parts[: self.most]) if len(parts) >= FEWEST_NEEDS else ()

    def _joined(self, request: str, masked: str) -> list[tuple[int, int]]:
        """Sentences; those that only tell more stay with the request they belong to."""
        needs: list[tuple[int, int]] = []
        told: int | None = None
        before: Form = ""
        for start, end in _cut(masked, 0, _sentence_ends(masked)):
            sentence = request[start:end].strip()
            form = _form(sentence)
            if form and not needs:
                needs.append((start if told is None else told, end))
            elif form and not self._refers(sentence) and _begins_a_need(sentence, form, before):
                needs.append((start, end))
            elif needs:
                needs[-1] = (needs[-1][0], end)
            elif told is None:
                told = start
            before = form or before
        return needs

    def _clauses(self, request: str, spans: Iterable[tuple[int, int]]) -> list[str]:
        parts: list[str] = []
        for left, right in spans:
            clause = _without_connective(request[left:right].strip(" ,;\t\n"))
            if len(self.terms(clause)) >= FEWEST_TERMS or (clause and _begins_with_action(clause)):
                parts.append(clause)
            elif parts and clause:
                parts[-1] = f"{parts[-1]} {clause}"
        return parts

    def _refers(self, sentence: str) -> bool:
        return bool(_REFERS.search(sentence)) and len(self.terms(sentence)) <= 2 * FEWEST_TERMS


def _sentence_ends(masked: str) -> re.Pattern[str]:
    """Most requests are one line of plain letters, which is cut in a quarter of the time."""
    plain = masked.isascii() and masked[:1].isalpha() and "\n" not in masked
    return _PLAIN_SENTENCE if plain else _SENTENCE


def _form(sentence: str) -> Form:
    """How a sentence asks for something, or nothing when it only tells."""
    rest = _without_connective(sentence)
    if _CONTINUES.match(rest):
        return ""
    if rest.endswith("?"):
        return "question"
    if _begins_with_action(rest) or not rest.isascii():
        return "order"
    return "wish" if _ASKING.match(rest) else ""


def _begins_a_need(sentence: str, form: Form, before: Form) -> bool:
    """A wish and then a question are mostly one need; two of a kind, or "also", are two."""
    return form in ("order", before) or _CONNECTIVE.match(sentence) is not None


def _clause_spans(masked: str, start: int, end: int) -> Iterable[tuple[int, int]]:
    steps = (_STEP,) if masked.isascii() else (_STEP, _CJK_STEP)
    spans = [(start, end)]
    for step in steps:
        spans = [part for first, last in spans for part in _cut(masked[:last], first, step)]
    for first, last in spans:
        yield from _cut(masked[:last], first, _CONJUNCTION, _is_action)


def _cut(
    text: str, start: int, pattern: re.Pattern[str], wanted: Callable[[re.Match[str]], bool] = bool
) -> Iterable[tuple[int, int]]:
    """The stretches of the text from `start` on that lie between the wanted matches."""
    for match in pattern.finditer(text, start):
        if wanted(match):
            if match.start() > start:
                yield start, match.start()
            start = match.end()
    yield start, len(text)


def _is_action(match: re.Match[str]) -> bool:
    word = match.group(1).casefold()
    return word in words_in(ACTIONS) and word not in PRESENTING


def _without_connective(clause: str) -> str:
    return _CONNECTIVE.sub("", clause, count=1) if _CONNECTIVE.match(clause) else clause


def _begins_with_action(clause: str) -> bool:
    polite = _ASKING.match(clause)
    first = _FIRST_WORD.match(clause, polite.end() if polite else 0)
    return first is not None and first.group(1).casefold() in words_in(ACTIONS)
