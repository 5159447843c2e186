"""What a rule says of a thing beyond its name: its kind, provider, category, tags, effects, and trust."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache

from prowess.errors import PolicyError, nearest
from prowess.policy.globs import glob_matches
from prowess.policy.spelling import composed
from prowess.types import Capability

EFFECTS = ("read", "write", "destructive")
TRUST = ("full", "growing", "pinned", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributes:
    """Each names values of which the thing must have one; without any, whatever it has will do."""

    kind: tuple[str, ...] = ()
    provider: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    trust: tuple[str, ...] = ()

    def stated(self) -> Mapping[str, tuple[str, ...]]:
        """Those that name something."""
        return {name: values for name in attribute_names() if (values := getattr(self, name))}

    def fits(self, capability: Capability | None, trust: str) -> bool:
        """Whether it is such a thing; of what is not in the catalogue nothing is known."""
        if capability is None:
            return False
        has = values_of(capability, trust)
        return all(
            any(is_value(one, value) for one in stated for value in has[name])
            for name, stated in self.stated().items()
        )

    def covers(self, other: "Attributes | None") -> bool:
        """Whether whatever fits the other fits this, too; false when in doubt."""
        theirs = other.stated() if other else {}
        return all(name in theirs and set(theirs[name]) <= set(ours) for name, ours in self.stated().items())


def is_value(stated: str, value: str) -> bool:
    """Whether a rule's word means this value."""
    return stated == value or ("*" in stated and glob_matches(stated, value))


@cache
def attribute_names() -> tuple[str, ...]:
    return tuple(field.name for field in fields(Attributes))


def read_attributes(stated: Mapping[str, str | list[str]], place: str) -> Attributes | None:
    """What a rule states of these; nothing where it states none. Raises `PolicyError`."""
    values = {
        name: tuple(composed(one) for one in ([value] if isinstance(value, str) else value))
        for name, value in stated.items()
        if value
    }
    for name, known in (("effects", EFFECTS), ("trust", TRUST)):
        for one in values.get(name, ()):
            if one not in known:
                close = nearest(one, known)
                remedy = f"did you mean {close!r}?" if close else f"write one of: {', '.join(known)}"
                raise PolicyError(place, f"{name}: {one!r} is none of {', '.join(known)}", remedy)
    return Attributes(**values) if values else None


def values_of(capability: Capability, trust: str) -> Mapping[str, tuple[str, ...]]:
    """Each attribute of a thing."""
    return {
        "kind": (capability.kind,),
        "provider": (composed(capability.provider),),
        "category": (composed(capability.category),),
        "tag": tuple(map(composed, capability.tags)),
        "effects": effects_of(capability),
        "trust": (trust,),
    }


def effects_of(capability: Capability) -> tuple[str, ...]:
    """What using it does; whatever changes something and does not say how may destroy."""
    if not capability.has_side_effects:
        return ("read",)
    return ("write", "destructive") if _destroys(capability.metadata) else ("write",)


def _destroys(metadata: Mapping[str, object]) -> bool:
    hints = metadata.get("annotations")
    if isinstance(hints, Mapping) and isinstance(hints.get("destructive"), bool):
        return bool(hints["destructive"])
    method = metadata.get("method")
    return method == "DELETE" if isinstance(method, str) else True


def by_value(things: Iterable[tuple[Capability, str]]) -> Mapping[str, Mapping[str, frozenset[str]]]:
    """Attribute -> value -> the ids that have it."""
    found: dict[str, dict[str, set[str]]] = {name: {} for name in attribute_names()}
    for capability, trust in things:
        for name, values in values_of(capability, trust).items():
            for value in values:
                found[name].setdefault(value, set()).add(capability.id)
    return {name: {value: frozenset(ids) for value, ids in of.items()} for name, of in found.items()}
