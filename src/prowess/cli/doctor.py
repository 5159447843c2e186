"""`prowess doctor`"""

import sys

import click

from prowess.cli.session import emit, json_option, opened, printable, say
from prowess.types import Problem


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Everything that is wrong, and what to do about it. Exit 1 when anything is an error."""
    with opened(existing=True) as engine:
        problems = engine.diagnose()
        store, total = engine.store, len(engine.catalogue.list())
    if as_json:
        emit({"store": store, "capabilities": total, "problems": problems})
    else:
        for problem in problems:
            show(problem)
        say(f"{total} capabilities in {store}; {len(problems) or 'no'} problems")
    sys.exit(1 if any(p.severity == "error" for p in problems) else 0)


def show(problem: Problem) -> None:
    colour = "red" if problem.severity == "error" else "yellow"
    click.echo(f"{click.style(problem.severity, fg=colour)}  {printable(str(problem))}")
