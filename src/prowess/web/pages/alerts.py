"""The page `alerts`: what is so now, what was, and whether people were told."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.alerts.alert import TITLES
from prowess.alerts.service import AlertService
from prowess.operations.alerts import WhichAlerts, list_alerts, see_alert, test_alerts
from prowess.operations.backend import Local
from prowess.operations.operation import NO_PARAMS
from prowess.web import page
from prowess.web.pages.form import Fields, NextPage, address, backend, form, said
from prowess.web.pages.pagination import paged

DONE = {"seen": "Marked as seen: {}."}


def listed(request: Request) -> Response:
    local = backend(request)
    found = local.call(list_alerts, WhichAlerts(limit=500))
    return page.render(
        request, "alerts.html", 200, title="Alerts", **_values(local),
        now=[one for one in found if one.is_open],
        past=paged(request, [one for one in found if not one.is_open]), notice=said(request, DONE),
    )  # fmt: skip


def see(local: Local, fields: Fields) -> str:
    seen = local.call(see_alert, NO_PARAMS, id=fields.get("id", ""))
    return address("/alerts", done="seen", what=seen.text[:100])


def test(local: Local, fields: Fields) -> NextPage:
    tested = local.call(test_alerts, NO_PARAMS)
    return NextPage("alerts_tested.html", "A test of the channels", {"under": "/alerts", "tested": tested})


def _values(local: Local) -> dict[str, object]:
    service = AlertService(local.engine.internals)
    channels = [channel.name for channel in service.channels]
    return {"titles": TITLES, "channels": channels, "config": service.config, "quiet": service.is_quiet()}


ROUTES = (
    Route("/alerts", listed),
    form("/alerts/seen", see, see_alert),
    form("/alerts/test", test, test_alerts),
)
