"""The page `login`: a person logs in at a server that wants OAuth, and comes back."""

from urllib.parse import urlsplit

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from prowess.engine.engine import Engine
from prowess.errors import Refused
from prowess.journal.entries import WebAsked
from prowess.operations.backend import Local
from prowess.operations.servers import unknown
from prowess.sources.mcp.source import McpSource
from prowess.web import identity, page
from prowess.web.pages.form import address
from prowess.web.server_logins import ServerLogins


async def begin(request: Request) -> Response:
    """Ask the server where a person logs in, and show that: whoever goes there sees where it leads first."""
    person = identity.require(request, "admin")
    async with request.form(max_files=0) as said:
        name = str(said.get("name", ""))
    return await to_thread.run_sync(_begun, request, Local(request.app.state.engine, person), name)


def _begun(request: Request, local: Local, name: str) -> Response:
    source = _source(local.engine, name)
    asked = WebAsked(
        by=local.person.name, role=local.person.role, operation="servers.log_in", of={"name": name}
    )
    local.engine.internals.journal.record(asked)
    logins: ServerLogins = request.app.state.logins
    scheme = "https" if request.app.state.secure else request.url.scheme
    url = logins.begin(source, "", f"{scheme}://{request.headers['host']}")
    if not url:
        return RedirectResponse(address("/server", name=name, done="open", what=name), 303)
    goes_to = urlsplit(url).netloc
    return page.render(
        request, "server_login.html", title="Log in", under="/servers", server=name, url=url, goes_to=goes_to
    )


def back(request: Request) -> Response:
    """The browser comes back from the server."""
    identity.require(request, "admin")
    engine: Engine = request.app.state.engine
    logins: ServerLogins = request.app.state.logins
    name = logins.come_back(request.query_params).name
    if kept := engine.internals.kept_servers:
        kept.restart(name)
    engine.sync(name)
    return RedirectResponse(address("/server", name=name, done="loggedin", what=name), 303)


def _source(engine: Engine, name: str) -> McpSource:
    found = next((one for one in engine.sources if one.name == name), None)
    if found is None:
        raise unknown(engine, name)
    if not isinstance(found, McpSource) or not found.url:
        raise Refused(409, f"{name} is not called at an address", "only those servers have logins")
    return found


ROUTES = (Route("/servers/login", begin, methods=["POST"]), Route("/servers/login/back", back))
