"""Letters that are shifted in the alphabet, and words that are written backwards.

Above stand the encodings. Nobody can read such a text, so the words that orders are made of betray it.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from prowess.guard.alphabets import shifted
from prowess.word_lists import words_in

WORD = re.compile(r"[a-z]{3,20}")
MARKS = (
    "ignore", "previous", "instructions", "system", "prompt", "user", "secret", "every", "before", "tool",
    "mode", "must", "with", "from", "that", "send", "the", "and", "this", "you", "are", "now", "all",
)  # fmt: skip
"""Words that betray shifted letters: three of one shift, one of them long, are no accident."""
TURNED = Path(__file__).with_name("turned_words.txt")


def turned(sample: str, announced: bool) -> Iterator[tuple[str, str]]:
    """How a text in small letters is turned, and what it says; less is enough where it speaks of decoding."""
    words = set(WORD.findall(sample))
    for shift in range(1, 26):
        marks = words & _shifted_marks(shift)
        if len(marks) >= (2 if announced else 3) and max(map(len, marks)) >= 4:
            yield "shifted letters", shifted(sample, 26 - shift)
    backwards = {word for word in MARKS if word[::-1] in words}
    if not sample.isascii():
        said = sample[::-1]
        backwards |= {f"{word:4}" for word in words_in(TURNED) if word in said and word not in sample}
    if len(backwards) >= 3 and max(map(len, backwards)) >= 4:
        yield "reversed letters", sample[::-1]


@cache
def _shifted_marks(shift: int) -> frozenset[str]:
    return frozenset(shifted(word, shift) for word in MARKS)
