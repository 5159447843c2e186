"""Who somebody is here by what the identity provider claims of them: a name, and a role in each workspace.

    [[web.oidc.group]]
    group = "team-{workspace}-leads"
    role = "admin"

makes whoever is in `team-acme-leads` admin of the workspace acme.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from prowess.config import OidcConfig, OidcGroupConfig
from prowess.errors import ConfigError
from prowess.oidc.claims import Claims, claim_at, texts
from prowess.operations.person import ORDER, Role
from prowess.store.database import WORKSPACE_NAME

EVERY_WORKSPACE = "*"
PLACEHOLDER = "{workspace}"
MAX_NAME_LENGTH = 100


class ServedNames(Protocol):
    """Which workspaces a server serves."""

    def __contains__(self, name: object, /) -> bool: ...

    def __iter__(self) -> Iterator[str]: ...


@dataclass(frozen=True, slots=True)
class ProviderMember:
    """Somebody whom the provider knows, and what their groups make of them here."""

    name: str
    subject: str
    groups: tuple[str, ...] = ()
    roles: Mapping[str, Role] = field(default_factory=dict)
    expires_at: float = 0.0
    """Until when what the provider said of them holds, in seconds since 1970."""

    def role_in(self, workspace: str) -> Role | None:
        given = [self.roles[name] for name in (workspace, EVERY_WORKSPACE) if name in self.roles]
        return max(given, key=ORDER.index, default=None)

    def workspaces(self, served: ServedNames) -> tuple[str, ...]:
        """In which of those that are served they may do anything."""
        if EVERY_WORKSPACE in self.roles:
            return tuple(sorted(served))
        return tuple(sorted(name for name in self.roles if name in served))


class Memberships:
    """workspace: the only one that is served; empty where there are many."""

    def __init__(self, config: OidcConfig, workspace: str = "") -> None:
        self._config = config
        self._given = [(_pattern(one.group), one.role, _where(one, workspace)) for one in config.group]

    def member(self, claims: Claims) -> ProviderMember:
        groups = tuple(texts(claim_at(claims, self._config.groups_claim)))
        roles: dict[str, Role] = {}
        for pattern, role, where in self._given:
            for found in filter(None, map(pattern.fullmatch, groups)):
                workspace = found.groupdict().get("workspace", where)
                roles[workspace] = max(role, roles.get(workspace, role), key=ORDER.index)
        subject = str(claims.get("sub", ""))
        return ProviderMember(self._name(claims) or subject, subject, groups, roles, float(claims["exp"]))

    def _name(self, claims: Claims) -> str:
        """What they are called in the journal: nothing that they could have given themselves."""
        name = claim_at(claims, self._config.name_claim)
        if self._config.name_claim == "email" and claims.get("email_verified") is False:
            return ""
        fits = isinstance(name, str) and name.strip() and name.isprintable() and len(name) <= MAX_NAME_LENGTH
        return str(name) if fits else ""


def _pattern(group: str) -> re.Pattern[str]:
    before, found, after = group.partition(PLACEHOLDER)
    inside = f"(?P<workspace>{WORKSPACE_NAME.pattern})" if found else ""
    return re.compile(re.escape(before) + inside + re.escape(after))


def _where(one: OidcGroupConfig, only: str) -> str:
    if PLACEHOLDER in one.group or one.workspace == EVERY_WORKSPACE or only:
        return one.workspace or only
    if not WORKSPACE_NAME.fullmatch(one.workspace):
        what = f"the group {one.group!r} names no workspace"
        remedy = f'name it, put {PLACEHOLDER} into the group, or write workspace = "*" for every one'
        raise ConfigError("[[web.oidc.group]]", what, remedy)
    return one.workspace
