"""What a client is told of the gateway at the beginning: which servers are behind it and what they are for.

Above: `server`, which says it, and `kept_introduction`, for the first answer of the next start. Below: what
the caller may use, and nothing else.
"""

from collections import defaultdict
from collections.abc import Sequence

from prowess.calling.caller import Caller
from prowess.calling.wording import clean
from prowess.engine.engine import Engine
from prowess.gateway.greeting import INSTRUCTIONS
from prowess.types import Capability

MAX_SERVERS_CHARACTERS = 1500
"""Characters for all servers: some clients cut what is longer than 2,000."""
MAX_PURPOSE_CHARACTERS = 100
MAX_EXAMPLES = 4


def introduction(engine: Engine, caller: Caller) -> str:
    """The instructions for this caller."""
    visible = engine.catalogue.visible(caller.agent, caller.authenticated, over_mcp=True)
    if visible.is_stored:
        return f"{INSTRUCTIONS} There is very much behind it: search, and do not list."
    found: dict[str, list[Capability]] = defaultdict(list)
    for capability in visible.capabilities.values():
        found[capability.provider or capability.source].append(capability)
    lines = [_line(engine, name, found[name]) for name in sorted(found)]
    told: list[str] = []
    for line in lines:
        if sum(map(len, told)) + len(line) > MAX_SERVERS_CHARACTERS:
            told.append(f"- and {len(lines) - len(told)} more; list_capabilities names them")
            break
        told.append(line)
    return "\n".join([f"{INSTRUCTIONS} Behind it:", *told]) if told else INSTRUCTIONS


def _line(engine: Engine, name: str, capabilities: Sequence[Capability]) -> str:
    return f"- {clean(name)} ({len(capabilities)}): {_purpose(engine, name, capabilities)}"


def _purpose(engine: Engine, name: str, capabilities: Sequence[Capability]) -> str:
    """What a trusted server says of itself, where that is more than a name; else what is there."""
    provider = engine.catalogue.view().providers.get(name)
    said = " ".join(provider.description.split()) if provider else ""
    if provider and " " in said and engine.internals.sources.trusts(provider.source):
        return clean(said[:MAX_PURPOSE_CHARACTERS])
    tools = [one for one in capabilities if one.kind == "tool"] or list(capabilities)
    names = ", ".join(one.display_name for one in tools[:MAX_EXAMPLES])
    return clean(f"{names}, ..." if len(tools) > MAX_EXAMPLES else names)
