"""A card as it is selected and shown: past the guard, cut to its limits, and counted.

Above: the engine, which hands over what a source read. Below: only text. Cost is counted here, never
taken from what the author declared; what the guard rejects stays in the deck with its reason, so that
a person can see why it is never shown.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from prowess.guard.sanitise import Prompt, admit
from prowess.guard.scan import card_parts
from prowess.types import Capability, JsonObject

Count = Callable[[str], int]

TRUNCATED = "\n\n[Content truncated to fit token budget]"
FROM_WORKSPACE = " (card of this workspace)"
SHORTEST_BODY, LONGEST_BODY = 200, 800
TOLERATED_ERROR = 0.2
"""How far a declared estimate may be from the count before somebody is told."""


class Guarded(NamedTuple):
    """What the guard makes of a text: the text without other voices, and why it may not be shown."""

    text: str
    reasons: tuple[str, ...] = ()
    changed: bool = False
    absolute: tuple[str, ...] = ()
    """Of the reasons, those that no person may accept."""


Guard = Callable[[str], Guarded]


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """When a card matters, what it says, and what that costs."""

    id: str
    name: str
    title: str
    description: str
    text: str
    """What a model sees, a `Prompt`: heading, body and migration note."""
    tokens: int
    priority: int
    threshold: float
    keywords: tuple[str, ...] = ()
    session_types: tuple[str, ...] = ()
    router_tags: tuple[str, ...] = ()
    times_of_day: tuple[str, ...] = ()
    user_tiers: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    language: str = ""
    version: str = ""
    migration: str = ""
    origin: str = "repository"
    cut: bool = False
    rejected: tuple[str, ...] = ()
    absolute: tuple[str, ...] = ()
    """Of these reasons, those that no person may accept."""
    accepted: tuple[str, ...] = ()
    """What the guard found and a person took, for exactly this content."""
    accepted_by: str = ""
    neutralised: bool = False
    warnings: tuple[str, ...] = ()

    def is_among(self, ids: frozenset[str]) -> bool:
        """People name a card with its kind or without."""
        return self.id in ids or self.name in ids

    def accepted_as_it_is(self, by: str) -> "Card":
        """The card once somebody took what the guard found; what nobody may accept still rejects it."""
        if not by or not self.rejected or self.absolute:
            return self
        return replace(self, rejected=(), accepted=self.rejected, accepted_by=by)


def card_of(capability: Capability, content: str, guard: Guard, count: Count) -> Card:
    """The card that a source read as this capability with this content."""
    about, triggers = capability.metadata, capability.metadata["triggers"]
    parts = {
        name: guard(text) if text else Guarded("") for name, text in card_parts(capability, content).items()
    }
    body, version, note = (parts[name].text for name in ("body", "version", "migration"))
    fitted = _fitted(body, about, count)
    text = _shown(parts["name"].text, fitted, _change(version, note), about)
    return Card(
        id=capability.id,
        name=capability.name,
        title=parts["name"].text,
        description=parts["description"].text,
        text=text,
        tokens=count(text),
        priority=about["priority"],
        threshold=triggers["confidence_threshold"],
        keywords=tuple(triggers["keywords"]),
        session_types=tuple(triggers["session_types"]),
        router_tags=tuple(triggers["router_tags"]),
        times_of_day=tuple(triggers["time_of_day"]),
        user_tiers=tuple(triggers["user_tier"]),
        environments=tuple(triggers["environment_type"]),
        language=about["language"],
        version=version,
        migration=note,
        origin=about["origin"],
        cut=fitted != body,
        rejected=_reasons({name: part.reasons for name, part in parts.items()}),
        absolute=_reasons({name: part.absolute for name, part in parts.items()}),
        neutralised=any(part.changed for part in parts.values()),
        warnings=tuple(_warnings(content.strip(), about, count)),
    )


def guarded_whole(parts: Mapping[str, str], guard: Guard) -> Guarded:
    """What the guard finds in all parts of a card together; its text is of no use to anybody."""
    found = {name: guard(text) for name, text in parts.items() if text}
    return Guarded(
        "",
        _reasons({name: one.reasons for name, one in found.items()}),
        any(one.changed for one in found.values()),
        _reasons({name: one.absolute for name, one in found.items()}),
    )


def _reasons(parts: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Why a card may not be shown, and where in it that stands."""
    return tuple(dict.fromkeys(f"{name}: {reason}" for name, found in parts.items() for reason in found))


def _change(version: str, note: str) -> str:
    return f"Changed in version {version or 'now'}: {note}" if note else ""


def _shown(title: str, body: str, change: str, about: JsonObject) -> Prompt:
    """Heading, body, and what changed in this version; a body may bring its own heading."""
    mark = FROM_WORKSPACE if about["origin"] == "workspace" else ""
    heading = "" if body.startswith("#") and not mark else f"## {title}{mark}"
    return admit("\n\n".join(part for part in (heading, body, change) if part))


def _fitted(body: str, about: JsonObject, count: Count) -> str:
    """The body within what its author allows: so many characters, and so many tokens.

    What is cut goes through the sanitiser again: a fence whose end is cut off shields nothing.
    """
    text = truncated(body, about["max_chars"])
    budget = about["token_budget"]
    if budget is None or count(text) <= budget:
        return text
    low, high = 0, min(len(body), about["max_chars"])
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(truncated(body, middle)) <= budget else (low, middle - 1)
    return admit(body[:low].rstrip() + TRUNCATED)


def truncated(text: str, most: int) -> str:
    """The first characters of a text, with a marker where the rest is missing."""
    return text if len(text) <= most else admit(text[:most] + TRUNCATED)


def _warnings(body: str, about: JsonObject, count: Count) -> Iterator[str]:
    if not SHORTEST_BODY <= len(body) <= LONGEST_BODY:
        yield f"the body has {len(body)} characters; {SHORTEST_BODY} to {LONGEST_BODY} are read best"
    declared, counted = about["estimated_tokens"], count(body)
    if declared is not None and abs(declared - counted) > TOLERATED_ERROR * counted:
        yield f"estimated_tokens says {declared}, it costs {counted}"
