"""`prowess find`"""

import click

from prowess.cli.session import connected, emit, json_option, printable, say, table
from prowess.operations import turns as ops
from prowess.operations.operation import NO_PARAMS
from prowess.types import DEFAULT_AGENT, Hit


@click.command()
@click.argument("request")
@click.option("--agent", default=DEFAULT_AGENT, show_default=True, help="As this agent.")
@click.option("--kind", help="Only this kind.")
@click.option("--category", help="Only this category.")
@click.option("--top", type=click.IntRange(1), help="At most this many.")
@click.option("--why", is_flag=True, help="Say why each is here.")
@json_option
def command(
    request: str,
    agent: str,
    kind: str | None,
    category: str | None,
    top: int | None,
    why: bool,
    as_json: bool,
) -> None:
    """What fits REQUEST, best first, among what the agent may use.

    Defaults come from [discovery] in prowess.toml.
    """
    asked = ops.FindRequest(request=request, kind=kind, category=category, top=top)
    with connected() as backend:
        hits = backend.call(ops.find, asked, agent=agent)
        if as_json:
            emit(hits)
        elif not hits:
            say(printable(backend.call(ops.explain_no_results, asked, agent=agent).reason))
        elif why:
            _print_reasons(hits)
        else:
            found = [backend.call(ops.show_visible, NO_PARAMS, agent=agent, id=hit.id) for hit in hits]
            rows = [
                (f"{hit.score:.2f}", hit.id, one.description) for hit, one in zip(hits, found, strict=True)
            ]
            table(("SCORE", "ID", "DESCRIPTION"), rows)


def _print_reasons(hits: tuple[Hit, ...]) -> None:
    for hit in hits:
        click.echo(f"{hit.score:.2f}  {click.style(hit.id, bold=True)}  {printable('; '.join(hit.reasons))}")
        if hit.need:
            click.echo(f"      for: {printable(hit.need)}")
