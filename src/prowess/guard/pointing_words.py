"""Words that point at an order to a model, in some 25 languages, and how much they say together.

Above stands the quick look at results (`prefilter`). The lists are in `prefilter.toml`. Most entries are
looked for only in a text that has the word they begin with; the others are searched as they are.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from prowess.guard.word_numbers import BEGINNING, ReadWords, words_of
from prowess.word_lists import lists_in

FILE = Path(__file__).with_name("prefilter.toml")
ENOUGH = 3
"""From which weight on words alone point at an order."""
WEIGHTS = {"strong": ENOUGH, "pointing": 2, "weak": 1}

Weighed = tuple[str, int]


def known_words(small: str, said: ReadWords) -> list[Weighed]:
    """The words of the lists that stand in a text of small letters, each with its weight.

    said: the words of that text.
    """
    by_first, others = _lists()
    present = set(said.numbers.tolist())
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
def _lists() -> tuple[dict[int, list[Weighed]], list[Weighed]]:
    """The entries by the word they begin with, and those that are not sure to begin with a whole word."""
    by_first: dict[int, list[Weighed]] = {}
    others: list[Weighed] = []
    for name, weight in WEIGHTS.items():
        for entry in dict.fromkeys(lists_in(FILE)[name]):
            read = words_of(entry)
            if _begins_whole(entry, read):
                by_first.setdefault(int(read.numbers[0]), []).append((entry, weight))
            else:
                others.append((entry, weight))
    return by_first, others


def _begins_whole(entry: str, read: ReadWords) -> bool:
    """Whether its first word is read the same wherever the entry stands."""
    if not len(read.starts) or read.starts[0] != 0:
        return False
    end = int(read.ends[0])
    return end >= BEGINNING or len(read.starts) > 1 or not entry[-1].isalnum()
