"""Policies and catalogues of any kind, for properties that hold of all of them."""

from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from prowess.policy.agents import Agent
from prowess.policy.definitions import define
from prowess.policy.ruleset import RuleSet
from prowess.policy.snapshot import PolicySnapshot
from prowess.policy.state import PolicyState
from prowess.testing import capability
from prowess.types import Capability, SourceRef
from tests.support.policy import of

WORDS = st.sampled_from(["a", "b", "ab", "state", "x_y"])
NAMES = st.builds(":".join, st.lists(WORDS, min_size=1, max_size=3))
PATTERNS = st.one_of(
    NAMES,
    st.just("*"),
    st.builds(lambda name: f"{name}*", NAMES),
    st.builds(lambda name: f"*{name}", NAMES),
    st.builds(lambda one, two: f"{one}*{two}", NAMES, NAMES),
    st.builds(lambda name: f"tool:{name}*", WORDS),
)
KEYS = st.sampled_from(
    [
        *(
            "grants",
            "profiles",
            "name",
            "components",
            "inline",
            "capabilities",
            "extends",
            "requires",
            "limits",
        ),
        *(
            "event_patterns",
            "tools",
            "additional_tools",
            "level",
            "version",
            "agents",
            "ask",
            "base",
            "x",
            "-",
        ),
    ]
)
IDS = st.builds(lambda kind, name: f"{kind}:{name}", st.sampled_from(["event", "tool", "own", "host"]), NAMES)
EXCEPTIONS = st.lists(PATTERNS | st.just({"kind": "tool"}), min_size=1, max_size=2)
RULES = PATTERNS | st.one_of(
    st.builds(lambda match, kind: {"match": match, "kind": kind}, PATTERNS, st.sampled_from(["tool", "e*"])),
    st.builds(lambda match, excepted: {"match": match, "except": excepted}, PATTERNS, EXCEPTIONS),
    st.builds(lambda match: {"match": match, "when": "amount <= 100"}, PATTERNS),
    st.just({"effects": "read"}),
)
LISTS = st.lists(RULES, max_size=4)
GRANTS = st.dictionaries(
    st.sampled_from(["g", "h", "i"]),
    st.fixed_dictionaries(
        {
            "event_patterns": LISTS,
            "tools": st.lists(WORDS, max_size=2),
            "security_review_required": st.booleans(),
        }
    ),
)


@st.composite
def policies(draw: st.DrawFn) -> dict[str, object]:
    grants = draw(GRANTS)
    flags = draw(st.dictionaries(st.sampled_from(sorted(grants)), st.booleans())) if grants else {}
    profile = {
        "capabilities": flags,
        "additional_tools": draw(LISTS),
        "disallowed_tools": draw(LISTS),
        "ask": draw(LISTS),
    }
    return {"grants": grants, "profiles": {"p": profile}}


# --- everything a policy and a catalogue can say --------------------------------------------------

ODD = (
    *("own:", "event:", "tool:a/../b", "tool:%2e%2e/a", "event:..", "event:a/../b", "own:x/.."),
    *("host:a/..", "tool:axb", "tool:100%", "tool:a\\b", "event:tool:a", "event:own:a", "tool:a\nb"),
    *("tool:caf\u00e9", "tool:cafe\u0301", "event:caf\u00e9", "own:cafe\u0301"),
    *("event:system:internal:a", "event:system:internal"),
)  # fmt: skip
"""Ids that climb, spell a letter in two ways, hold what SQL takes for a wildcard, or look like others."""
ODD_PATTERNS = (
    *(id for id in ODD if id.isprintable()),
    *("**", "*:*", "t*", "e*:a", "*caf\u00e9", "tool:a*/*", "own:*", "event:*", "event:own:*", "tool:*%"),
    *("tool:a_b*", "a*b*", "host:*", "system:*", "event:tool:*", "own*:a", "tool:a/*", "tool:cafe\u0301*"),
    *("tool:*\\*", "host:a", "a(*)"),
)  # fmt: skip
VALUES = ("a", "b", "100%", "a_b", "axb", "caf\u00e9", "cafe\u0301", "a\\", "(a|b)", "a\nb", "")
GLOBS = ("a*", "*b", "*", "1*%", "caf*", "a*b", "(*)", "a\\*", "\n*", "**")
WORDS_OF_RULES = st.sampled_from([*(v for v in VALUES if v), *GLOBS])
WIDE = st.sampled_from(["*", "tool:*", "event:*", "own:*"])
ANY_PATTERN = st.one_of(PATTERNS, WIDE, st.sampled_from(ODD_PATTERNS))
ANY_ID = IDS | st.sampled_from(ODD)
SOURCES = st.sampled_from(["one", "two", "three"])
TRUST = {"one": "full", "two": "none"}


