"""`prowess agent`"""

from dataclasses import asdict

import click

from prowess.cli.session import connected, emit, json_option, say, table
from prowess.errors import NotFound
from prowess.journal import spoken
from prowess.operations import agents as ops
from prowess.operations.operation import NO_PARAMS


@click.group()
def command() -> None:
    """Agents: names bound to profiles, each perhaps with a parent it never exceeds."""


@command.command("list")
@json_option
def show(as_json: bool) -> None:
    """Every agent, its profile and its parent."""
    with connected() as backend:
        agents = backend.call(ops.list_agents, NO_PARAMS)
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
    asked = ops.BindAgent(name=name, profile=profile, parent=parent)
    with connected() as backend:
        agent = backend.call(ops.add_agent, asked)
        issued = backend.call(ops.add_agent_token, ops.Lasting(days=days), agent=name) if days else None
    if as_json:
        emit({**asdict(agent), "token": issued.token if issued else ""})
    elif issued:
        click.echo(issued.token)
    say(f"{name} has profile {profile}{f' and parent {parent}' if parent else ''}")
    if issued:
        say(f"its token is shown this once and valid until {spoken(issued.expires_at)}")


@command.command()
@click.argument("name")
@json_option
def remove(name: str, as_json: bool) -> None:
    """Retire NAME and every agent below it."""
    with connected() as backend:
        gone = backend.call(ops.remove_agent, NO_PARAMS, agent=name).removed
    if as_json:
        emit({"removed": gone})
    say(f"removed {', '.join(gone)}")


@command.group("access-token")
def token() -> None:
    """Access tokens, with which agents prove their names over HTTP."""


@token.command("list")
@json_option
def list_tokens(as_json: bool) -> None:
    """Every token, without the token itself."""
    with connected() as backend:
        tokens = backend.call(ops.list_all_tokens, NO_PARAMS)
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
    with connected() as backend:
        issued = backend.call(ops.add_agent_token, ops.Lasting(days=days), agent=agent)
    click.echo(issued.token)
    say(f"shown this once, valid until {spoken(issued.expires_at)}")


@token.command()
@click.argument("id")
def revoke(id: str) -> None:
    """Make a token invalid."""
    with connected() as backend:
        known = backend.call(ops.list_all_tokens, NO_PARAMS)
        agent = next((token.agent for token in known if token.id == id), "")
        if not agent:
            raise NotFound("token", id, see="see: prowess agent access-token list")
        revoked = backend.call(ops.end_agent_token, NO_PARAMS, agent=agent, id=id)
    say(f"token {revoked.id} of {revoked.agent} is revoked")
