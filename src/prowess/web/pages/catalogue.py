"""The page `catalogue`: everything that exists, filtered while one types."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args, overload

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.catalogue.view import View
from prowess.engine.engine import Engine
from prowess.engine.listing import CatalogueListing, Field, ListingFilter, State, listing, state_of
from prowess.types import Capability
from prowess.web import identity, page
from prowess.web.pages.pagination import paged

FILTERS: tuple[Field, ...] = ("kind", "provider", "category")
MOST_CHOICES = 2000
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


def wanted_by(request: Request) -> ListingFilter:
    """What somebody filters by."""
    said = request.query_params
    words = tuple(said.get("q", "")[:LONGEST_QUERY].casefold().split())
    named = {name: said.get(name, "") for name in ("kind", "provider", "category")}
    state = said.get("state", "")
    return ListingFilter(words=words, state=state if state in get_args(State) else "", **named)


def listed(request: Request) -> Response:
    identity.person(request)
    engine: Engine = request.app.state.engine
    view, wanted = engine.catalogue.view(), wanted_by(request)
    there = listing(engine.internals, view)
    rows = paged(request, ListedRows(there, wanted))
    values: dict[str, Any] = {
        "title": "Catalogue",
        "wanted": wanted,
        "q": request.query_params.get("q", "")[:LONGEST_QUERY],
        "rows": rows,
        "shown": [state(view, c) for c in rows.rows],
        "total": there.count(),
        "is_part": page.wants_part(request),
    }
    if values["is_part"]:
        return page.render(request, "catalogue_part.html", **values)
    return page.render(request, "catalogue.html", **values, choices=choices(there), states=get_args(State))


class ListedRows(Sequence[Capability]):
    """What a filter leaves, of which a page is read at a time."""

    def __init__(self, there: CatalogueListing, wanted: ListingFilter) -> None:
        self._there = there
        self._wanted = wanted
        self._size = there.count(wanted)

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, at: int) -> Capability: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Capability]: ...

    def __getitem__(self, at: int | slice) -> Capability | Sequence[Capability]:
        if isinstance(at, int):
            return self._there.closest(self._wanted, at, 1)[0]
        first, end, _ = at.indices(self._size)
        return self._there.closest(self._wanted, first, end - first)


def state(view: View, capability: Capability) -> CatalogueRow:
    """One capability with the state it is in for everybody."""
    return CatalogueRow(capability, state_of(view, capability), _why(view, capability))


def _why(view: View, capability: Capability) -> str:
    held = view.quarantined.get(capability.id)
    if held:
        return held.reason
    return view.why_off(capability.provider, "") or "; ".join(capability.unavailable)


def choices(there: CatalogueListing) -> dict[str, list[tuple[str, int]]]:
    """What there is to filter by, with how many each has, in order of name; of very many, the first."""
    found = {}
    for name in FILTERS:
        counts = there.counts(name)
        found[str(name)] = [(value, count) for (value,), count in counts.items() if value][:MOST_CHOICES]
    return found


ROUTES = (Route("/catalogue", listed),)
