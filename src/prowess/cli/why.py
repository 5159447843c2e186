"""`prowess why`"""

import click

from prowess.cli.session import emit, json_option, opened, printable

COLOURS = {"allow": "green", "ask": "yellow", "deny": "red"}


@click.command()
@click.argument("agent")
@click.argument("id")
@click.argument("request", default="")
@json_option
def command(agent: str, id: str, request: str, as_json: bool) -> None:
    """Why AGENT may or may not use ID (an id, an event's name, or a host's tool), step by step.

    With REQUEST, also why it would or would not be offered for that.
    """
    with opened() as engine:
        found = engine.explain(agent, id, request) if request else engine.explain(agent, id)
    if as_json:
        emit(found)
        return
    *steps, verdict = found.steps
    for step in steps:
        click.echo(printable(step))
    click.secho(printable(verdict), fg=COLOURS.get(found.verdict), bold=True)
