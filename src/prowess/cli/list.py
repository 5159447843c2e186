"""`prowess list`"""

import click

from prowess.cli.session import emit, json_option, opened, say, table
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
    with opened() as engine:
        found = [
            c
            for c in engine.capabilities(agent, kind)
            if (not provider or c.provider == provider)
            and (not category or c.category == category)
            and (c.available or not available)
        ]
    if as_json:
        emit([as_data(c) for c in found])
    elif found:
        rows = [(c.id, c.provider, "yes" if c.available else c.unavailable[0], c.description) for c in found]
        table(("ID", "PROVIDER", "AVAILABLE", "DESCRIPTION"), rows)
    else:
        say("nothing here; see: prowess sources, prowess sync")


def as_data(capability: Capability) -> dict[str, object]:
    """A capability as the command line and the API show it."""
    fields = {name: getattr(capability, name) for name in Capability.__dataclass_fields__}
    return {**fields, "available": capability.available, "source_ref": str(capability.source_ref)}
