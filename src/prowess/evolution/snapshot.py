"""An agent's configuration at a moment: which providers are active, and what they bring."""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from prowess.errors import EvolutionError
from prowess.journal import canonical
from prowess.types import Json

ORIGINAL_NAMES = {"active_plugins": "active_providers", "plugin_capabilities": "provider_faculties"}
Faculties = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Made by `snapshot_of`, which puts everything in order."""

    active_providers: tuple[str, ...] = ()
    provider_faculties: Faculties = field(default_factory=dict)
    tools: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return canonical([self.active_providers, self.provider_faculties, self.tools])

    def without(self, providers: Collection[str]) -> "Snapshot":
        if not providers:
            return self
        kept = [name for name in self.active_providers if name not in providers]
        return snapshot_of(kept, self.provider_faculties, self.tools)

    def as_data(self) -> dict[str, Json]:
        found: dict[str, Json] = {
            "active_providers": self.active_providers,
            "provider_faculties": self.provider_faculties,
        }
        return {**found, "tools": self.tools} if self.tools else found


def snapshot_of(
    providers: Iterable[str], faculties: Mapping[str, Iterable[str]], tools: Iterable[str] = ()
) -> Snapshot:
    """A snapshot in order: providers sorted, faculties only of those that are active, nothing twice."""
    active = sorted(set(providers))
    brings = {name: _each_once(faculties[name]) for name in active if name in faculties}
    return Snapshot(tuple(active), brings, tuple(sorted(set(tools))))


def _each_once(faculties: Iterable[str]) -> tuple[str, ...]:
    """In their order, "vision" beside "Vision" left out."""
    listed = tuple(faculties)
    return listed if len(listed) < 2 else tuple({f.casefold(): f for f in reversed(listed)}.values())[::-1]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def parse_snapshot(data: Json, place: str = "snapshot") -> Snapshot:
    """Read a snapshot that somebody wrote, under today's names or those of the original."""
    if not isinstance(data, Mapping):
        raise _unusable(place, "the snapshot is not an object")
    named = {ORIGINAL_NAMES.get(str(name), str(name)): value for name, value in data.items()}
    faculties = named.get("provider_faculties", {})
    if not isinstance(faculties, Mapping):
        raise _unusable(place, "provider_faculties is not an object")
    brings = {str(p): _words(place, f"the faculties of {p}", found) for p, found in faculties.items()}
    active = _words(place, "active_providers", named.get("active_providers", list(brings)))
    return snapshot_of(active, brings, _words(place, "tools", named.get("tools", [])))


def _words(place: str, what: str, value: Json) -> list[str]:
    if not isinstance(value, list | tuple) or not all(isinstance(word, str) for word in value):
        raise _unusable(place, f"{what} must be a list of names")
    return list(value)


def _unusable(place: str, what: str) -> EvolutionError:
    remedy = 'give {"active_providers": [...], "provider_faculties": {"provider": ["Faculty"]}}'
    return EvolutionError(place, what, remedy)
