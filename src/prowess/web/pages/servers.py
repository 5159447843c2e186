"""The pages `servers` and `server`: whether each works, what it brings, how it is used, and its switch."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.operations.backend import Local
from prowess.operations.catalogue import Switch, SyncRequest, switch_provider, sync
from prowess.operations.operation import NO_PARAMS
from prowess.operations.servers import list_servers, show_server
from prowess.web import page
from prowess.web.pages.endings import ENDINGS
from prowess.web.pages.form import Fields, address, backend, form, note, said
from prowess.web.pages.pagination import paged
from prowess.web.pages.server_changes import in_words
from prowess.web.pages.usage import said_window, usage_values

TONES = {"on": "good", "partly": "warn", "down": "bad", "off": "", "not read": "warn"}
DONE = {
    "on": "{} is on again.",
    "off": "{} is off: what it brings is in no answer until somebody switches it on.",
    "synced": "Read again: {}.",
    "added": "Added and read: {}.",
    "restarted": "Started anew and read: {}.",
    "reworded": "Worded anew and read: {}.",
    "loggedin": "Logged in at {}.",
    "open": "{} wants no login.",
}


def listed(request: Request) -> Response:
    local = backend(request)
    found = local.call(list_servers, NO_PARAMS)
    counts = {state: sum(one.state == state for one in found) for state in TONES}
    return page.render(
        request,
        "servers.html",
        title="Servers",
        rows=paged(request, found),
        may_add=local.engine.internals.project is not None,
        counts={state: count for state, count in counts.items() if count},
        tones=TONES,
        notice=said(request, DONE),
    )


def shown(request: Request) -> Response:
    local, name = backend(request), request.query_params.get("name", "")
    found = local.call(show_server, NO_PARAMS, name=name)
    return page.render(
        request,
        "server.html",
        title=found.report.name,
        under="/servers",
        server=found.report,
        detail=found,
        tools=paged(request, found.tools),
        tones=TONES,
        endings=ENDINGS,
        notice=said(request, DONE),
        **usage_values(local, address("/server", name=name), said_window(request), server=name),
    )


def switch(local: Local, fields: Fields) -> str:
    name, on = fields.get("name", ""), fields.get("on") == "yes"
    local.call(show_server, NO_PARAMS, name=name)  # one that is not there cannot be switched
    local.call(switch_provider, Switch(on=on, reason=note(fields)), name=name)
    return address("/server", name=name, done="on" if on else "off", what=name)


def read_again(local: Local, fields: Fields) -> str:
    """Read one source, or all of them."""
    name = fields.get("name", "")
    source = local.call(show_server, NO_PARAMS, name=name).report.source if name else ""
    report = local.call(sync, SyncRequest(sources=(source,) if source else ()))
    return address("/server" if name else "/servers", name=name, done="synced", what=in_words(report))


ROUTES = (
    Route("/servers", listed),
    Route("/server", shown),
    form("/servers/switch", switch, switch_provider),
    form("/servers/sync", read_again, sync),
)
