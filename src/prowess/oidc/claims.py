"""What a token claims, read by name."""

from collections.abc import Mapping
from typing import Any, TypeAlias

Claims: TypeAlias = Mapping[str, Any]


def claim_at(claims: Claims, name: str) -> object:
    """A claim by its name; one inside others by a path such as realm_access.roles."""
    if name in claims:
        return claims[name]
    first, _, rest = name.partition(".")
    inner = claims.get(first)
    return claim_at(inner, rest) if rest and isinstance(inner, Mapping) else None


def texts(claim: object) -> list[str]:
    """A claim as a list of texts, which groups and roles are already; anything else counts for nothing."""
    if isinstance(claim, str):
        return [claim]
    return [one for one in claim if isinstance(one, str)] if isinstance(claim, list) else []
