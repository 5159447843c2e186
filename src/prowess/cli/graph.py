"""`prowess graph`"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from prowess.cli.session import emit, json_option, opened, say, table

if TYPE_CHECKING:
    from prowess.discovery.graph import Edge
    from prowess.engine import Engine


@click.command()
@click.argument("id")
@json_option
def command(id: str, as_json: bool) -> None:
    """Show what a capability is related to, and how, and what needs it."""
    with opened() as engine:
        edges = (*engine.catalogue.related(id), *_from_what_needs_it(engine, id))
    if as_json:
        emit(edges)
    elif edges:
        rows = [(edge.type, f"{edge.weight:g}", f"{edge.source} -> {edge.target}") for edge in edges]
        table(("RELATION", "WEIGHT", "BETWEEN"), rows)
    else:
        say(f"{id} is related to nothing")


def _from_what_needs_it(engine: "Engine", id: str) -> "Iterable[Edge]":
    """Its dependents, each with its own edge: a dependency is a relation of the one that has it."""
    for user in engine.catalogue.dependents(id):
        yield from (edge for edge in engine.catalogue.related(user) if edge.target == id)
