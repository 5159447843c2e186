"""What tools call what people say: `remember that ...` is `store observation in memory` to a tool.

Pure. Above: the ranker, which reads a request in these words, too, and takes what is nearer. Below: a list of
phrases. It adds to what was said and takes nothing away.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from prowess.text.stems import stem

PHRASES = Path(__file__).with_name("everyday.txt")
OF_A_CHANNEL = ("message", "channel")

_WORD = re.compile(r"[a-z]+")
_CHANNEL = re.compile(r"\b(?:ask|from|in|on|tell|to) #(?![0-9a-f]{3,8}\b)[a-z][a-z0-9_-]*")
"""`tell #general`: a place to write to; `#123` is a number, `to #ff0000` a colour, `with #Sunday` a word."""
_HARDLY_COUNT = frozenset(("a", "an", "the", "my", "our", "your"))

Phrase = tuple[str, ...]


def in_words_of_tools(request: str) -> str:
    """The request with what tools call it behind; nothing where no phrase of the list is in it."""
    spoken = _stems(request.lower())
    phrases = _phrases()
    found = [
        word
        for length in range(min(_longest(), len(spoken)), 0, -1)
        for start in range(len(spoken) - length + 1)
        for word in phrases.get(spoken[start : start + length], ())
    ]
    found += OF_A_CHANNEL if _CHANNEL.search(request) else ()
    new = [word for word in dict.fromkeys(found) if stem(word) not in spoken]
    return f"{request} ({' '.join(new)})" if new else ""


@cache
def _phrases(file: Path = PHRASES) -> Mapping[Phrase, tuple[str, ...]]:
    found: dict[Phrase, tuple[str, ...]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        said, divider, called = line.partition("|")
        if divider and not line.startswith("#"):
            for phrase in said.split():
                found[_stems(phrase.replace("_", " "))] = tuple(called.split())
    return found


@cache
def _longest() -> int:
    return max(map(len, _phrases()))


def _stems(text: str) -> Phrase:
    """Its words in one form each; articles stand nowhere, so that a phrase fits with and without."""
    return tuple(stem(word) for word in _WORD.findall(text) if word not in _HARDLY_COUNT)
