"""Access tokens of an identity provider: whether one is for this gateway, and which agent it stands for.

Above: the door of the gateway over HTTP. Below: the provider's own description of itself and its public keys,
fetched when first needed and again when a token names a key that is not among them. A token is taken only if
the provider that the configuration names signed it, for this gateway, for now; what it claims then decides
which agent it is. Nothing of a token is kept or logged.
"""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
import jwt

from prowess.calling.caller import Caller
from prowess.config import AuthorizationConfig
from prowess.errors import ConfigError

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Those whose keys can be public; a shared secret proves nothing to us."""
LEEWAY = 30.0
"""Seconds by which clocks may differ."""
SECONDS_BETWEEN_FETCHES = 30.0
MOST_BYTES = 1024 * 1024
SECONDS_TO_ANSWER = 10.0
LONGEST_TOKEN = 16 * 1024
WELL_KNOWN = "/.well-known/oauth-protected-resource"

Document = Mapping[str, Any]


class AccessTokens:
    def __init__(self, config: AuthorizationConfig, elapsed: Callable[[], float] = time.monotonic) -> None:
        _check(config)
        self._config = config
        self._elapsed = elapsed
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched = -SECONDS_BETWEEN_FETCHES
        self._fetching = anyio.Lock()

    @property
    def scopes(self) -> list[str]:
        return list(self._config.scopes)

    @property
    def metadata_path(self) -> str:
        """Where a client finds out whom to ask for a token; the resource's own path comes last."""
        return WELL_KNOWN + urlsplit(self._config.resource).path.rstrip("/")

    @property
    def metadata_url(self) -> str:
        parts = urlsplit(self._config.resource)
        return f"{parts.scheme}://{parts.netloc}{self.metadata_path}"

    @property
    def metadata(self) -> dict[str, Any]:
        """This gateway as a protected resource, RFC 9728."""
        about: dict[str, Any] = {
            "resource": self._config.resource,
            "resource_name": "prowess",
            "authorization_servers": [self._config.issuer],
            "bearer_methods_supported": ["header"],
        }
        return about | ({"scopes_supported": self.scopes} if self.scopes else {})

    async def claims(self, token: str) -> Document | None:
        """What a token claims, if it is valid and for us."""
        if len(token) > LONGEST_TOKEN:
            return None
        try:
            header = jwt.get_unverified_header(token)
            key = await self._key(str(header.get("kid", "")))
            if key is None or header.get("alg") not in ALGORITHMS:
                return None
            claims: Document = jwt.decode(
                token,
                key,
                algorithms=list(ALGORITHMS),
                audience=self._config.audience or self._config.resource,
                issuer=self._config.issuer,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "aud"]},
            )
        except (jwt.PyJWTError, ValueError):
            return None
        return claims

    def has_scopes(self, claims: Document) -> bool:
        said = claims.get("scope") or claims.get("scp") or ""
        return set(self.scopes) <= set(said.split(" ") if isinstance(said, str) else _values(said))

    def caller(self, claims: Document) -> Caller | None:
        """The agent that these claims stand for; the first that fits, else the one that `claim` names."""
        for one in self._config.agent:
            if all(value in _values(_at(claims, name)) for name, value in one.claims.items()):
                return Caller(one.agent)
        named = _at(claims, self._config.claim) if self._config.claim else None
        return Caller(named) if isinstance(named, str) and named else None

    # --- the provider's keys ---------------------------------------------------------------------

    async def _key(self, id: str) -> jwt.PyJWK | None:
        if id not in self._keys:
            async with self._fetching:
                if id not in self._keys and self._elapsed() - self._fetched >= SECONDS_BETWEEN_FETCHES:
                    self._fetched = self._elapsed()
                    self._keys = await self._published() or self._keys
        return self._keys.get(id)

    async def _published(self) -> dict[str, jwt.PyJWK]:
        issuer = self._config.issuer.rstrip("/")
        async with httpx2.AsyncClient(timeout=SECONDS_TO_ANSWER, follow_redirects=False) as http:
            about = await _document(http, f"{issuer}/.well-known/openid-configuration")
            about = about or await _document(http, _server_metadata(issuer))
            # Another issuer's description would bring another issuer's keys.
            if about.get("issuer") != self._config.issuer or not _is_safe(str(about.get("jwks_uri", ""))):
                return {}
            found = await _document(http, str(about["jwks_uri"]))
        keys: dict[str, jwt.PyJWK] = {}
        for key in found.get("keys") or ():
            try:
                if key.get("kty") != "oct" and key.get("use", "sig") == "sig":
                    keys[str(key.get("kid", ""))] = jwt.PyJWK.from_dict(key)
            except (jwt.PyJWTError, AttributeError):  # of a kind that we do not know
                continue
        return keys


async def _document(http: httpx2.AsyncClient, url: str) -> Document:
    """A JSON object from the provider; empty where it cannot be had."""
    body = bytearray()
    try:
        async with http.stream("GET", url, headers={"accept": "application/json"}) as response:
            if response.status_code != httpx2.codes.OK:
                return {}
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > MOST_BYTES:
                    return {}
        found = json.loads(body)
    except (httpx2.HTTPError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _server_metadata(issuer: str) -> str:
    """Where RFC 8414 has it: between the host and the path."""
    parts = urlsplit(issuer)
    return f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{parts.path}"


def _is_safe(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" or (
        parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")
    )


def _check(config: AuthorizationConfig) -> None:
    for name in ("issuer", "resource"):
        if not _is_safe(getattr(config, name)):
            place = "[gateway.authorization]"
            raise ConfigError(place, f"{name} is no https address", "write it as the provider has it")
    if not config.claim and not config.agent:
        what = "no token stands for any agent"
        raise ConfigError(
            "[gateway.authorization]", what, "set claim, or add [[gateway.authorization.agent]]"
        )


def _at(claims: Document, name: str) -> object:
    """A claim by its name; one inside others by a path such as realm_access.roles."""
    if name in claims:
        return claims[name]
    first, _, rest = name.partition(".")
    inner = claims.get(first)
    return _at(inner, rest) if rest and isinstance(inner, Mapping) else None


def _values(claim: object) -> list[str]:
    """A claim as a list, which groups and roles are already."""
    if isinstance(claim, str):
        return [claim]
    return [str(one) for one in claim] if isinstance(claim, list) else []
