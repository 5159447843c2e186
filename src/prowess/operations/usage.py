"""How much is called, how it ends and how long it takes, over time."""

from prowess.engine.use_over_time import UseOverTime, Window, use_over_time
from prowess.operations.operation import Call, Name, RequestParams, operation


class UsageQuery(RequestParams, frozen=True, kw_only=True):
    window: Window = "week"
    server: Name | None = None
    """Only calls of what this server brings."""
    agent: Name | None = None
    """Only calls of this agent."""


@operation("usage.series", "GET /usage")
def usage_series(call: Call[UsageQuery]) -> UseOverTime:
    """Calls, errors and denials in each step of a day, a week or a month, and how long calls took."""
    said = call.params
    return use_over_time(call.engine.internals, said.window, said.server or "", said.agent)
