"""What a profile keeps from MCP clients: events of the system itself, and what its quiet grants give.

Above: the moment, which puts a line of agents together. Below: `resolve`.
"""

from prowess.policy.patterns import EVENT, CatalogueNames
from prowess.policy.resolve import given_ids, listed_ids
from prowess.policy.ruleset import RuleSet

INTERNAL = f"{EVENT}system:internal"


def kept_from_mcp(rules: RuleSet, profile: str, names: CatalogueNames) -> frozenset[str]:
    """What nothing gives but grants that say `mcp_tools: false`."""
    holding, hosts = rules.holding(profile), rules.host_names
    internal = {id for id in names.capabilities if id.startswith(INTERNAL)}
    quiet = [grant for grant in holding.grants.values() if grant.mcp_tools is False]
    if not quiet:
        return frozenset(internal)
    others = [grant for grant in holding.grants.values() if grant.mcp_tools is not False]
    told = given_ids(others, names, hosts) | listed_ids(holding.profile.additional, names, hosts)
    return frozenset(internal | (given_ids(quiet, names, hosts) - told))