# On a machine that is busy with other tests a whole policy takes long to draw.
MUCH_TO_DRAW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _some(words: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(words, min_size=1, max_size=3)


ATTRIBUTES: dict[str, st.SearchStrategy[Any]] = {
    "kind": _some(st.sampled_from(["tool", "event", "own", "e*", "*"])),
    "provider": _some(WORDS_OF_RULES),
    "category": _some(WORDS_OF_RULES),
    "tag": _some(WORDS_OF_RULES),
    "effects": _some(st.sampled_from(["read", "write", "destructive"])),
    "trust": _some(st.sampled_from(["full", "growing", "none"])),
}


def _mapping(exceptions: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A rule that is a mapping and speaks of something."""
    beside = {"match": ANY_PATTERN, "except": st.lists(exceptions, min_size=1, max_size=2)}
    more = st.fixed_dictionaries({}, optional=beside)
    one = st.one_of(*(st.fixed_dictionaries({name: values}) for name, values in ATTRIBUTES.items()))
    named = st.fixed_dictionaries(beside)
    return named | st.builds(lambda a, b, c: {**a, **b, **c}, one, one, more)


ANY_EXCEPTION = st.recursive(ANY_PATTERN, _mapping, max_leaves=3)
ANY_RULE = ANY_PATTERN | st.builds(
    lambda rule, more: {**rule, **more},
    _mapping(ANY_EXCEPTION),
    st.sampled_from([{}, {}, {"when": "amount <= 100"}, {"mode": "shadow"}]),
)
ANY_LIST = st.lists(ANY_RULE, max_size=2)
GRANT_NAMES = ("g", "h", "i")


@st.composite
def whole_policies(draw: st.DrawFn) -> dict[str, object]:
    """Three grants that may build on each other, and profiles `p` and `q`, which extends `p`."""
    grants = {name: draw(_grant(GRANT_NAMES[:place])) for place, name in enumerate(GRANT_NAMES)}
    return {
        "grants": grants,
        "profiles": {"p": draw(_profile()), "q": {**draw(_profile()), "extends": ["p"]}},
    }


def _grant(earlier: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    others = st.lists(st.sampled_from(earlier), max_size=1) if earlier else st.just([])
    return st.fixed_dictionaries(
        {"event_patterns": ANY_LIST, "requires": others, "extends": others},
        optional={
            "tools": st.lists(WORDS, max_size=2),
            "security_review_required": st.booleans(),
            "mcp_tools": st.booleans(),
            "always_included": st.booleans(),
            "level": st.sampled_from(["read", "write", "admin"]),
        },
    )


def _profile() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"capabilities": st.dictionaries(st.sampled_from([*GRANT_NAMES, "base"]), st.booleans())},
        optional={
            "additional_tools": ANY_LIST,
            "disallowed_tools": ANY_LIST,
            "ask": ANY_LIST,
            "level": st.sampled_from(["read", "write"]),
        },
    )


@st.composite
def things(draw: st.DrawFn, id: str) -> Capability:
    word = st.sampled_from(VALUES)
    optional = {
        "capability": st.sampled_from([*GRANT_NAMES, "base", 1]),
        "requires_auth": st.booleans(),
        "annotations": st.builds(lambda destructive: {"destructive": destructive}, st.booleans()),
        "method": st.sampled_from(["GET", "DELETE"]),
    }
    return capability(
        id,
        provider=draw(word),
        category=draw(word),
        tags=tuple(draw(st.lists(word, max_size=3))),
        has_side_effects=draw(st.booleans()),
        source=draw(SOURCES),
        source_ref=SourceRef(draw(st.sampled_from(["events", "", "files"])), "here"),
        metadata=draw(st.fixed_dictionaries({}, optional=optional)),
    )


@st.composite
def catalogues(draw: st.DrawFn) -> list[Capability]:
    return [draw(things(id)) for id in draw(st.lists(ANY_ID, unique=True, max_size=8))]


@st.composite
def moments(draw: st.DrawFn) -> PolicySnapshot:
    """A policy, a catalogue, and agents: `ada` of profile `p`, her child `bob`, and `eve` of none."""
    rules = RuleSet.of([define(draw(whole_policies()))])
    child = Agent(name="bob", profile=draw(st.sampled_from(["p", "q", "nothing"])), parent="ada")
    agents = {"ada": Agent(name="ada", profile=draw(st.sampled_from(["p", "q"]))), "bob": child}
    return PolicySnapshot(rules, PolicyState(agents=agents), replace(of(draw(catalogues())), trust=TRUST))
