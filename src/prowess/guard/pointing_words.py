"""Words that point at an order to a model, in some 25 languages, and how much they say together.

Above stands the quick look at results (`prefilter`). The lists are in `prefilter.toml`. Most entries are
looked for only in a text that has the word they begin with; the others are searched as they are.
"""

from collections.abc import Iterable, Set
from functools import cache
from pathlib import Path

from prowess.guard.word_network import BEGINNING, words_of
from prowess.word_lists import lists_in

FILE = Path(__file__).with_name("prefilter.toml")
ENOUGH = 3
"""From which weight on words alone point at an order."""
WEIGHTS = {"strong": ENOUGH, "pointing": 2, "weak": 1}

Weighed = tuple[str, int]


def known_words(small: str, said: Iterable[str] | None = None) -> list[Weighed]:
    """The words of the lists that stand in a text of small letters, each with its weight.

    said: the words of the text, where these have been read.
    """
    by_first, others = _lists()
    present: Set[str] = set(words_of(small) if said is None else said)
    found = [one for first in by_first.keys() & present for one in by_first[first] if one[0] in small]
    # Words in other letters than ours cannot stand in a text that has none of them.
    plain = small.isascii()
    found += [one for one in others if not (plain and not one[0].isascii()) and one[0] in small]
    return found


def weight(small: str, words: Iterable[Weighed]) -> int:
    return sum(weight for word, weight in words if word in small)


def turned(small: str) -> int:
    """Where the first word stands that is turned round or shifted, or -1."""
    return min((at for word in lists_in(FILE)["turned"] if (at := small.find(word)) >= 0), default=-1)


@cache
def _lists() -> tuple[dict[str, list[Weighed]], list[Weighed]]:
    """The entries by the word they begin with, and those that are not sure to begin with a whole word."""
    by_first: dict[str, list[Weighed]] = {}
    others: list[Weighed] = []
    for name, weight in WEIGHTS.items():
        for entry in dict.fromkeys(lists_in(FILE)[name]):
            first, *more = words_of(entry) or [""]
            is_whole = first and entry.startswith(first) and (len(first) == BEGINNING or more or _ends(entry))
            if is_whole:
                by_first.setdefault(first, []).append((entry, weight))
            else:
                others.append((entry, weight))
    return by_first, others


def _ends(entry: str) -> bool:
    """Whether a sign behind the word shows that it is no beginning of a longer one."""
    return not entry[-1].isalnum()
