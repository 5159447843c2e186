"""A grant: a named bundle of what an agent may use, and the limits that come with it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Literal

import msgspec

from prowess.errors import PolicyError
from prowess.policy.documents import convert
from prowess.policy.patterns import Pattern, event_pattern, host_pattern
from prowess.policy.rule_texts import Mode, Reader, Stated, read_rules

Level = Literal["read", "write", "admin"]
LEVELS: tuple[Level, ...] = ("read", "write", "admin")
UNSTATED: Level = "write"

CHILDREN = "max_children"
DEPTH = "max_depth"
INTENSIVE = "max_resource_intensive"
ENFORCED = (CHILDREN, DEPTH, INTENSIVE)
"""The limits prowess enforces itself; others are merged, listed and left to the host."""

DEEPEST = 100
"""How long a chain of `requires` or `extends` may be."""
NAME = re.compile(r"[A-Za-z][\w.-]{0,99}\Z", re.ASCII)

Limits = Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    name: str
    place: str = field(compare=False)
    description: str = ""
    events: tuple[Pattern, ...] = ()
    tools: tuple[Pattern, ...] = ()
    mode: Mode = "enforce"
    requires: tuple[str, ...] = ()
    extends: tuple[str, ...] = ()
    always_included: bool = False
    limits: Limits = field(default_factory=dict)
    mcp_tools: bool | None = None
    review: bool | None = None
    level: Level | None = None
    since: str = ""
    version: str = ""
    override: bool = False

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        return (*self.events, *self.tools)

    def enforced(self) -> "Grant":
        """The same without rules that are only watched."""
        if not any(pattern.shadow for pattern in self.patterns):
            return self
        events, tools = (tuple(p for p in some if not p.shadow) for some in (self.events, self.tools))
        return replace(self, events=events, tools=tools)

    def over(self, base: "Grant") -> "Grant":
        """This grant with what it extends: lists add up, what it says itself wins."""
        return replace(
            self,
            description=self.description or base.description,
            events=_union(base.events, self.events),
            tools=_union(base.tools, self.tools),
            requires=_union(base.requires, self.requires),
            limits={**base.limits, **self.limits},
            mcp_tools=base.mcp_tools if self.mcp_tools is None else self.mcp_tools,
            # What had to be reviewed there has to be reviewed here: extending is no way around it.
            review=base.review or self.review,
            level=self.level or base.level,
        )


class GrantText(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A grant as a file states it."""

    description: str = ""
    event_patterns: list[Stated] = []
    tools: list[Stated] = []
    claude_tools: list[Stated] = []
    mode: Mode = "enforce"
    requires: list[str] = []
    extends: str | list[str] = []
    always_included: bool = False
    resource_limits: dict[str, int] = {}
    mcp_tools: bool | None = None
    security_review_required: bool | None = None
    level: Level | None = None
    since: str | int | float = ""
    version: str | int | float = ""
    override: bool = False


def parse_grant(name: str, value: object, place: str) -> Grant:
    place = f"{place}: grant {name!r}"
    check_name(name, place)
    text = convert(value, GrantText, place)
    return Grant(
        name=name,
        place=place,
        description=text.description,
        events=read_rules(text.event_patterns, _one(event_pattern), place),
        tools=read_rules([*text.tools, *text.claude_tools], _one(host_pattern), place),
        mode=text.mode,
        requires=tuple(text.requires),
        extends=as_names(text.extends),
        always_included=text.always_included,
        limits=checked_limits(text.resource_limits, place),
        mcp_tools=text.mcp_tools,
        review=text.security_review_required,
        level=text.level,
        since=str(text.since),
        version=str(text.version),
        override=text.override,
    )


def _one(read: Callable[[str, str], Pattern]) -> Reader:
    return lambda text, place: (read(text, place),)


def check_name(name: str, place: str) -> None:
    if name.startswith("-"):
        raise PolicyError(place, f"{name!r} begins with '-'", f"to remove a grant write '{name[1:]}: false'")
    if not NAME.match(name):
        raise PolicyError(place, f"{name[:40]!r} is not a name", "use letters, digits, '_', '.' and '-'")


def as_names(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def checked_limits(limits: Limits, place: str) -> Limits:
    for name, value in limits.items():
        if value < 0:
            raise PolicyError(place, f"limit {name} is {value}", "write 0 or more")
        close = get_close_matches(name, ENFORCED, n=1, cutoff=0.8)
        if close and name not in ENFORCED:
            raise PolicyError(place, f"unknown limit {name!r}", f"did you mean {close[0]!r}?")
    children, depth = limits.get(CHILDREN), limits.get(DEPTH)
    if children is not None and depth is not None and (children == 0) != (depth == 0):
        raise PolicyError(
            place, f"{CHILDREN} {children} and {DEPTH} {depth} contradict", "make both 0, or both at least 1"
        )
    return dict(sorted(limits.items()))


def smallest(left: Limits, right: Limits) -> Limits:
    """Both sets of limits at once: of two limits of one name the smaller holds."""
    both = {**left, **right}
    return {name: min(left.get(name, both[name]), both[name]) for name in sorted(both)}


def cycle_error(place: str, path: Sequence[str], word: str) -> PolicyError:
    loop = path[path.index(path[-1]) :]
    return PolicyError(place, f"{word} goes in a circle: {' -> '.join(loop)}", "remove one of these links")


def walk(name: str, below: Callable[[str], Sequence[str]], place: str, word: str) -> tuple[str, ...]:
    """Everything reached from a name, each before what leads to it; a circle is an error."""
    done: dict[str, None] = {}
    path: list[str] = []

    def visit(one: str) -> None:
        if one in path:
            raise cycle_error(place, [*path, one], word)
        if one in done:
            return
        if len(path) == DEEPEST:
            raise PolicyError(place, f"{word} goes more than {DEEPEST} deep", "make it flatter")
        path.append(one)
        for next_one in below(one):
            visit(next_one)
        path.pop()
        done[one] = None

    visit(name)
    return tuple(done)


def _union(first: tuple, second: tuple) -> tuple:  # type: ignore[type-arg]
    return tuple(dict.fromkeys((*first, *second)))
