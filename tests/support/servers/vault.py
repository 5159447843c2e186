"""An MCP server over HTTP that wants OAuth, with its own authorization server: VAULT PORT SECONDS.

Whoever comes to log in is let in at once. SECONDS is how long an access token lasts. What happened is told
by the tool `visits`; `/revoke` makes every token given out so far worthless, `/revoke-all` also those for
renewing.
"""

import secrets
import sys
import time
from collections import Counter

from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import Context
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

PORT = int(sys.argv[1])
LASTS = int(sys.argv[2]) if len(sys.argv) > 2 else 3600
BASE = f"http://127.0.0.1:{PORT}"


class Desk(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.renewals: dict[str, RefreshToken] = {}
        self.visits: Counter[str] = Counter()

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.visits["registered"] += 1
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        self.visits["authorized"] += 1
        code = AuthorizationCode(
            code=secrets.token_urlsafe(32),
            client_id=client.client_id,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._issue(client.client_id, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        return self.renewals.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        self.visits["renewed"] += 1
        del self.renewals[refresh_token.token]
        return self._issue(client.client_id, scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        found = self.access.get(token)
        return found if found and (found.expires_at or 0) > time.time() else None

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.access.pop(token.token, None)
        self.renewals.pop(token.token, None)

    def _issue(self, client: str, scopes: list[str], resource: str | None) -> OAuthToken:
        access, renewal = f"access-{secrets.token_hex(16)}", f"renewal-{secrets.token_hex(16)}"
        self.access[access] = AccessToken(
            token=access,
            client_id=client,
            scopes=scopes,
            expires_at=int(time.time()) + LASTS,
            resource=resource,
        )
        self.renewals[renewal] = RefreshToken(
            token=renewal, client_id=client, scopes=scopes, resource=resource
        )
        return OAuthToken(access_token=access, refresh_token=renewal, expires_in=LASTS)


desk = Desk()
server = MCPServer(
    "vault",
    auth_server_provider=desk,
    auth=AuthSettings(
        issuer_url=AnyHttpUrl(BASE),
        resource_server_url=AnyHttpUrl(f"{BASE}/mcp"),
        client_registration_options=ClientRegistrationOptions(enabled=True),
        validate_token_resource=True,
    ),
)


@server.tool()
def open_vault(word: str) -> str:
    """Open the vault with a word."""
    return f"the vault opens at {word}"


@server.tool()
def who() -> str:
    """Who opened the vault: every login registers somebody of its own."""
    token = get_access_token()
    return token.client_id if token else ""


@server.tool()
def visits() -> dict[str, int]:
    """How often somebody registered, authorized and renewed."""
    return dict(desk.visits)


@server.resource("vault://ledger")
def ledger() -> str:
    """What went in and out."""
    return "nothing yet"


@server.tool()
async def enter(what: str, ctx: Context) -> str:
    """Write something into the ledger."""
    await ctx.notify_resource_updated("vault://ledger")
    return what


@server.custom_route("/revoke", methods=["POST"])  # type: ignore[untyped-decorator]
async def revoke(request: Request) -> Response:
    desk.access.clear()
    return PlainTextResponse("done")


@server.custom_route("/revoke-all", methods=["POST"])  # type: ignore[untyped-decorator]
async def revoke_all(request: Request) -> Response:
    desk.access.clear()
    desk.renewals.clear()
    return PlainTextResponse("done")


if __name__ == "__main__":
    server.run("streamable-http", port=PORT)
