"""`prowess list`"""

from collections.abc import Collection

import click

from prowess.cli.session import connected, emit, json_option, say, table
from prowess.operations.backend import Backend
from prowess.operations.catalogue import CapabilitiesQuery, ProvidersQuery, list_capabilities, list_providers
from prowess.operations.operation import NO_PARAMS
from prowess.operations.quarantine import list_held
from prowess.operations.secrets import list_secrets
from prowess.operations.turns import FindRequest, explain_no_results
from prowess.operations.values import CapabilityShown
from prowess.types import DEFAULT_AGENT, Capability


@click.command()
@click.option("--kind", default="", help="Only this kind: tool, skill, extension, channel, card, event ...")
@click.option("--provider", default="", help="Only what this provider brings.")
@click.option("--category", default="", help="Only this category.")
@click.option("--agent", help="As this agent sees it.")
@click.option("--available", is_flag=True, help="Only what can be used right now.")
@json_option
def command(
    kind: str, provider: str, category: str, agent: str | None, available: bool, as_json: bool
) -> None:
    """What exists, in order of id."""
    asked = CapabilitiesQuery(
        kind=kind, provider=provider, category=category, available=available, agent=agent or ""
    )
    with connected() as backend:
        found = tuple(backend.pages(list_capabilities, asked))
        nothing = "" if found or as_json else why_nothing(backend, agent or "")
        blocked = [] if as_json or agent else missing_secrets(backend, found)
    if as_json:
        emit([as_data(c) for c in found])
    elif found:
        rows = [(c.id, c.provider, "yes" if c.available else c.unavailable[0], c.description) for c in found]
        table(("ID", "PROVIDER", "AVAILABLE", "DESCRIPTION"), rows)
        for line in blocked:
            say(line)
    else:
        say(nothing)


def missing_secrets(backend: Backend, shown: Collection[CapabilityShown] | None = None) -> list[str]:
    """What is missing of what is shown, or of everything, and the command that sets it."""
    if shown is not None and all(c.available for c in shown):
        return []
    statuses = [one for one in backend.call(list_secrets, NO_PARAMS) if one.is_missing]
    needed = None if shown is None else {name for c in shown for name in c.required_secrets}
    return [str(one.problem) for one in statuses if needed is None or one.name in needed]


def why_nothing(backend: Backend, agent: str) -> str:
    """What is true of a catalogue that shows nothing."""
    if _is_anything(backend, agent):
        return "nothing here matches all the options; leave one out"
    off = [
        provider.name
        for provider in backend.call(list_providers, ProvidersQuery(agent=agent))
        if provider.off
    ]
    if off:
        return f"switched off: {', '.join(off)}; run: prowess provider on NAME"
    if backend.call(list_held, NO_PARAMS):
        return "everything is held back; see: prowess quarantine list"
    if agent and _is_anything(backend):
        return f"{agent} may use nothing of what exists; see: prowess doctor, prowess agent list"
    # Of an empty catalogue a search says why it finds nothing, whatever is looked for.
    anything = FindRequest(request="anything")
    return backend.call(explain_no_results, anything, agent=agent or DEFAULT_AGENT).reason


def _is_anything(backend: Backend, agent: str = "") -> bool:
    return any(True for _ in backend.pages(list_capabilities, CapabilitiesQuery(agent=agent), 1))


def as_data(capability: Capability | CapabilityShown) -> dict[str, object]:
    """A capability as the command line and the API show it."""
    fields = {name: getattr(capability, name) for name in Capability.__dataclass_fields__}
    return {**fields, "available": capability.available, "source_ref": str(capability.source_ref)}
