"""`prowess access-token`"""

import getpass
from datetime import timedelta

import click

from prowess.cli.session import emit, json_option, opened, say, table
from prowess.engine.engine import Engine
from prowess.journal import spoken
from prowess.opening import now
from prowess.operations.person import Role
from prowess.web.users import ROLES, Users


@click.group()
def command() -> None:
    """Access tokens of people, for the dashboard and the API: viewers look, operators act, admins decide."""


@command.command()
@click.argument("name")
@click.option(
    "--role", type=click.Choice(ROLES), default="viewer", show_default=True, help="What NAME may do."
)
@click.option(
    "--days", default=90, type=click.IntRange(1, 3650), show_default=True, help="How long it is valid."
)
@json_option
def add(name: str, role: Role, days: int, as_json: bool) -> None:
    """Issue a token for NAME, and print it once."""
    with opened(new=True) as engine:
        issued = _people(engine).issue(name, role, "token", timedelta(days=days), getpass.getuser())
    shown = issued.person_pass
    if as_json:
        emit(
            {"id": shown.id, "name": name, "role": role, "expires_at": shown.expires_at, "token": issued.text}
        )
    else:
        click.echo(issued.text)
    say(f"{name} is {role}; the token is shown this once and valid until {spoken(shown.expires_at)}")


@command.command("list")
@json_option
def show(as_json: bool) -> None:
    """Every token, without the token itself."""
    with opened() as engine:
        tokens = _people(engine).tokens()
    if as_json:
        emit(tokens)
        return
    rows = [(t.id, t.name, t.role, t.issued_at, t.expires_at, t.ended_at or "-") for t in tokens]
    table(("ID", "NAME", "ROLE", "ISSUED", "VALID UNTIL", "REVOKED"), rows)


@command.command()
@click.argument("id")
def revoke(id: str) -> None:
    """Make a token invalid, and end every session that was opened with it."""
    with opened() as engine:
        ended = _people(engine).end(id, getpass.getuser())
    say(f"the token of {ended.name} is revoked")


def _people(engine: Engine) -> Users:
    return Users(engine.internals.database, engine.internals.journal, now)
