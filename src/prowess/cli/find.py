"""`prowess find`"""

import click

from prowess.cli.session import emit, json_option, opened, printable, say, table
from prowess.types import DEFAULT_AGENT


@click.command()
@click.argument("request")
@click.option("--agent", default=DEFAULT_AGENT, show_default=True, help="As this agent.")
@click.option("--kind", default="any", show_default=True, help="Only this kind.")
@click.option("--category", default="", help="Only this category.")
@click.option("--top", default=5, show_default=True, help="At most this many.")
@click.option("--why", is_flag=True, help="Say why each is here.")
@json_option
def command(request: str, agent: str, kind: str, category: str, top: int, why: bool, as_json: bool) -> None:
    """What fits REQUEST, best first, among what the agent may use."""
    with opened() as engine:
        hits = engine.find(request, agent, kind=kind, category=category, tier1_top_k=top)
        known = engine.visible(agent).capabilities
    if as_json:
        emit(hits)
    elif not hits:
        say("nothing fits; say it in other words, or see: prowess list")
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
