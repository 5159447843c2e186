"""`prowess agent`"""

import click

from prowess.cli.session import emit, json_option, opened, say, table


@click.group()
def command() -> None:
    """Agents: names bound to profiles, each perhaps with a parent it never exceeds."""


@command.command("list")
@json_option
def show(as_json: bool) -> None:
    """Every agent, its profile and its parent."""
    with opened() as engine:
        agents = engine.agents()
    if as_json:
        emit(agents)
        return
    rows = [(a.name, a.profile, a.parent or "-", a.since or "bound by a policy file") for a in agents]
    table(("NAME", "PROFILE", "PARENT", "SINCE"), rows)


@command.command()
@click.argument("name")
@click.option("--profile", required=True, help="What it may use.")
@click.option("--parent", default="", help="The agent it descends from and never exceeds.")
@json_option
def add(name: str, profile: str, parent: str, as_json: bool) -> None:
    """Bind NAME to a profile."""
    with opened() as engine:
        agent = engine.spawn(parent, name, profile) if parent else engine.bind(name, profile)
    if as_json:
        emit(agent)
    say(f"{name} has profile {profile}{f' and parent {parent}' if parent else ''}")


@command.command()
@click.argument("name")
@json_option
def remove(name: str, as_json: bool) -> None:
    """Retire NAME and every agent below it."""
    with opened() as engine:
        gone = engine.retire(name)
    if as_json:
        emit({"removed": gone})
    say(f"removed {', '.join(gone)}")
