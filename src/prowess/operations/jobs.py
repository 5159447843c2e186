"""Work that one of all processes does: who does it, since when, and what came of it the last time."""

from prowess.jobs import Job
from prowess.operations.operation import Call, NoParams, operation


@operation("jobs.list", "GET /jobs")
def list_jobs(call: Call[NoParams]) -> tuple[Job, ...]:
    """Work that one of all processes does: who does it, since when, and what came of it the last time."""
    return call.engine.internals.jobs.every()
