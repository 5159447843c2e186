"""A long text in parts, each short enough to be judged at once.

Above stands judge in sanitise, whose time and memory grow with the length of a part.
"""

from collections.abc import Iterator

READ_AT_ONCE, OVERLAP = 60_000, 1000
"""How many characters are judged at once, and what two such parts share, so that nothing is cut in two."""
MAX_JUDGED_LENGTH = 1_000_000
"""How many characters of one text are judged; all of it is neutralised."""


def parts(text: str) -> Iterator[tuple[int, str]]:
    """Where each part begins, and the part."""
    for start in range(0, min(len(text), MAX_JUDGED_LENGTH), READ_AT_ONCE - OVERLAP):
        if start == 0 or start + OVERLAP < len(text):
            yield start, text[start : start + READ_AT_ONCE]
