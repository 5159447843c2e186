"""`prowess sources`"""

from collections import Counter
from collections.abc import Mapping

import click

from prowess.cli.session import emit, json_option, opened, printable, say, table
from prowess.engine.listing import listing
from prowess.engine.needed_secrets import secret_statuses
from prowess.sources.mcp.source import McpSource


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Where capabilities are read from, how many each brings, and what is wrong with it."""
    with opened() as engine:
        view = engine.catalogue.view()
        on = listing(engine.internals, view, active=True).counts("source")
        count = Counter({source: number for (source,), number in on.items()})
        problems = Counter(p.source for p in engine.catalogue.problems())
        down = {p.source: p.down for p in engine.providers.list() if p.down}
        needed = listing(engine.internals, view).secrets()
        secrets = secret_statuses(needed, engine.sources, engine.internals.environment)
        missing = {s.name: [one.name for one in secrets if one.is_missing and s.name in one.sources]
                   for s in engine.sources}  # fmt: skip
        rows = [
            {
                "name": source.name,
                "type": source.kind,
                "capabilities": count[source.name],
                "problems": problems[source.name],
                "down": down.get(source.name, ""),
                "missing_secrets": missing[source.name],
                "reaches": source.reach if isinstance(source, McpSource) else "",
            }
            for source in engine.sources
        ]
    if as_json:
        emit(rows)
    elif rows:
        headings = ("NAME", "TYPE", "CAPABILITIES", "PROBLEMS", "STATE")
        state = [(*[str(row[key]) for key in list(row)[:4]], _state(row)) for row in rows]
        table(headings, state)
        for row in rows:
            if row["reaches"]:
                click.echo(f"{row['name']} reaches: {printable(str(row['reaches']))}")
    else:
        say("no sources; run: prowess init")


def _state(row: Mapping[str, object]) -> str:
    missing = row["missing_secrets"]
    if isinstance(missing, list) and missing:
        run = f"needs {', '.join(missing)}; run: prowess secret set {missing[0]}"
        return f"{row['down']}; {run}" if row["down"] else run
    return str(row["down"] or ("see: prowess doctor" if row["problems"] else "ok"))
