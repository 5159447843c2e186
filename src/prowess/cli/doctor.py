"""`prowess doctor`"""

import sys

import click

from prowess.cli.session import connected, emit, json_option, printable, problem_count, say
from prowess.operations import catalogue as ops
from prowess.operations.operation import NO_PARAMS
from prowess.text.counts import counted
from prowess.types import Problem


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Everything that is wrong, and what to do about it. Exit 1 when anything is an error."""
    with connected() as backend:
        found = backend.call(ops.doctor, NO_PARAMS)
    store = f"{found.store} of {backend.server}" if backend.server else found.store
    problems, total = found.problems, found.capabilities
    if as_json:
        emit({"store": store, "capabilities": total, "problems": problems})
    else:
        for problem in problems:
            show(problem)
        say(f"{counted(total, 'capability')} in {store}; {problem_count(problems)}")
    sys.exit(1 if any(p.severity == "error" for p in problems) else 0)


def show(problem: Problem) -> None:
    colour = "red" if problem.severity == "error" else "yellow"
    click.echo(f"{click.style(problem.severity, fg=colour)}  {printable(str(problem))}")
