"""`prowess jobs`"""

import click

from prowess.cli.session import connected, emit, json_option, opened, table
from prowess.jobs import Job
from prowess.operations import jobs as ops
from prowess.operations.operation import NO_PARAMS


@click.command()
@click.option("--everywhere", is_flag=True, help="Of every workspace of the store.")
@json_option
def command(everywhere: bool, as_json: bool) -> None:
    """Background work that one process does for all: who does it, since when, and its last result."""
    found = _everywhere() if everywhere else _here()
    if as_json:
        emit(found)
        return
    rows = [
        (
            one.work,
            one.workspace,
            one.state,
            one.node,
            one.since[:19],
            one.until[:19],
            one.error or one.result,
        )
        for one in found
    ]
    table(("WORK", "WORKSPACE", "STATE", "NODE", "SINCE", "UNTIL", "LAST"), rows)


def _here() -> tuple[Job, ...]:
    with connected() as backend:
        return backend.call(ops.list_jobs, NO_PARAMS)


def _everywhere() -> tuple[Job, ...]:
    with opened() as engine:
        return engine.internals.jobs.every(everywhere=True)
