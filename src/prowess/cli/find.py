"""`prowess find`"""

from collections.abc import Mapping
from typing import Any

import click

from prowess.cli.session import emit, json_option, opened, printable, say, table
from prowess.engine.engine import Engine
from prowess.types import DEFAULT_AGENT


@click.command()
@click.argument("request")
@click.option("--agent", default=DEFAULT_AGENT, show_default=True, help="As this agent.")
@click.option("--kind", help="Only this kind.")
@click.option("--category", help="Only this category.")
@click.option("--top", "tier1_top_k", type=click.IntRange(1), help="At most this many.")
@click.option("--why", is_flag=True, help="Say why each is here.")
@json_option
def command(request: str, agent: str, why: bool, as_json: bool, **given: Any) -> None:
    """What fits REQUEST, best first, among what the agent may use.

    Where no option says otherwise, [discovery] in prowess.toml holds.
    """
    settings = {key: value for key, value in given.items() if value is not None}
    with opened(existing=True) as engine:
        hits = engine.find(request, agent, **settings)
        known = engine.catalogue.visible(agent).capabilities
        nothing = "" if hits or as_json else why_nothing(engine, request, agent, settings)
    if as_json:
        emit(hits)
    elif not hits:
        say(printable(nothing))
    elif why:
        for hit in hits:
            click.echo(
                f"{hit.score:.2f}  {click.style(hit.id, bold=True)}  {printable('; '.join(hit.reasons))}"
            )
            if hit.need:
                click.echo(f"      for: {printable(hit.need)}")
    else:
        rows = [(f"{hit.score:.2f}", hit.id, known[hit.id].description) for hit in hits]
        table(("SCORE", "ID", "DESCRIPTION"), rows)


def why_nothing(engine: Engine, request: str, agent: str, settings: Mapping[str, Any]) -> str:
    if not isinstance(engine, Engine):
        return "nothing fits; say it in other words, or see: prowess list"  # a server does not tell more
    from prowess.engine.no_results import why_nothing as cause

    return cause(engine, request, agent, settings)
