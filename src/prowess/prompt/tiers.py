"""Tiers 0, 1 and 2: what exists at all, what fits, and the whole of what fits best.

Above: the engine, which hands over what the agent may see and what fits the request. Every budget
is hard: a tier never costs more than it may, and what did not fit is told to people, not to models.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from prowess.areas import area_of
from prowess.prompt.render import page, shown_name, summary
from prowess.types import DISCOVER, Capability, Detail

Count = Callable[[str], int]

NAMES_IN_A_CATEGORY = 4
MOST_LINES = 100
TIER0_HEAD = "Available capability categories:"
TIER0_FOOT = f"Use {DISCOVER} tool to get details on any capability."
TIER1_HEAD = "Relevant capabilities:"
TIER2_HEAD = "--- Detailed Capability Reference ---"
_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])|.\Z", re.DOTALL)
"""The words of a name such as `github__listIssues`; of one without any, its last letter."""
TRUNCATED = "[truncated to fit the token budget]"


@dataclass(frozen=True, slots=True)
class Tier:
    """A piece of prompt text, what it costs, and which capabilities are in it or did not fit."""

    text: str = ""
    tokens: int = 0
    shown: tuple[str, ...] = ()
    no_room: tuple[str, ...] = ()


# --- tier 0 ----------------------------------------------------------------------------------


def tier0(capabilities: Mapping[str, Capability], budget: int, count: Count) -> Tier:
    """The map: categories or servers with some names, then with counts, then their names alone."""
    groups: dict[str, list[str]] = {}
    written: dict[str, str] = {}
    servers: set[str] = set()
    for capability in capabilities.values():
        category = written.setdefault(area_of(capability).casefold(), area_of(capability))
        groups.setdefault(category, []).append(shown_name(capability))
        if area_of(capability) != capability.category:
            servers.add(category)
    if not groups:
        return Tier()
    groups |= {name: _varied(groups[name]) for name in servers}
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    for names in range(NAMES_IN_A_CATEGORY, -1, -1):
        lines = [_category_line(category, members, names) for category, members in ordered]
        text = "\n".join([TIER0_HEAD, *lines, TIER0_FOOT])
        if count(text) <= budget:
            return Tier(text, count(text))
    return _category_names([category for category, _ in ordered], budget, count)


def tier0_of_many(areas: Mapping[str, int], budget: int, count: Count) -> Tier:
    """The same from the number of each category alone: for catalogues of which nobody holds the names."""
    ordered = sorted(areas.items(), key=lambda area: (-area[1], area[0]))
    lines = [f"- {category[:1].upper() + category[1:]} ({size})" for category, size in ordered[:MOST_LINES]]
    text = "\n".join([TIER0_HEAD, *lines, TIER0_FOOT])
    if lines and len(ordered) <= MOST_LINES and count(text) <= budget:
        return Tier(text, count(text))
    return _category_names([category for category, _ in ordered], budget, count)


def _varied(names: Sequence[str]) -> list[str]:
    """Those of a server first that speak of different things, as `issues` and `branch`: what it is for."""
    chosen: dict[str, str] = {}
    for name in names:
        chosen.setdefault(_WORD.findall(name)[-1].lower().removesuffix("s"), name)
        if len(chosen) == NAMES_IN_A_CATEGORY:
            break
    first = set(chosen.values())
    return [*chosen.values(), *(name for name in names if name not in first)]


def _category_line(category: str, members: Sequence[str], names: int) -> str:
    title = category[:1].upper() + category[1:]
    if not names:
        return f"- {title} ({len(members)})"
    more = f" (+{len(members) - names} more)" if len(members) > names else ""
    return f"- {title}: {', '.join(members[:names])}{more} ({len(members)})"


def _category_names(categories: Sequence[str], budget: int, count: Count) -> Tier:
    """As many category names as fit on one line, the largest categories first."""

    def line(number: int) -> str:
        more = f" (+{len(categories) - number} more)" if number < len(categories) else ""
        return f"{TIER0_HEAD} {', '.join(categories[:number])}{more}\n{TIER0_FOOT}"

    fitting = _largest(len(categories), lambda number: count(line(number)) <= budget)
    return Tier(line(fitting), count(line(fitting))) if fitting else Tier()


# --- tier 1 ----------------------------------------------------------------------------------


def tier1(capabilities: Sequence[Capability], budget: int, count: Count) -> Tier:
    """A line for each, in order; one that does not fit is left out and the next gets its chance."""
    names = [shown_name(c) for c in capabilities]
    same_name = Counter(names)
    lines: list[str] = [TIER1_HEAD]
    shown: list[str] = []
    no_room: list[str] = []
    for capability, plain in zip(capabilities, names, strict=True):
        name = plain if same_name[plain] == 1 else capability.id
        line = summary(len(shown) + 1, capability, name)
        if count("\n".join([*lines, line])) <= budget:
            lines.append(line)
            shown.append(capability.id)
        else:
            no_room.append(capability.id)
    if not shown:
        return Tier(no_room=tuple(no_room))
    text = "\n".join(lines)
    return Tier(text, count(text), tuple(shown), tuple(no_room))


# --- tier 2 ----------------------------------------------------------------------------------


def tier2(pages: Sequence[tuple[Capability, Detail]], budget: int, count: Count) -> Tier:
    """The whole of the best few; what is too large gives way to the others and is cut."""
    same_title = Counter(capability.display_name for capability, _ in pages)
    texts = [page(c, detail, is_alone=same_title[c.display_name] == 1) for c, detail in pages]
    room = budget - count(f"{TIER2_HEAD}\n\n") - len(texts)
    shares = fair_shares([count(text) for text in texts], room)
    parts: list[str] = []
    shown: list[str] = []
    no_room: list[str] = []
    for (capability, _), text, share in zip(pages, texts, shares, strict=True):
        fitted = fit(text, share, count)
        # A heading that is cut, and nothing below it, says nothing.
        if fitted == text or "\n" in fitted.removesuffix(f"\n{TRUNCATED}"):
            parts.append(fitted)
            shown.append(capability.id)
        else:
            no_room.append(capability.id)
    if not parts:
        return Tier(no_room=tuple(no_room))
    text = "\n\n".join([TIER2_HEAD, *parts])
    return Tier(text, count(text), tuple(shown), tuple(no_room))


def fair_shares(costs: Sequence[int], room: int) -> list[int]:
    """Divide room so that what is small is whole and what is large shares the rest evenly."""
    shares = [0] * len(costs)
    left = max(room, 0)
    for done, index in enumerate(sorted(range(len(costs)), key=lambda i: costs[i])):
        shares[index] = min(costs[index], left // (len(costs) - done))
        left -= shares[index]
    return shares


def fit(text: str, budget: int, count: Count) -> str:
    """The text, cut with a marker where it costs too much; nothing where not even that fits."""
    if count(text) <= budget:
        return text
    length = _largest(len(text), lambda length: count(f"{text[:length]}\n{TRUNCATED}") <= budget)
    whole_lines = text[:length].rpartition("\n")[0]
    kept = whole_lines if len(whole_lines) > length // 2 else text[:length]
    return f"{kept.rstrip()}\n{TRUNCATED}" if length else ""


def _largest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number from 1 to `most` that fits, or 0; larger ones never fit if a smaller does not."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
