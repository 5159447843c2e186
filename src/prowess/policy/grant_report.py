"""What one grant gives: the answer to `prowess policy what GRANT`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from prowess.policy.grants import UNSTATED, Level, smallest
from prowess.policy.patterns import HOST, CatalogueNames, shown
from prowess.policy.resolve import given_ids, pattern_ids
from prowess.policy.ruleset import RuleSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    grant: str
    description: str
    level: Level
    events: tuple[str, ...]
    host_tools: tuple[str, ...]
    unmatched: tuple[str, ...]
    """Its wildcards that match nothing yet, as they are written."""
    requires: tuple[str, ...]
    limits: Mapping[str, int]
    review: tuple[str, ...]
    mcp_tools: bool
    since: str
    version: str


def given(rules: RuleSet, name: str, names: CatalogueNames) -> Given:
    """Everything that holding this grant gives, with what it requires."""
    grant = rules.grant(name)
    closure = [rules.grant(one) for one in rules.closure(name, grant.place)]
    ids = given_ids(closure, names, rules.host_names)
    wildcards = dict.fromkeys(one for part in closure for one in part.patterns if not one.exact)
    idle = (one.text for one in wildcards if not any(pattern_ids(one, names, rules.host_names)))
    return Given(
        grant=name,
        description=grant.description,
        level=grant.level or UNSTATED,
        events=tuple(sorted(shown(id) for id in ids if not id.startswith(HOST))),
        host_tools=tuple(sorted(id.removeprefix(HOST) for id in ids if id.startswith(HOST))),
        unmatched=tuple(dict.fromkeys(idle)),
        requires=tuple(one.name for one in closure[:-1]),
        limits=reduce(smallest, (one.limits for one in closure)),
        review=tuple(one.name for one in closure if one.review),
        mcp_tools=grant.mcp_tools is not False,
        since=grant.since,
        version=grant.version,
    )
