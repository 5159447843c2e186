"""`prowess provider`"""

import click

from prowess.cli.session import connected, emit, json_option, say, table
from prowess.operations.catalogue import ProvidersQuery, Switch, list_providers, switch_provider


@click.group()
def command() -> None:
    """Providers bring capabilities and are switched on and off, for all or for one agent."""


@command.command("list")
@click.option("--agent", help="As this agent has them.")
@json_option
def show(agent: str | None, as_json: bool) -> None:
    """Every provider, its faculties and its state."""
    with connected() as backend:
        providers = backend.call(list_providers, ProvidersQuery(agent=agent or ""))
    if as_json:
        emit(providers)
        return
    rows = [
        (p.name, p.source, "off" if p.off else "down" if p.down else "on", ", ".join(p.faculties))
        for p in providers
    ]
    table(("NAME", "SOURCE", "STATE", "FACULTIES"), rows)


@command.command()
@click.argument("name")
@click.option("--agent", default="", help="Only for this agent.")
def on(name: str, agent: str) -> None:
    """Switch a provider on again."""
    with connected() as backend:
        backend.call(switch_provider, Switch(on=True, agent=agent), name=name)
    say(f"{name} is on{f' for {agent}' if agent else ''}")


@command.command()
@click.argument("name")
@click.option("--agent", default="", help="Only for this agent.")
def off(name: str, agent: str) -> None:
    """Switch a provider off: what it brings is in no answer until it is on again."""
    with connected() as backend:
        backend.call(switch_provider, Switch(on=False, agent=agent), name=name)
    say(f"{name} is off{f' for {agent}' if agent else ''}")
