"""Serving: the application on a socket, alone or beside other doors of the same process."""

import socket
from collections.abc import Mapping
from urllib.parse import urlsplit

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from prowess.config import WebConfig
from prowess.errors import ConfigError
from prowess.listen import Bind, allowed_hosts
from prowess.monitoring.monitored import Monitored
from prowess.monitoring.stopping import SECONDS_TO_FINISH, StopTimes, serve_until_told
from prowess.web.protection import RequestLimits
from prowess.web.users import Users

BACKLOG = 2048


def limits_of(config: WebConfig, bind: Bind) -> RequestLimits:
    own = [urlsplit(config.oidc.url).netloc] if config.oidc else []
    return RequestLimits(allowed_hosts(bind, [*config.hosts, *own]), config.max_body_bytes, config.rate)


def may_change_servers(config: WebConfig, bind: Bind) -> bool:
    """Whether pages may write prowess.toml: a server that is added there is a program of this machine."""
    return config.change_servers == "always" or (config.change_servers == "local" and bind.is_loopback)


def refuse_strangers(people: Users, bind: Bind) -> None:
    """Beyond this machine nobody is served who brings no token, so there must be one to bring."""
    if not bind.is_loopback and not people.any_valid():
        what = f"{bind.host} can be reached by others, and nobody has a token"
        raise ConfigError("--host", what, "run first: prowess access-token add NAME --role admin")


def login_link(people: Users, bind: Bind, name: str) -> str:
    """An address that signs its reader in once, as admin of this server."""
    return f"{bind.address}/login?link={people.issue(name, 'admin', 'link').text}"


def listening(bind: Bind) -> socket.socket:
    """The socket, open before anybody is told of it; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in bind.host else socket.AF_INET
    try:
        return socket.create_server((bind.host, bind.port), family=family, backlog=BACKLOG)
    except OSError as failure:
        what = f"cannot listen on {bind.host}:{bind.port} ({failure.strerror})"
        raise ConfigError("--port", what, "stop what is there, or choose another port") from None


def beside(app: ASGIApp, others: Mapping[str, ASGIApp]) -> ASGIApp:
    """One application: each of the others under its own path, `app` everywhere else.

    What starts and ends with the process belongs to the first of the others; `app` needs nothing of that.
    """

    async def joined(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            chosen = next(iter(others.values()), app)
        else:
            path = scope["path"]
            fitting = (other for at, other in others.items() if path == at or path.startswith(f"{at}/"))
            chosen = next(fitting, app)
        await chosen(scope, receive, send)

    return joined


async def serving(app: Monitored, door: socket.socket, times: StopTimes) -> None:
    # The access log is off: it would be the only place where a request's address is written.
    config = uvicorn.Config(
        app,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=SECONDS_TO_FINISH,
        server_header=False,
        # Who is at the other end is what the socket says, not what a header claims.
        proxy_headers=False,
    )
    await serve_until_told(app, config, times, door)
