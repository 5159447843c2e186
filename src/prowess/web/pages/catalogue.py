"""The page `catalogue`: everything that exists, filtered while one types."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.catalogue.view import View
from prowess.engine.engine import Engine
from prowess.types import Capability
from prowess.web import identity, page
from prowess.web.pages.pagination import paged

State = Literal["available", "unavailable", "held", "off"]
TONES: Mapping[State, str] = {"available": "good", "unavailable": "warn", "held": "bad", "off": ""}
LONGEST_QUERY = 200


@dataclass(frozen=True, slots=True)
class CatalogueRow:
    capability: Capability
    state: State
    why: str

    @property
    def tone(self) -> str:
        return TONES[self.state]


@dataclass(frozen=True, slots=True)
class CatalogueFilter:
    """What somebody filters by; empty means anything."""

    words: tuple[str, ...] = ()
    kind: str = ""
    provider: str = ""
    category: str = ""
    state: str = ""

    @classmethod
    def of(cls, request: Request) -> "CatalogueFilter":
        said = request.query_params
        words = tuple(said.get("q", "")[:LONGEST_QUERY].casefold().split())
        return cls(words, *(said.get(name, "") for name in ("kind", "provider", "category", "state")))

    def __bool__(self) -> bool:
        return bool(self.words or self.kind or self.provider or self.category or self.state)

    def admits(self, capability: Capability) -> bool:
        """Whether everything but the state fits; the cheap comparisons come first."""
        return (
            (not self.kind or capability.kind == self.kind)
            and (not self.provider or capability.provider == self.provider)
            and (not self.category or capability.category == self.category)
            and (not self.words or self._has_all_words(capability))
        )

    def closeness(self, capability: Capability) -> tuple[int, str]:
        """What is called so comes before what only speaks of it."""
        name = capability.name.casefold()
        named = sum(word in name for word in self.words)
        return (-named, capability.id)

    def _has_all_words(self, capability: Capability) -> bool:
        parts = (capability.id, capability.display_name, capability.description, *capability.tags)
        text = "\n".join(parts).casefold()
        return all(word in text for word in self.words)


def listed(request: Request) -> Response:
    identity.person(request)
    engine: Engine = request.app.state.engine
    view, wanted = engine.catalogue.view(), CatalogueFilter.of(request)
    state_of = _states(view)
    found = [c for c in view.capabilities.values() if wanted.admits(c)]
    if wanted.state in get_args(State):
        found = [c for c in found if state_of(c) == wanted.state]
    found.sort(key=wanted.closeness)
    rows = paged(request, found)
    values: dict[str, Any] = {
        "title": "Catalogue",
        "wanted": wanted,
        "q": request.query_params.get("q", "")[:LONGEST_QUERY],
        "rows": rows,
        "shown": [CatalogueRow(c, state_of(c), _why(view, c)) for c in rows.rows],
        "total": len(view.capabilities),
        "is_part": page.wants_part(request),
    }
    if values["is_part"]:
        return page.render(request, "catalogue_part.html", **values)
    return page.render(request, "catalogue.html", **values, choices=choices(view), states=get_args(State))


def state(view: View, capability: Capability) -> CatalogueRow:
    """One capability with the state it is in for everybody."""
    return CatalogueRow(capability, _states(view)(capability), _why(view, capability))


def _states(view: View) -> Callable[[Capability], State]:
    off = {name for name in view.providers if view.off(name, "")}

    def state_of(capability: Capability) -> State:
        if capability.id in view.quarantined:
            return "held"
        if capability.provider in off:
            return "off"
        return "available" if capability.available else "unavailable"

    return state_of


def _why(view: View, capability: Capability) -> str:
    held = view.quarantined.get(capability.id)
    if held:
        return held.reason
    return view.why_off(capability.provider, "") or "; ".join(capability.unavailable)


def choices(view: View) -> dict[str, list[tuple[str, int]]]:
    """What there is to filter by, with how many each has, in order of name."""
    found = {}
    for name in ("kind", "provider", "category"):
        counts = Counter(cast(str, getattr(c, name)) for c in view.capabilities.values())
        found[name] = sorted((value, count) for value, count in counts.items() if value)
    return found


ROUTES = (Route("/catalogue", listed),)
