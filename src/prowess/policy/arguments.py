"""Arguments as a person is shown them, and which they are.

Every argument is shown, each by itself: none can push another out of sight. What looks blank is one blank,
what is cut says how much, and what is a secret by its name or its form is not shown or kept.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from prowess.types import JsonObject

MOST_CHARACTERS = 4000
"""Of all values together; a single one has its share, and always SHORTEST_SHARE."""
LONGEST_SHARE = 400
SHORTEST_SHARE = 40
LONGEST_NAME = 60
MOST_ARGUMENTS = 500
DEEPEST = 50

SECRET_NAME = re.compile(
    r"pass(?!e|age|enger|ive|ion|port)|pwd|secret|token(?!s)|api_?key|private_?key|access_?key|credential"
    r"|authori[sz]ation|bearer|cookie|session_?id|\bpin\b|\botp\b|cvv|cvc",
    re.I,
)
Hide = Callable[[str], str]
"""Takes what must not stand there out of a text."""
_USER = re.compile(r"(?<=://)[^/?#\s@]*@")
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters of their script that nobody sees."""


def digest_of(arguments: JsonObject | None) -> str:
    """Which arguments these are; nothing where nobody said."""
    if arguments is None:
        return ""
    try:
        # Not `canonical`, to which what is no number (NaN) and no end (Infinity) are nothing (null).
        text = json.dumps(arguments, sort_keys=True, default=repr)
    except RecursionError:
        text = "\n".join(_flat(arguments))
    except (TypeError, ValueError):
        text = repr(arguments)
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()


def _flat(value: object) -> Iterator[str]:
    """One text for one value that is nested too deeply for anything that calls itself."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            yield f"{{{len(one)}"
            waiting += [part for name in sorted(one, key=str) for part in (name, one[name])]
        elif isinstance(one, list | tuple):
            yield f"[{len(one)}"
            waiting += one
        else:
            yield repr(one)


def shown(arguments: JsonObject, hide: Hide) -> dict[str, str]:
    """Name -> value, as text for a person."""
    share = max(SHORTEST_SHARE, min(LONGEST_SHARE, MOST_CHARACTERS // max(1, len(arguments))))
    found: dict[str, str] = {}
    for number, (name, value) in enumerate(arguments.items()):
        if number == MOST_ARGUMENTS:
            found["..."] = f"[{len(arguments) - number} more arguments are not shown]"
            break
        text = json.dumps(_safe(value, str(name), hide), ensure_ascii=False, default=repr)
        found[_unique(_cut(folded(str(name)), LONGEST_NAME), found)] = _cut(text, share)
    return found


def folded(text: str) -> str:
    """Everything that looks like nothing is one blank."""
    return "".join(_folded(text)).strip()


def _folded(text: str) -> Iterator[str]:
    before = ""
    for letter in text:
        blank = letter in _BLANK or letter.isspace() or unicodedata.category(letter)[0] in "CZ"
        letter = " " if blank else letter
        if letter != " " or before != " ":
            yield letter
        before = letter


def _safe(value: Any, name: str, hide: Hide, depth: int = 0) -> Any:
    if depth == DEEPEST and isinstance(value, Mapping | list | tuple):
        return "[what is nested deeper is not shown]"
    if isinstance(value, Mapping):
        found: dict[str, Any] = {}
        for key, one in value.items():
            found[_unique(folded(str(key)), found)] = _safe(one, f"{name}.{key}", hide, depth + 1)
        return found
    if SECRET_NAME.search(name) and not isinstance(value, bool | None):
        return f"[hidden, {len(str(value))} characters]"
    if isinstance(value, list | tuple):
        return [_safe(one, name, hide, depth + 1) for one in value]
    return folded(_USER.sub("[hidden]@", hide(value))) if isinstance(value, str) else value


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    tail = most // 4
    left_out = len(text) - most
    return f"{text[: most - tail]} [{left_out} characters left out] {text[len(text) - tail :]}"


def _unique(name: str, taken: Collection[str]) -> str:
    """Two names that look the same once they are folded or cut are still two."""
    number, free = 2, name
    while free in taken:
        free = f"{name} ({number})"
        number += 1
    return free
