"""The catalogue as a face shows it: in numbers and by pages, of everything or of what an agent may use.

Above: the gateway, the dashboard, the operations. Below: a view, whose capabilities are held, or an index in
the store that is asked in SQL. No face asks which of the two it is.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Literal, Protocol

from prowess.catalogue.stored import PagedCapabilities
from prowess.catalogue.view import View
from prowess.types import Capability

if TYPE_CHECKING:
    from prowess.engine.internals import Internals

Field = Literal["kind", "provider", "category", "server", "source"]
"""What is counted by; the server of what has no provider is its source."""
PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingFilter:
    """What somebody asks for; empty means anything."""

    kind: str = ""
    provider: str = ""
    category: str = ""
    server: str = ""
    state: str = ""
    words: tuple[str, ...] = ()
    """In lower case. Each is in the id, or in what is said of it."""

    def __bool__(self) -> bool:
        return self != ANYTHING

    @property
    def stated(self) -> Mapping[str, str]:
        named = {"kind": self.kind, "provider": self.provider, "category": self.category}
        return {name: value for name, value in {**named, "server": self.server}.items() if value}

    def closeness(self, capability: Capability) -> tuple[int, str]:
        """What is called so comes before what only speaks of it."""
        name = capability.name.casefold()
        return (-sum(word in name for word in self.words), capability.id)

    def admits(self, capability: Capability) -> bool:
        """Whether everything but the state fits; the cheap comparisons come first."""
        if any(field_of(capability, name) != value for name, value in self.stated.items()):
            return False
        if not self.words:
            return True
        parts = (capability.id, capability.display_name, capability.description, *capability.tags)
        text = "\n".join(parts).casefold()
        return all(word in text for word in self.words)


ANYTHING = ListingFilter()


State = Literal["available", "unavailable", "held", "off"]


@dataclass(frozen=True, slots=True)
class NeededSecret:
    """A secret that some capabilities of one source, server and kind need, and how many do."""

    name: str
    source: str
    server: str
    kind: str
    count: int


class CatalogueListing(Protocol):
    def count(self, wanted: ListingFilter = ANYTHING) -> int:
        """How many there are."""

    def counts(self, *fields: Field, state: str = "") -> Mapping[tuple[str, ...], int]:
        """How many have each value of some fields, in order of these; of all, or of what is in one state."""

    def page(
        self, wanted: ListingFilter = ANYTHING, after: str = "", most: int = PAGE
    ) -> Sequence[Capability]:
        """Some of them in order of id, behind an id."""

    def closest(self, wanted: ListingFilter, skipped: int, most: int) -> Sequence[Capability]:
        """Some of them behind so many: those first that are called by the words that are asked for."""

    def unusable(self) -> Mapping[str, int]:
        """Server -> how many of it cannot be used right now."""

    def unavailable(self) -> Mapping[tuple[str, str], int]:
        """How many cannot be used right now, by server and reason; those of several reasons several times."""

    def needing_tools(self) -> Iterator[Capability]:
        """What needs other tools, or says itself whether it is there."""

    def secrets(self) -> Sequence[NeededSecret]:
        """The secrets that are needed, in order of name."""


def field_of(capability: Capability, name: str) -> str:
    if name == "server":
        return capability.provider or capability.source
    return str(getattr(capability, name))


def each(
    there: CatalogueListing, wanted: ListingFilter = ANYTHING, after: str = "", portion: int = PAGE
) -> Iterator[Capability]:
    """All of them, read a page at a time."""
    while page := there.page(wanted, after, portion):
        yield from page
        after, portion = page[-1].id, PAGE


class HeldListing:
    """Of capabilities that are in memory."""

    def __init__(self, view: View, capabilities: Mapping[str, Capability]) -> None:
        """view: of everything; capabilities: those that this is of."""
        self._view = view
        self._capabilities = capabilities

    def count(self, wanted: ListingFilter = ANYTHING) -> int:
        return sum(1 for _ in self._those(wanted)) if wanted != ANYTHING else len(self._capabilities)

    def counts(self, *fields: Field, state: str = "") -> Mapping[tuple[str, ...], int]:
        every = self._those(ListingFilter(state=state)) if state else self._capabilities.values()
        found = Counter(tuple(field_of(c, name) for name in fields) for c in every)
        return dict(sorted(found.items()))

    def page(
        self, wanted: ListingFilter = ANYTHING, after: str = "", most: int = PAGE
    ) -> Sequence[Capability]:
        return list(islice((c for c in self._those(wanted) if c.id > after), most))

    def closest(self, wanted: ListingFilter, skipped: int, most: int) -> Sequence[Capability]:
        return sorted(self._those(wanted), key=wanted.closeness)[skipped : skipped + most]

    def unusable(self) -> Mapping[str, int]:
        return Counter(field_of(c, "server") for c in self._capabilities.values() if not c.available)

    def unavailable(self) -> Mapping[tuple[str, str], int]:
        return unavailable_of(self._capabilities.values())

    def needing_tools(self) -> Iterator[Capability]:
        return (c for c in self._capabilities.values() if c.required_tools)

    def secrets(self) -> Sequence[NeededSecret]:
        found = Counter(
            (name, c.source, field_of(c, "server"), c.kind)
            for c in self._capabilities.values()
            for name in c.required_secrets
        )
        return [NeededSecret(*key, count) for key, count in sorted(found.items())]

    @cached_property
    def _by_server(self) -> Mapping[str, Sequence[Capability]]:
        found: dict[str, list[Capability]] = {}
        for capability in self._capabilities.values():
            found.setdefault(field_of(capability, "server"), []).append(capability)
        return found

    def _those(self, wanted: ListingFilter) -> Iterator[Capability]:
        server = wanted.server
        among = self._by_server.get(server, ()) if server else self._capabilities.values()
        found = (c for c in among if wanted.admits(c))
        return (c for c in found if state_of(self._view, c) == wanted.state) if wanted.state else found


def state_of(view: View, capability: Capability) -> State:
    """How it is with one capability for everybody."""
    if capability.id in view.quarantined:
        return "held"
    if view.off(capability.provider, ""):
        return "off"
    return "available" if capability.available else "unavailable"


def unavailable_of(capabilities: Iterable[Capability]) -> Mapping[tuple[str, str], int]:
    return Counter((field_of(c, "server"), reason) for c in capabilities for reason in c.unavailable)


def listing(inner: "Internals", view: View, active: bool = False) -> CatalogueListing:
    """What there is in a view, or what of it is neither switched off nor held back.

    view: of everything, or of what an agent may use.
    """
    capabilities = view.active("") if active else view.capabilities
    if not isinstance(capabilities, PagedCapabilities):
        return HeldListing(view, capabilities)
    from prowess.engine.stored_listing import stored_listing  # numpy

    return stored_listing(inner, view, capabilities, active)
