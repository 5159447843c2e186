"""Signing in at an identity provider: where to send a browser, and who it is that comes back.

The authorization code flow with PKCE. What was begun (`state`, `nonce`, the verifier) stays in the browser
that began it, so that any node can end it; the provider takes each code once.
"""

import hmac
import secrets
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlencode

import httpx2
import jwt
import msgspec
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc.errors import JoseError

from prowess.config import OidcConfig
from prowess.errors import ConfigError, Refused
from prowess.oidc.claims import Claims, claim_at
from prowess.oidc.membership import Memberships, ProviderMember
from prowess.oidc.provider import LEEWAY, SECONDS_TO_ANSWER, IdentityProvider, is_safe

CALLBACK = "/login/callback"
PLACE = "[web.oidc]"


class BegunSignIn(msgspec.Struct, frozen=True):
    """What a browser keeps while its person is at the provider."""

    state: str
    nonce: str
    verifier: str
    goal: str = "/"
    workspace: str = ""
    """Where they want to be signed in, if they said so."""


class ProviderSignIn:
    """secret: the client's secret, looked up whenever it is needed; empty where there is none."""

    def __init__(
        self,
        config: OidcConfig,
        memberships: Memberships,
        secret: Callable[[], str],
        provider: IdentityProvider | None = None,
    ) -> None:
        _check(config)
        self.config = config
        self._memberships = memberships
        self._secret = secret
        self._provider = provider or IdentityProvider(config.issuer)

    @property
    def name(self) -> str:
        return self.config.name or self.config.issuer.partition("://")[2].partition("/")[0]

    async def begin(self, goal: str, workspace: str) -> tuple[str, BegunSignIn]:
        """Where to send the browser, and what it has to bring back."""
        said = [secrets.token_urlsafe(32) for _ in range(3)]
        begun = BegunSignIn(said[0], said[1], said[2], goal, workspace)
        address = await self._endpoint("authorization_endpoint")
        async with await self._client() as client:
            url, _ = client.create_authorization_url(
                address, state=begun.state, code_verifier=begun.verifier, nonce=begun.nonce
            )
        return str(url), begun

    async def finish(self, begun: BegunSignIn, query: str) -> ProviderMember:
        """Who came back with this query, as the provider says."""
        said = {name: values[0] for name, values in parse_qs(query).items()}
        if not hmac.compare_digest(said.get("state", "").encode(), begun.state.encode()):
            raise not_begun_here()
        if said.get("iss", self.config.issuer) != self.config.issuer:
            raise self._refused("another provider answered")
        if "error" in said:
            raise self._refused(f"it said {said['error'][:100]!r}")
        if "code" not in said:
            raise self._refused("it sent no code")
        try:
            return self._memberships.member(await self._claims(begun, said["code"]))
        except (AuthlibBaseError, JoseError, ValueError) as error:
            raise self._refused(str(error)[:200]) from None
        except httpx2.HTTPError:
            raise self._away() from None

    async def bearer(self, token: str) -> ProviderMember | None:
        """Whose access token this is, where such tokens are taken."""
        if not self.config.audience or token.count(".") != 2:
            return None
        claims = await self._provider.claims(token, self.config.audience)
        return self._memberships.member(claims) if claims and claims.get("sub") else None

    async def sign_out_address(self) -> str:
        """Where the provider itself signs somebody out; empty where it has no such address."""
        address = await self._provider.endpoint("end_session_endpoint")
        back = {"client_id": self.config.client_id, "post_logout_redirect_uri": self._own("/login")}
        return f"{address}{'&' if '?' in address else '?'}{urlencode(back)}" if address else ""

    async def _claims(self, begun: BegunSignIn, code: str) -> Claims:
        address = await self._endpoint("token_endpoint")
        async with await self._client() as client:
            answered = await client.fetch_token(
                address,
                grant_type="authorization_code",
                code=code,
                redirect_uri=self._own(CALLBACK),
                code_verifier=begun.verifier,
            )
            claims = await self._proven(dict(answered), begun.nonce)
            if claim_at(claims, self.config.groups_claim) is None:
                claims = {**await self._more_of(client, claims), **claims}
        return claims

    async def _proven(self, answered: dict[str, Any], nonce: str) -> Claims:
        """The claims of the ID token, if it was made for this sign-in."""
        token = str(answered.get("id_token", ""))
        claims = await self._provider.claims(token, self.config.client_id)
        if claims is None:
            raise ValueError("its ID token is not valid")
        about = {"nonce": nonce, "client_id": self.config.client_id,
                 "access_token": answered.get("access_token")}  # fmt: skip
        header = jwt.get_unverified_header(token)
        CodeIDToken(dict(claims), header, {}, about).validate(leeway=LEEWAY)
        return claims

    async def _more_of(self, client: AsyncOAuth2Client, claims: Claims) -> Claims:
        """What the provider tells of somebody only when it is asked."""
        address = await self._provider.endpoint("userinfo_endpoint")
        if not address:
            return {}
        answer = await client.get(address)
        answer.raise_for_status()
        told = answer.json()
        if not isinstance(told, dict) or told.get("sub") != claims["sub"]:
            raise ValueError("it told of somebody else")
        return told

    async def _client(self) -> AsyncOAuth2Client:
        secret = self._secret()
        if self.config.secret and not secret:
            raise ConfigError(PLACE, f"the secret {self.config.secret} has no value", "set it, and try again")
        taken = (await self._provider.description()).get("token_endpoint_auth_methods_supported")
        by_secret = "client_secret_basic"
        if taken and by_secret not in taken:
            by_secret = "client_secret_post"
        return AsyncOAuth2Client(
            client_id=self.config.client_id,
            client_secret=secret or None,
            token_endpoint_auth_method=by_secret if secret else "none",
            scope=" ".join(self.config.scopes),
            redirect_uri=self._own(CALLBACK),
            code_challenge_method="S256",
            timeout=SECONDS_TO_ANSWER,
            follow_redirects=False,
        )

    async def _endpoint(self, name: str) -> str:
        if address := await self._provider.endpoint(name):
            return address
        raise self._away()

    def _own(self, path: str) -> str:
        return f"{self.config.url.rstrip('/')}{path}"

    def _refused(self, why: str) -> Refused:
        return Refused(403, f"{self.name} did not sign you in: {why}", "sign in again")

    def _away(self) -> Refused:
        return Refused(502, f"{self.name} does not answer", "try again in a minute")


def not_begun_here() -> Refused:
    what = "this sign-in was not begun in this browser, or it is over"
    return Refused(400, what, "sign in again")


def _check(config: OidcConfig) -> None:
    for name in ("issuer", "url"):
        if not is_safe(getattr(config, name)):
            raise ConfigError(PLACE, f"{name} is no https address", "write it as browsers reach it")
    if not config.group:
        raise ConfigError(PLACE, "no group may do anything", "add [[web.oidc.group]] with group and role")
    if config.audience == config.client_id:
        what = "audience is the client's own id, so that its ID tokens would count as access tokens"
        raise ConfigError(PLACE, what, "register the API at the provider under a name of its own")
