"""`prowess why`"""

import click

from prowess.cli.session import connected, emit, json_option, printable
from prowess.operations import policy as ops

COLOURS = {"allow": "green", "ask": "yellow", "deny": "red"}


@click.command()
@click.argument("agent")
@click.argument("id")
@click.option("--request", default="", help="Also whether it would be offered for this, in one sentence.")
@click.option("--arguments", default="", help="Used with these, as JSON, where rules look at arguments.")
@json_option
def command(agent: str, id: str, request: str, arguments: str, as_json: bool) -> None:
    """Why AGENT may or may not use ID (an id, an event's name, or a host's tool), step by step."""
    with connected() as backend:
        found = backend.call(ops.why, ops.Why(agent=agent, id=id, request=request, arguments=arguments))
    if as_json:
        emit(found)
        return
    for step in found.steps:
        verdict = step.partition(":")[0]
        click.secho(printable(step), fg=COLOURS.get(verdict), bold=verdict in COLOURS)
