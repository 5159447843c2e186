"""Which language a message is in, and which of several cards on one thing speaks it.

Cards on one thing in several languages share a name that ends in the language: `calendar`,
`calendar-de`, `calendar.ja`. Scripts tell most languages apart; those that share the Latin
letters are told by their small words, which also are no sign of what a text is about.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from prowess.cards.card import Card
from prowess.word_lists import lists_in

SMALL_WORDS = Path(__file__).with_name("small_words.toml")


@cache
def small_words() -> Mapping[str, frozenset[str]]:
    """By language, the words that say nothing about what a text is about."""
    return {language: frozenset(words) for language, words in lists_in(SMALL_WORDS).items()}


SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("zh", re.compile("[\u3400-\u9fff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
)
WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
MAX_DETECTED_CHARACTERS = 2000
DEFAULT = "en"


def language_of(text: str) -> str:
    """The language of a text as its two letters; empty when nothing tells."""
    said = text[:MAX_DETECTED_CHARACTERS].casefold()
    for language, script in SCRIPTS:
        if len(script.findall(said)) * 3 > sum(map(str.isalpha, said)):
            return language
    words = [word.replace("\u2019", "'") for word in WORD.findall(said)]
    found = {language: sum(word in small for word in words) for language, small in small_words().items()}
    best = max(found, key=lambda language: found[language])
    return best if found[best] else ""


def spoken(cards: Sequence[Card], language: str) -> tuple[list[Card], list[Card]]:
    """The cards to use for a language, and those whose place another card takes."""
    groups: dict[str, list[Card]] = {}
    for card in cards:
        groups.setdefault(_thing(card), []).append(card)
    used = [min(group, key=lambda card: _distance(card, language)) for group in groups.values()]
    ids = {card.id for card in used}
    return [card for card in cards if card.id in ids], [card for card in cards if card.id not in ids]


def _thing(card: Card) -> str:
    language = card.language.casefold()
    name = card.name.casefold()
    return name.removesuffix(f"-{language}").removesuffix(f".{language}") if language else name


def _distance(card: Card, language: str) -> tuple[int, str]:
    own = primary(card.language)
    order = (primary(language), "", DEFAULT)
    return (order.index(own) if own in order else len(order)), card.id


def primary(language: str) -> str:
    """`de` of `de-AT`."""
    return language.casefold().replace("_", "-").partition("-")[0]
