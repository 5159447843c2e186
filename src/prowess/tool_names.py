"""The name of a capability as a tool: one name for one thing, made from its id alone.

    tool:github/create_issue     github__create_issue
    tool:send_email              send_email
    event:message:publish        event__message__publish
    skill:pdf                    skill__pdf

It is the same in lines, pages, definitions, the gateway, exports and the journal, never changes because
something else was added, and leads back to the id without any memory. What does not survive the way there and
back (odd characters, too long, like the name of something else) keeps what is readable and ends in a hash.
"""

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache

MAX_TOOL_NAME_LENGTH = 48
"""Every provider takes 64 characters; clients put `mcp__SERVER__` in front."""
SEPARATOR = "__"
MARK = "-x"
DIGITS = 10
PREFIXES = frozenset({"event", "skill", "channel", "extension", "card", "prompt", "resource"})
"""Kinds that stand in the name; a tool goes by its own name alone."""
RESERVED = frozenset(
    {
        "discover_capabilities",
        "describe_capability",
        "call_read_only",
        "call_with_effects",
        "list_capabilities",
        "read_reference",
    }
)
"""Tools of prowess itself."""
WORDS = r"[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*"
PLAIN = re.compile(rf"(?=[A-Za-z]){WORDS}(?:{SEPARATOR}{WORDS})*\Z")
HASHED = re.compile(rf"{MARK}[0-9a-f]{{{DIGITS}}}\Z")


@lru_cache(maxsize=8192)
def tool_name(id: str) -> str:
    """The name of a capability as a tool, at most 48 of `A-Z a-z 0-9 _ -`.

    id: such as "tool:github/create_issue".
    """
    plain = _plain(id)
    if len(plain) <= MAX_TOOL_NAME_LENGTH and PLAIN.match(plain) and _read(plain) == id:
        return plain
    digest = hashlib.sha256(id.encode(errors="replace")).hexdigest()[:DIGITS]
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", plain).strip("-_")
    begun = readable if readable[:1].isalpha() else f"tool-{readable}"  # Gemini's begin with a letter
    return f"{begun[: MAX_TOOL_NAME_LENGTH - DIGITS - len(MARK)].strip('-_')}{MARK}{digest}"


def tool_id(name: str, ids: Iterable[str] = ()) -> str:
    """The id behind a name; one that ends in a hash is looked for among `ids`. Empty where there is none.

    name: as a model calls it.
    ids: those it may stand for.
    """
    if HASHED.search(name):
        return next((id for id in ids if tool_name(id) == name), "")
    id = _read(name)
    return id if tool_name(id) == name else ""


def _plain(id: str) -> str:
    kind, _, rest = id.partition(":")
    parts = rest.split(_between(kind))
    return SEPARATOR.join(parts if kind == "tool" else [kind, *parts])


def _read(name: str) -> str:
    """The id that a name without a hash stands for; no id at all where it stands for none."""
    if name in RESERVED or HASHED.search(name):
        return ""
    kind, *rest = name.split(SEPARATOR)
    if rest and kind in PREFIXES:
        return f"{kind}:{_between(kind).join(rest)}"
    return f"tool:{'/'.join([kind, *rest])}"


def _between(kind: str) -> str:
    """What stands between the parts of a name: a server and its tool, or the words of an event."""
    return ":" if kind == "event" else "/"
