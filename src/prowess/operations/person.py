"""Who asks for an operation, and as what."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

Role: TypeAlias = Literal["agent", "viewer", "operator", "admin"]
"""What somebody may do: each role may do what those before it may. `agent` is an agent's own token."""
ORDER: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True, slots=True)
class Person:
    """Who is asking, and as what."""

    name: str
    role: Role
    pass_id: str = ""
    expires_at: str = ""
    """Until when a token of an identity provider proves it, which is no pass of ours."""

    def may(self, role: Role) -> bool:
        return ORDER.index(self.role) >= ORDER.index(role)
