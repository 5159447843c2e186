"""Servers, and whatever else brings capabilities: whether each works, why not, and how it is used."""

from prowess.engine.engine import Engine
from prowess.engine.server_reports import ServerDetail, ServerReport, server_detail, server_reports
from prowess.errors import NotFound
from prowess.operations.operation import Call, NoParams, operation


@operation("servers.list", "GET /servers", quotes=True)
def list_servers(call: Call[NoParams]) -> tuple[ServerReport, ...]:
    """Each server with its state, what it brings, its calls, errors and times, and the secrets it lacks."""
    return server_reports(call.engine.internals)


@operation("servers.show", "GET /servers/{name}", quotes=True, errors=(NotFound,))
def show_server(call: Call[NoParams]) -> ServerDetail:
    """One server with its tools, its problems, what was seen of it, and its latest calls."""
    name = call.path["name"]
    found = server_detail(call.engine.internals, name)
    if found is None:
        raise unknown(call.engine, name)
    return found


def unknown(engine: Engine, name: str) -> NotFound:
    known = [one.name for one in server_reports(engine.internals, 0)]
    return NotFound("server", name, known, "see: prowess sources")
