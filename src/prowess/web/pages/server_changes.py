"""The pages that change servers: one is added, reworded, taken out or started anew; all of it undone."""

import shlex
from collections.abc import Mapping

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.errors import ConfigError, NotFound, ProwessError
from prowess.operations.backend import Local
from prowess.operations.catalogue import SyncRequest, sync
from prowess.operations.operation import NO_PARAMS
from prowess.operations.server_changes import (
    ConfirmFileChange,
    ConfirmServers,
    FileChangeShown,
    ProposeServers,
    ToolWording,
    add_servers,
    list_file_changes,
    propose_removal,
    propose_servers,
    propose_undo_of_servers,
    remove_server,
    restart_server,
    reword_tool,
    undo_server_change,
)
from prowess.operations.servers import show_server
from prowess.text.counts import counted
from prowess.types import SyncReport
from prowess.web import page
from prowess.web.pages.form import Fields, NextPage, address, backend, form, said
from prowess.web.pages.policy_change import marked

FIELDS = ("name", "command", "url", "env", "headers", "text")
DONE = {
    "undone": "prowess.toml was changed: it {}.",
    "removed": "prowess.toml was changed: it {}. What the server brought goes with the next sync.",
}


def add_form(request: Request) -> Response:
    """The form, and what was changed before."""
    local = backend(request)
    values = {**_values(local, {}, None, None), "notice": said(request, DONE)}
    return page.render(request, "server_add.html", 200, title="Add a server", **values)


def look(local: Local, fields: Fields) -> NextPage:
    """What the form would write; kept nowhere, since a secret may stand in it."""
    proposal, refused = None, None
    try:
        proposal = local.call(propose_servers, _proposed(fields))
    except ProwessError as error:
        refused = error
    return NextPage("server_add.html", "Add a server", _values(local, fields, proposal, refused))


def add(local: Local, fields: Fields) -> str:
    asked = msgspec.structs.asdict(_proposed(fields))
    made = local.call(add_servers, ConfirmServers(**asked, digest=fields.get("digest", "")))
    report = local.call(sync, SyncRequest(sources=made.added))
    name = made.added[0] if len(made.added) == 1 else ""
    what = f"{', '.join(made.added)}; {in_words(report)}"
    return address("/server" if name else "/servers", name=name, done="added", what=what)


def undo_form(request: Request) -> Response:
    """What taking back the latest change would do."""
    local = backend(request)
    try:
        proposal = local.call(propose_undo_of_servers, NO_PARAMS)
    except (ConfigError, NotFound) as error:
        return _confirm(request, None, "/servers/undo", "Take it back", refused=error)
    return _confirm(request, proposal, "/servers/undo", "Take it back")


def undo(local: Local, fields: Fields) -> str:
    made = local.call(undo_server_change, ConfirmFileChange(digest=fields.get("digest", "")))
    local.call(sync, SyncRequest())
    return address("/servers/add", done="undone", what=made.does)


def removal_form(request: Request) -> Response:
    """What taking a server out would do."""
    name = request.query_params.get("name", "")
    proposal = backend(request).call(propose_removal, NO_PARAMS, name=name)
    return _confirm(request, proposal, "/servers/remove", "Take it out", name)


def remove(local: Local, fields: Fields) -> str:
    confirmed = ConfirmFileChange(digest=fields.get("digest", ""))
    made = local.call(remove_server, confirmed, name=fields.get("name", ""))
    local.call(sync, SyncRequest())
    return address("/servers/add", done="removed", what=made.does)


def restart(local: Local, fields: Fields) -> str:
    name = fields.get("name", "")
    report = local.call(restart_server, NO_PARAMS, name=name)
    return address("/server", name=name, done="restarted", what=in_words(report))


def wording_form(request: Request) -> Response:
    """A tool as its author words it, and as it is worded here."""
    local, id = backend(request), request.query_params.get("id", "")
    found = local.engine.catalogue.get(id)
    own = local.engine.internals.catalogue.original(id).capability
    return page.render(
        request, "server_wording.html", title="Words of a tool", under="/servers", capability=found, own=own,
        server=found.provider or found.source,
    )  # fmt: skip


def reword(local: Local, fields: Fields) -> str:
    name, tool = fields.get("name", ""), fields.get("tool", "")
    own = local.engine.internals.catalogue.original(fields.get("id", "")).capability
    given = {key: fields.get(key, "").strip() for key in ("new_name", "description")}
    said = ToolWording(
        tool=tool,
        name="" if given["new_name"] == own.name else given["new_name"],
        description="" if given["description"] == own.description.strip() else given["description"],
    )
    source = local.call(show_server, NO_PARAMS, name=name).report.source
    local.call(reword_tool, said, name=source)
    report = local.call(sync, SyncRequest(sources=(source,)))
    return address("/server", name=name, done="reworded", what=f"{tool}; {in_words(report)}")


def in_words(report: SyncReport) -> str:
    """What a sync brought, in a few words."""
    changes = report.changes
    came = f"{len(changes.added)} new, {len(changes.changed)} changed, {len(changes.removed)} gone"
    return came + (f", {counted(len(report.problems), 'problem')}" if report.problems else "")


def _proposed(fields: Fields) -> ProposeServers:
    if text := fields.get("text", "").strip():
        return ProposeServers(text=text)
    try:
        command, *args = shlex.split(fields.get("command", "")) or [""]
    except ValueError as error:
        raise ConfigError("command", f"cannot be read: {error}", "close what is quoted") from None
    return ProposeServers(
        name=fields.get("name", ""), command=command, args=tuple(args), url=fields.get("url", "").strip(),
        env=_pairs(fields.get("env", ""), "="), headers=_pairs(fields.get("headers", ""), ":"),
    )  # fmt: skip


def _pairs(text: str, mark: str) -> Mapping[str, str]:
    """A name and a value on each line; a name alone stands for a secret that is called so."""
    found = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, _, value = map(str.strip, line.partition(mark))
        found[name] = value or f"${{{name}}}"
    return found


def _values(
    local: Local, fields: Fields, proposal: FileChangeShown | None, refused: ProwessError | None
) -> Mapping[str, object]:
    return {
        "under": "/servers",
        "may_write": local.engine.internals.project is not None,
        "fields": {name: fields.get(name, "") for name in FIELDS},
        "proposal": proposal,
        "text": marked(proposal.lines) if proposal else (),
        "refused": refused,
        "history": local.call(list_file_changes, NO_PARAMS),
        "notice": "",
    }


def _confirm(
    request: Request, proposal: FileChangeShown | None, action: str, button: str, name: str = "",
    refused: ProwessError | None = None,
) -> Response:  # fmt: skip
    return page.render(
        request, "server_confirm.html", title="Change prowess.toml", under="/servers", proposal=proposal,
        text=marked(proposal.lines) if proposal else (), action=action, button=button, name=name,
        refused=refused,
    )  # fmt: skip


ROUTES = (
    Route("/servers/add", add_form, methods=["GET"]),
    form("/servers/look", look, propose_servers),
    form("/servers/add", add, add_servers),
    Route("/servers/undo", undo_form, methods=["GET"]),
    form("/servers/undo", undo, undo_server_change),
    Route("/servers/remove", removal_form, methods=["GET"]),
    form("/servers/remove", remove, remove_server),
    form("/servers/restart", restart, restart_server),
    Route("/servers/wording", wording_form, methods=["GET"]),
    form("/servers/wording", reword, reword_tool),
)
