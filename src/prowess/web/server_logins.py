"""Logins at servers that want OAuth, begun on a page: the browser goes to the server and comes back here.

Above: the page of a server. Below: `login_flow`, whose SDK is loaded with the first login. Each login waits
in a thread of its own, for a few minutes.
"""

import threading
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import anyio
from anyio import to_thread

from prowess.errors import MissingExtra, ProwessError, Refused, SourceError
from prowess.sources.mcp.source import McpSource

if TYPE_CHECKING:
    from prowess.sources.mcp.login_flow import Callback

BACK = "/servers/login/back"
SECONDS_TO_BEGIN = 30.0
SECONDS_FOR_PERSON = 300.0
SECONDS_TO_END = 30.0
MAX_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class PendingLogin:
    """One login that a person is making."""

    source: McpSource
    agent: str
    url: str
    """Where the browser comes back to."""
    page: "Future[str]" = field(default_factory=Future)
    """Where the person goes; empty where the server wants no login."""
    came: "Future[Mapping[str, str]]" = field(default_factory=Future)
    ended: "Future[int]" = field(default_factory=Future)
    """How many tools the server then offers."""

    async def brought(self) -> Mapping[str, str]:
        """The query that the browser comes back with."""
        wait = partial(self.came.result, SECONDS_FOR_PERSON)
        return await to_thread.run_sync(wait, abandon_on_cancel=True)

    def run(self) -> None:
        """The whole login, in a thread."""
        try:
            from prowess.sources.mcp.login_flow import LoginRequest, log_in
        except ImportError:
            self._end(MissingExtra("logging in at an MCP server", "gateway"))
            return
        wanted = LoginRequest(seconds=SECONDS_FOR_PERSON, agent=self.agent)
        try:
            listing = anyio.run(partial(log_in, self.source, self._show, wanted, self._waiting()))
        except ProwessError as error:
            self._end(error)
        except Exception:
            self._end(SourceError(self.source.name, "the login broke off", "try again"))
            raise
        else:
            if not self.page.done():
                self.page.set_result("")
            self.ended.set_result(len(listing.tools) if listing else 0)

    async def _show(self, url: str) -> None:
        self.page.set_result(url)

    @asynccontextmanager
    async def _waiting(self) -> "AsyncIterator[Callback]":
        yield self

    def _end(self, error: ProwessError) -> None:
        if not self.page.done():
            self.page.set_exception(error)
        self.ended.set_exception(error)


class ServerLogins:
    """The logins that wait for their person, each by the `state` that its server gives back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pending: dict[str, PendingLogin] = {}

    def begin(self, source: McpSource, agent: str, base: str) -> str:
        """Begin one; returns where the person goes, nothing where the server wants no login.

        base: the address of the dashboard, as the browser reaches it.
        """
        login = PendingLogin(source, agent, f"{base}{BACK}")
        threading.Thread(target=login.run, name="prowess-login", daemon=True).start()
        try:
            page = login.page.result(SECONDS_TO_BEGIN)
        except TimeoutError:
            raise SourceError(source.name, "did not say where to log in", "try again later") from None
        if page:
            with self._lock:
                while len(self._pending) >= MAX_AT_ONCE:
                    self._pending.pop(next(iter(self._pending)))
                self._pending[_state(page)] = login
        return page

    def come_back(self, query: Mapping[str, str]) -> McpSource:
        """A browser is back: the login ends. Raises what was wrong with it."""
        with self._lock:
            login = self._pending.pop(query.get("state", ""), None)
        if login is None:
            raise Refused(404, "no login waits for this", "begin it again on the page of the server")
        login.came.set_result(dict(query))
        try:
            login.ended.result(SECONDS_TO_END)
        except TimeoutError:
            raise SourceError(login.source.name, "did not end the login in time", "try again") from None
        return login.source


def _state(url: str) -> str:
    return parse_qs(urlsplit(url).query).get("state", [""])[0]
