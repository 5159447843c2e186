"""Logins at MCP servers that want OAuth: what is kept of them, and how they are shown to the server.

Above: `mcp` and the gateway, which connect; `prowess login`, which asks a person. Below: the SDK's OAuth
client, for discovery, registration, PKCE and refresh. Importing this module imports the SDK. Each login is
one file that only its owner can read. Connecting never waits for a person: a login that is missing or no
longer accepted ends in an error that names the command.
"""

import json
import os
import re
import shlex
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.oauth2 import OAuthContext
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl, BaseModel, ValidationError

from prowess.errors import SourceError
from prowess.sources.mcp.address import Address, expand
from prowess.sources.mcp.connection import Party
from prowess.store.database import DEFAULT_WORKSPACE
from prowess.types import DEFAULT_AGENT

LOGINS = "prowess/logins"
REFUSED = 401
LONG_PAST = 1.0
UNMARKED = "kept"
"""The mark of a login that was made before logins had one."""

Model = TypeVar("Model", bound=BaseModel)


def party_of(name: str, address: Address, environment: Mapping[str, str], agent: str = "") -> Party:
    """Who we are to the server at a configured address: a login helps only where no header does."""
    if not may_have_login(address):
        return Party()
    url = expand(address.url, environment)
    login = Login(login_file(name, url, environment, agent))
    whose = f"{name} --agent {shlex.quote(agent)}" if agent_of_login(agent) else name
    return Party(auth=StoredLogin(url, login) if login.exists else None, login=whose)


def may_have_login(address: Address) -> bool:
    """Whether a login could be shown there: to a command or beside a header of one's own, none is."""
    return bool(address.url) and not any(header.lower() == "authorization" for header in address.headers)


def agent_of_login(agent: str) -> str:
    """The agent in the name of a login of its own; `default` has the one that is made without `--agent`."""
    return "" if agent == DEFAULT_AGENT else agent


def login_mark(name: str, address: Address, environment: Mapping[str, str], agent: str = "") -> str:
    """Tells an agent's login from the one before somebody logged in again; empty where none is kept."""
    with suppress(SourceError):  # where a value of its URL is missing it is no server yet
        url = expand(address.url, environment)
        return Login(login_file(name, url, environment, agent)).mark if may_have_login(address) else ""
    return ""


def login_file(name: str, url: str, environment: Mapping[str, str], agent: str = "") -> Path:
    """Where a login is kept. The URL is part of the name: tokens never go to another server.

    So are the agent and the workspace whose login it is.
    """
    chosen = environment.get("XDG_STATE_HOME", "")
    # A relative XDG path is invalid by its specification and counts as not set.
    home = Path(environment.get("HOME") or Path.home())
    state = Path(chosen) if os.path.isabs(chosen) else home / ".local" / "state"
    legible = re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:40]
    workspace = environment.get("PROWESS_WORKSPACE") or DEFAULT_WORKSPACE
    # No URL has such a character, and no name of an agent.
    parts = (url, agent_of_login(agent), "" if workspace == DEFAULT_WORKSPACE else workspace)
    whose = "\0".join(parts).rstrip("\0")
    return state / LOGINS / f"{legible}-{sha256(whose.encode()).hexdigest()[:12]}.json"


def about_us(redirect: str) -> OAuthClientMetadata:
    """How we introduce ourselves to an authorization server."""
    return OAuthClientMetadata(
        client_name="prowess", redirect_uris=[AnyUrl(redirect)], token_endpoint_auth_method="none"
    )


