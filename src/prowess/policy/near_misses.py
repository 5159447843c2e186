"""Rules that restrict nothing though they look as if they did: a name that is not quite what exists.

Above: `check`. A rule that denies or asks and never matches is worse than none, because somebody relies on
it. Names are blurred here only to find out what was meant; a decision never is.
"""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from prowess.policy.globs import glob_matches
from prowess.policy.patterns import CatalogueNames, Pattern
from prowess.policy.profiles import Profile, Rule
from prowess.policy.spelling import blurred

CLOSE = 0.85
"""How near an exact name must be to one that exists to be taken for a slip of the pen."""
NAMED = 3
TOOL = "tool:"


def near_misses(profile: Profile, names: CatalogueNames) -> Iterator[tuple[str, str, str]]:
    """The lists' own words for each rule of a profile that misses, what it misses, and what to write."""
    if not names.capabilities:
        return
    lists = (("disallowed_tools", profile.disallowed), ("ask", profile.ask))
    for word, stated in lists:
        for text, patterns in _unmet(stated, names):
            yield from _told(word, text, _missed(text, patterns, names))
    for word, stated in (("additional_tools", profile.additional), ("pinned", profile.pinned)):
        for text, patterns in _unmet(stated, names):
            # A bare word may well mean a tool of the host, unless it is just the name of one that exists.
            is_bare = any(pattern.target == "host" for pattern in patterns)
            yield from _told(word, text, _named(text, names) if is_bare else _missed(text, patterns, names))


def _told(word: str, text: str, missed: list[str]) -> Iterator[tuple[str, str, str]]:
    if missed:
        more = f" and {len(missed) - NAMED} more" if len(missed) > NAMED else ""
        what = f"{word}: {text!r} matches nothing, and {', '.join(missed[:NAMED])}{more} exists"
        remedy = f"did you mean {missed[0]!r}?"
        yield text, what, remedy if ":" in text else f"{remedy} For a host's own tool write 'host:{text}'"


def _unmet(stated: Iterable[Rule], names: CatalogueNames) -> Iterator[tuple[str, list[Pattern]]]:
    """What was written and matches nothing that exists; a host's own tools cannot be looked up."""
    grouped: dict[str, list[Pattern]] = {}
    for rule in stated:
        grouped.setdefault(rule.pattern.text, []).append(rule.pattern)
    for text, patterns in grouped.items():
        if all(pattern.target == "host" for pattern in patterns) or text == "*":
            continue
        if not any(names.matching(pattern) for pattern in patterns):
            yield text, patterns


def _missed(text: str, patterns: list[Pattern], names: CatalogueNames) -> list[str]:
    """What exists and was probably meant."""
    glob = blurred(text)
    found = [id for id in sorted(names.capabilities) if _looks_like(glob, id)]
    if found or not any(pattern.exact for pattern in patterns):
        return found
    return get_close_matches(text, list(names.capabilities), n=1, cutoff=CLOSE)


def _named(text: str, names: CatalogueNames) -> list[str]:
    """The tools of just this name, with or without their server's; a host writes its own like this, too."""
    tools = (id for id in sorted(names.capabilities) if id.startswith(TOOL))
    return [id for id in tools if text in (id.removeprefix(TOOL), id.rpartition("/")[2])]


def _looks_like(glob: str, id: str) -> bool:
    whole = blurred(id)
    bare = whole.partition(":")[2]
    if "*" not in glob:
        return glob in (whole, bare) or glob.partition(":")[2] == bare
    return glob_matches(glob, whole) or glob_matches(glob, bare)
