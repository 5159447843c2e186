"""An identity provider: its own description of itself, its public keys, and whether it signed a token.

Above: the gateway and the dashboard, which ask what a token claims. Below: HTTP. Description and keys are
fetched when first needed, again when a token names a key that is not among them, and after some minutes, so
that a key which was taken back counts no longer. Nothing of a token is kept or logged.
"""

import json
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import anyio
import httpx2
import jwt

from prowess.oidc.claims import Claims

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Those whose keys can be public; a shared secret proves nothing to us."""
LEEWAY = 30.0
"""Seconds by which clocks may differ."""
SECONDS_BETWEEN_FETCHES = 30.0
SECONDS_KEPT = 600.0
MOST_BYTES = 1024 * 1024
SECONDS_TO_ANSWER = 10.0
LONGEST_TOKEN = 16 * 1024


class IdentityProvider:
    """issuer: the provider, exactly as its tokens name it.

    elapsed: seconds that have passed since some moment.
    """

    def __init__(self, issuer: str, elapsed: Callable[[], float] = time.monotonic) -> None:
        self.issuer = issuer
        self._elapsed = elapsed
        self._about: Claims = {}
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched = -SECONDS_KEPT
        self._fetching = anyio.Lock()

    async def description(self) -> Claims:
        """What the provider says of itself; empty where it does not answer or is another."""
        if self._age() >= SECONDS_KEPT or (not self._about and self._age() >= SECONDS_BETWEEN_FETCHES):
            await self._fetch(SECONDS_BETWEEN_FETCHES)
        return self._about

    async def endpoint(self, name: str) -> str:
        """An address of the provider, such as token_endpoint, if it is one that may be trusted."""
        url = str((await self.description()).get(name, ""))
        return url if is_safe(url) else ""

    async def claims(self, token: str, audience: str) -> Claims | None:
        """What a token claims, if the provider signed it for this audience, and for now."""
        if len(token) > LONGEST_TOKEN:
            return None
        try:
            header = jwt.get_unverified_header(token)
            key = await self._key(str(header.get("kid", "")))
            if key is None or header.get("alg") not in ALGORITHMS:
                return None
            claims: Claims = jwt.decode(
                token,
                key,
                algorithms=list(ALGORITHMS),
                audience=audience,
                issuer=self.issuer,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "aud"]},
            )
        except (jwt.PyJWTError, ValueError):
            return None
        return claims

    async def _key(self, id: str) -> jwt.PyJWK | None:
        await self.description()
        if id not in self._keys:
            await self._fetch(SECONDS_BETWEEN_FETCHES)
        return self._keys.get(id)

    def _age(self) -> float:
        return self._elapsed() - self._fetched

    async def _fetch(self, not_before: float) -> None:
        """Once for all who wait for it; where the provider is away, what is known stays."""
        async with self._fetching:
            if self._age() < not_before:
                return
            self._fetched = self._elapsed()
            issuer = self.issuer.rstrip("/")
            async with httpx2.AsyncClient(timeout=SECONDS_TO_ANSWER, follow_redirects=False) as http:
                about = await _document(http, f"{issuer}/.well-known/openid-configuration")
                about = about or await _document(http, _server_metadata(issuer))
                # Another issuer's description would bring another issuer's keys.
                if about.get("issuer") != self.issuer or not is_safe(str(about.get("jwks_uri", ""))):
                    return
                found = _keys_in(await _document(http, str(about["jwks_uri"])))
            if found:
                self._about, self._keys = about, found


def is_safe(url: str) -> bool:
    """Whether nobody on the way can read or change what is said there."""
    parts = urlsplit(url)
    return (parts.scheme == "https" and bool(parts.hostname)) or (
        parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")
    )


def _keys_in(found: Claims) -> dict[str, jwt.PyJWK]:
    keys: dict[str, jwt.PyJWK] = {}
    for key in found.get("keys") or ():
        try:
            if key.get("kty") != "oct" and key.get("use", "sig") == "sig":
                keys[str(key.get("kid", ""))] = jwt.PyJWK.from_dict(key)
        except (jwt.PyJWTError, AttributeError):  # of a kind that we do not know
            continue
    return keys


async def _document(http: httpx2.AsyncClient, url: str) -> Claims:
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
