"""`prowess list`"""

import click

from prowess.cli.session import emit, json_option, opened, say, table
from prowess.engine.engine import Engine
from prowess.types import Capability


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
    with opened(existing=True) as engine:
        found = [
            c
            for c in engine.catalogue.list(agent, kind)
            if (not provider or c.provider == provider)
            and (not category or c.category == category)
            and (c.available or not available)
        ]
        nothing = "" if found or as_json else why_nothing(engine, agent)
    if as_json:
        emit([as_data(c) for c in found])
    elif found:
        rows = [(c.id, c.provider, "yes" if c.available else c.unavailable[0], c.description) for c in found]
        table(("ID", "PROVIDER", "AVAILABLE", "DESCRIPTION"), rows)
    else:
        say(nothing)


def why_nothing(engine: Engine, agent: str | None) -> str:
    """What is true of a catalogue that shows nothing."""
    if engine.catalogue.list(agent):
        return "nothing here matches all the options; leave one out"
    off = [provider.name for provider in engine.providers.list(agent) if provider.off]
    if off:
        return f"switched off: {', '.join(off)}; run: prowess provider on NAME"
    if engine.quarantine.list():
        return "everything is held back; see: prowess quarantine list"
    if agent and engine.catalogue.list():
        return f"{agent} may use nothing of what exists; see: prowess doctor, prowess agent list"
    return "nothing here; see: prowess sources, prowess sync"


def as_data(capability: Capability) -> dict[str, object]:
    """A capability as the command line and the API show it."""
    fields = {name: getattr(capability, name) for name in Capability.__dataclass_fields__}
    return {**fields, "available": capability.available, "source_ref": str(capability.source_ref)}