class Login:
    """One login as the SDK stores it: tokens, who we are to their issuer, and where the issuer is.

    making: the mark of a login that is being made; without one it is the login that is kept.
    """

    def __init__(self, file: Path, now: Callable[[], float] = time.time, making: str = "") -> None:
        self.file = file
        self._now = now
        self._making = making
        self._mark = making or self.mark
        self._context: OAuthContext | None = None

    @property
    def mark(self) -> str:
        """Tells the login that is kept now from one that was kept there before; nothing where none is."""
        kept = self._read()
        return str(kept.get("mark") or UNMARKED) if kept else ""

    @property
    def exists(self) -> bool:
        return self.file.is_file()

    def follow(self, context: OAuthContext) -> None:
        """Keep also what this flow finds out about the issuer: without it nothing can be refreshed later."""
        self._context = context

    def restore(self, context: OAuthContext) -> None:
        """Put a flow where it was when this was written."""
        kept = self._read()
        self.follow(context)
        context.oauth_metadata = _model(OAuthMetadata, kept.get("issuer"))
        context.protected_resource_metadata = _model(ProtectedResourceMetadata, kept.get("resource"))
        context.client_info = _model(OAuthClientInformationFull, kept.get("client"))
        self.adopt(context)

    def adopt(self, context: OAuthContext) -> None:
        """Use the tokens that are kept now; another process may have renewed them."""
        kept = self._read()
        context.current_tokens = _model(OAuthToken, kept.get("tokens"))
        context.token_expiry_time = kept.get("expires_at")

    def forget(self) -> bool:
        """Whether there was anything to forget."""
        with suppress(FileNotFoundError):
            self.file.unlink()
            return True
        return False

    # --- what the SDK asks of a storage ----------------------------------------------------------

    async def get_tokens(self) -> OAuthToken | None:
        return _model(OAuthToken, self._read().get("tokens"))

    async def set_tokens(self, tokens: OAuthToken) -> None:
        expires = self._now() + tokens.expires_in if tokens.expires_in else None
        context = self._context
        found = {
            "issuer": _plain(context.oauth_metadata) if context else None,
            "resource": _plain(context.protected_resource_metadata) if context else None,
        }
        self._write({"tokens": _plain(tokens), "expires_at": expires, **found})

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return _model(OAuthClientInformationFull, self._read().get("client"))

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._write({"client": _plain(client_info)})

    # --- the file --------------------------------------------------------------------------------

    def _read(self) -> dict[str, Any]:
        try:
            kept = json.loads(self.file.read_text())
        except (OSError, ValueError):
            return {}
        return kept if isinstance(kept, dict) else {}

    def _write(self, more: Mapping[str, Any]) -> None:
        if not self._making and self.mark != self._mark:
            return  # somebody logged out or in again meanwhile, and these tokens are of the login before
        whole = {**self._read(), **more, "mark": self._mark}
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A name of its own for each process, so that two that write at once leave one whole file.
        new = self.file.with_name(f".{self.file.name}.{os.getpid()}")
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(whole, file)
        new.replace(self.file)


class StoredLogin(httpx2.Auth):
    """Shows the server the tokens of a login and renews them; never sends anybody to a browser."""

    def __init__(self, url: str, login: Login) -> None:
        self._login = login
        self._provider = OAuthClientProvider(url, about_us("http://127.0.0.1/callback"), login)
        login.restore(self._provider.context)

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        context = self._provider.context
        if context.is_token_valid() and context.current_tokens:
            # Not through the SDK's flow, which lets one request pass at a time.
            request.headers["Authorization"] = f"Bearer {context.current_tokens.access_token}"
            response = yield request
            if response.status_code != REFUSED:
                return
            self._doubt(context.current_tokens.access_token)
        flow = self._provider.async_auth_flow(request)
        try:
            outgoing = await anext(flow)
            while True:
                response = yield outgoing
                # What the SDK does next is to ask a person.
                if outgoing is request:
                    return
                outgoing = await flow.asend(response)
        except StopAsyncIteration:
            return
        finally:
            await flow.aclose()

    def _doubt(self, refused: str) -> None:
        """A token was refused: another process may have a newer one, else it is to be renewed."""
        context = self._provider.context
        self._login.adopt(context)
        if context.current_tokens and context.current_tokens.access_token == refused:
            context.token_expiry_time = LONG_PAST


def _model(kind: type[Model], value: object) -> Model | None:
    try:
        return kind.model_validate(value) if value else None
    except ValidationError:
        return None


def _plain(model: BaseModel | None) -> Any:
    return model.model_dump(mode="json", exclude_none=True) if model else None
