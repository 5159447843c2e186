"""`prowess graph`"""

import click

from prowess.cli.session import emit, json_option, opened, say, table


@click.command()
@click.argument("id")
@json_option
def command(id: str, as_json: bool) -> None:
    """What a capability is related to, and how."""
    with opened() as engine:
        edges = engine.related(id)
    if as_json:
        emit(edges)
    elif edges:
        rows = [(edge.type, f"{edge.weight:g}", f"{edge.source} -> {edge.target}") for edge in edges]
        table(("RELATION", "WEIGHT", "BETWEEN"), rows)
    else:
        say(f"{id} is related to nothing")
