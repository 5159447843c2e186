"""Access tokens of an identity provider: whether one is for this gateway, and which agent it stands for.

Above: the door of the gateway over HTTP. Below: the provider, which says whether a token is its own. What a
token claims then decides which agent it is.
"""

import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from prowess.calling.caller import Caller
from prowess.config import AuthorizationConfig
from prowess.errors import ConfigError
from prowess.oidc.claims import Claims, claim_at, texts
from prowess.oidc.provider import IdentityProvider, is_safe

WELL_KNOWN = "/.well-known/oauth-protected-resource"


class AccessTokens:
    def __init__(self, config: AuthorizationConfig, elapsed: Callable[[], float] = time.monotonic) -> None:
        _check(config)
        self._config = config
        self._provider = IdentityProvider(config.issuer, elapsed)

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

    async def claims(self, token: str) -> Claims | None:
        """What a token claims, if it is valid and for us."""
        return await self._provider.claims(token, self._config.audience or self._config.resource)

    def has_scopes(self, claims: Claims) -> bool:
        said = claims.get("scope") or claims.get("scp") or ""
        return set(self.scopes) <= set(said.split(" ") if isinstance(said, str) else texts(said))

    def caller(self, claims: Claims) -> Caller | None:
        """The agent that these claims stand for; the first that fits, else the one that `claim` names."""
        for one in self._config.agent:
            if all(value in texts(claim_at(claims, name)) for name, value in one.claims.items()):
                return Caller(one.agent)
        named = claim_at(claims, self._config.claim) if self._config.claim else None
        return Caller(named) if isinstance(named, str) and named else None


def _check(config: AuthorizationConfig) -> None:
    for name in ("issuer", "resource"):
        if not is_safe(getattr(config, name)):
            place = "[gateway.authorization]"
            raise ConfigError(place, f"{name} is no https address", "write it exactly as the provider does")
    if not config.claim and not config.agent:
        what = "no token stands for any agent"
        raise ConfigError(
            "[gateway.authorization]", what, "set claim, or add [[gateway.authorization.agent]]"
        )
