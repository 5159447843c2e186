"""How much is called, how it ends and how long it takes, over time."""

from prowess.engine.offers_over_time import OffersOverTime, offers_over_time
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


class OffersQuery(RequestParams, frozen=True, kw_only=True):
    window: Window = "week"
    agent: Name | None = None
    """Only requests of this agent."""


@operation("usage.offers", "GET /usage/offers")
def offers_series(call: Call[OffersQuery]) -> OffersOverTime:
    """What offers took beside showing everything, and how often what worked had been found, in each step."""
    return offers_over_time(call.engine.internals, call.params.window, call.params.agent)
