"""What a client is told of the gateway at the beginning: which servers are behind it and what they are for.

Above: `server`, which says it, and `kept_introduction`, for the first answer of the next start. Below: what
the caller may use, and nothing else.
"""

from prowess.calling.caller import Caller
from prowess.calling.wording import clean
from prowess.engine.engine import Engine
from prowess.engine.listing import CatalogueListing, ListingFilter, listing
from prowess.gateway.greeting import INSTRUCTIONS

MAX_SERVERS_CHARACTERS = 1500
"""Characters for all servers: some clients cut what is longer than 2,000."""
MAX_PURPOSE_CHARACTERS = 100
MAX_EXAMPLES = 4


def introduction(engine: Engine, caller: Caller) -> str:
    """The instructions for this caller."""
    visible = engine.catalogue.visible(caller.agent, caller.authenticated, over_mcp=True)
    there = listing(engine.internals, visible)
    counts = there.counts("server")
    told: list[str] = []
    for (name,), count in counts.items():
        line = f"- {clean(name)} ({count}): {_purpose(engine, name, there)}"
        if sum(map(len, told)) + len(line) > MAX_SERVERS_CHARACTERS:
            told.append(f"- and {len(counts) - len(told)} more; list_capabilities names them")
            break
        told.append(line)
    return "\n".join([f"{INSTRUCTIONS} Behind it:", *told]) if told else INSTRUCTIONS


def _purpose(engine: Engine, name: str, there: CatalogueListing) -> str:
    """What a trusted server says of itself, where that is more than a name; else what is there."""
    provider = engine.catalogue.view().providers.get(name)
    said = " ".join(provider.description.split()) if provider else ""
    if provider and " " in said and engine.internals.sources.trusts(provider.source):
        return clean(said[:MAX_PURPOSE_CHARACTERS])
    first = MAX_EXAMPLES + 1
    tools = there.page(ListingFilter(server=name, kind="tool"), most=first)
    tools = tools or there.page(ListingFilter(server=name), most=first)
    names = ", ".join(one.display_name for one in tools[:MAX_EXAMPLES])
    return clean(f"{names}, ..." if len(tools) > MAX_EXAMPLES else names)
