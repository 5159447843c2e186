"""Serving: the application on a socket, alone or beside other doors of the same process."""

import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from prowess.config import WebConfig
from prowess.errors import ConfigError
from prowess.listen import Bind, allowed_hosts
from prowess.web.protection import RequestLimits
from prowess.web.users import Users

SECONDS_TO_FINISH = 1
"""How long a request that is being answered may go on when the server is told to stop."""
BACKLOG = 2048


def limits_of(config: WebConfig, bind: Bind) -> RequestLimits:
    return RequestLimits(allowed_hosts(bind, config.hosts), config.max_body_bytes, config.rate)


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


async def serving(app: ASGIApp, door: socket.socket) -> None:
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
    with _told_to_stop_once():
        await uvicorn.Server(config).serve(sockets=[door])


@contextmanager
def _told_to_stop_once() -> Iterator[None]:
    """A server that was told to stop raises the signal again at its end; by then everything may close."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {one: signal.signal(one, lambda *_: None) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
