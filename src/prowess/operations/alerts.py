"""What people are told without looking, and how far it has come."""

import msgspec

from prowess.alerts.alert import Alert
from prowess.alerts.service import AlertService
from prowess.errors import NotFound
from prowess.operations.operation import Call, Limit, NoParams, RequestParams, operation


class WhichAlerts(RequestParams, frozen=True, kw_only=True):
    limit: Limit = 100


class ChannelTested(msgspec.Struct, frozen=True):
    channel: str
    problem: str
    """Why it did not arrive; empty where it did."""


@operation("alerts.list", "GET /alerts", quotes=True)
def list_alerts(call: Call[WhichAlerts]) -> tuple[Alert, ...]:
    """Alerts, those that still hold first, each with how far it has come on each channel."""
    return AlertService(call.engine.internals).list(call.params.limit)


@operation("alerts.see", "POST /alerts/{id}/seen", role="operator", quotes=True, errors=(NotFound,))
def see_alert(call: Call[NoParams]) -> Alert:
    """Say that an alert was seen, so that it is counted no longer."""
    return AlertService(call.engine.internals).see(call.path["id"], call.by)


@operation("alerts.test", "POST /alerts/test", role="admin", slow=True)
def test_alerts(call: Call[NoParams]) -> tuple[ChannelTested, ...]:
    """Send a test to every channel of [alerts] now."""
    found = AlertService(call.engine.internals).test()
    return tuple(ChannelTested(channel, problem) for channel, problem in found.items())
