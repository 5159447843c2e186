"""`prowess agent`"""

from dataclasses import asdict
from datetime import timedelta

import click

from prowess.cli.session import emit, json_option, opened, say, table
from prowess.gateway.caller import issue_token, revoke_token, token_list


@click.group()
def command() -> None:
    """Agents: names bound to profiles, each perhaps with a parent it never exceeds."""


@command.command("list")
@json_option
def show(as_json: bool) -> None:
    """Every agent, its profile and its parent."""
    with opened() as engine:
        agents = engine.agents.list()
    if as_json:
        emit(agents)
        return
    rows = [(a.name, a.profile, a.parent or "-", a.since or "bound by a policy file") for a in agents]
    table(("NAME", "PROFILE", "PARENT", "SINCE"), rows)


@command.command()
@click.argument("name")
@click.option("--profile", required=True, help="What it may use.")
@click.option("--parent", default="", help="The agent it descends from and never exceeds.")
@click.option(
    "--days",
    default=90,
    type=click.IntRange(0, 3650),
    show_default=True,
    help="How long its token is valid; 0: no token.",
)
@json_option
def add(name: str, profile: str, parent: str, days: int, as_json: bool) -> None:
    """Bind NAME to a profile, and print its token once."""
    with opened() as engine:
        agent = engine.agents.spawn(parent, name, profile) if parent else engine.agents.bind(name, profile)
        issued = issue_token(engine, name, timedelta(days=days)) if days > 0 else None
    if as_json:
        emit({**asdict(agent), "token": issued.text if issued else ""})
    elif issued:
        click.echo(issued.text)
    say(f"{name} has profile {profile}{f' and parent {parent}' if parent else ''}")
    if issued:
        say(f"its token is shown this once and valid until {issued.token.expires_at}")


@command.command()
@click.argument("name")
@json_option
def remove(name: str, as_json: bool) -> None:
    """Retire NAME and every agent below it."""
    with opened() as engine:
        gone = engine.agents.retire(name)
    if as_json:
        emit({"removed": gone})
    say(f"removed {', '.join(gone)}")


@command.group("access-token")
def token() -> None:
    """What agents present over HTTP to prove their names."""


@token.command("list")
@json_option
def list_tokens(as_json: bool) -> None:
    """Every token, without the token itself."""
    with opened() as engine:
        tokens = token_list(engine)
    if as_json:
        emit(tokens)
        return
    rows = [(t.id, t.agent, t.issued_at, t.expires_at, t.revoked_at or "-") for t in tokens]
    table(("ID", "AGENT", "ISSUED", "VALID UNTIL", "REVOKED"), rows)


@token.command("add")
@click.argument("agent")
@click.option(
    "--days", default=90, type=click.IntRange(1, 3650), show_default=True, help="How long it is valid."
)
def add_token(agent: str, days: int) -> None:
    """Issue another token for AGENT, and print it once."""
    with opened() as engine:
        issued = issue_token(engine, agent, timedelta(days=days))
    click.echo(issued.text)
    say(f"shown this once, valid until {issued.token.expires_at}")


@token.command()
@click.argument("id")
def revoke(id: str) -> None:
    """Make a token worthless."""
    with opened() as engine:
        revoked = revoke_token(engine, id)
    say(f"token {revoked.id} of {revoked.agent} is revoked")
