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

Field = Literal["kind", "provider", "category", "server"]
"""What is counted by; the server of what has no provider is its source."""
PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingFilter:
    """What somebody asks for; empty means anything."""

    kind: str = ""
    provider: str = ""
    category: str = ""
    server: str = ""
    words: tuple[str, ...] = ()
    """In lower case. Each is in the id, or in what is said of it."""

    @property
    def stated(self) -> Mapping[str, str]:
        named = {"kind": self.kind, "provider": self.provider, "category": self.category}
        return {name: value for name, value in {**named, "server": self.server}.items() if value}

    def admits(self, capability: Capability) -> bool:
        if any(field_of(capability, name) != value for name, value in self.stated.items()):
            return False
        if not self.words:
            return True
        parts = (capability.id, capability.display_name, capability.description, *capability.tags)
        text = "\n".join(parts).casefold()
        return all(word in text for word in self.words)


ANYTHING = ListingFilter()


class Listing(Protocol):
    def count(self, wanted: ListingFilter = ANYTHING) -> int:
        """How many there are."""

    def counts(self, *fields: Field) -> Mapping[tuple[str, ...], int]:
        """How many have each value of some fields, in order of these."""

    def page(
        self, wanted: ListingFilter = ANYTHING, after: str = "", most: int = PAGE, skipped: int = 0
    ) -> Sequence[Capability]:
        """Some of them in order of id: behind an id, and behind so many more."""

    def available(self) -> int:
        """How many of them can be used right now."""

    def unavailable(self) -> Mapping[tuple[str, str], int]:
        """How many cannot be used right now, by server and reason; those of several reasons several times."""


def field_of(capability: Capability, name: str) -> str:
    if name == "server":
        return capability.provider or capability.source
    return str(getattr(capability, name))


def each(listing: Listing, wanted: ListingFilter = ANYTHING, after: str = "") -> Iterator[Capability]:
    """All of them, read a page at a time."""
    while page := listing.page(wanted, after):
        yield from page
        if len(page) < PAGE:
            return
        after = page[-1].id


class HeldListing:
    """Of capabilities that are in memory."""

    def __init__(self, capabilities: Mapping[str, Capability]) -> None:
        self._capabilities = capabilities

    @cached_property
    def _by_server(self) -> Mapping[str, Sequence[Capability]]:
        found: dict[str, list[Capability]] = {}
        for capability in self._capabilities.values():
            found.setdefault(field_of(capability, "server"), []).append(capability)
        return found

    def count(self, wanted: ListingFilter = ANYTHING) -> int:
        return sum(1 for _ in self._those(wanted)) if wanted != ANYTHING else len(self._capabilities)

    def counts(self, *fields: Field) -> Mapping[tuple[str, ...], int]:
        every = self._capabilities.values()
        found = Counter(tuple(field_of(c, name) for name in fields) for c in every)
        return dict(sorted(found.items()))

    def page(
        self, wanted: ListingFilter = ANYTHING, after: str = "", most: int = PAGE, skipped: int = 0
    ) -> Sequence[Capability]:
        behind = (c for c in self._those(wanted) if c.id > after)
        return list(islice(behind, skipped, skipped + most))

    def available(self) -> int:
        return sum(c.available for c in self._capabilities.values())

    def unavailable(self) -> Mapping[tuple[str, str], int]:
        return unavailable_of(self._capabilities.values())

    def _those(self, wanted: ListingFilter) -> Iterator[Capability]:
        server = wanted.server
        among = self._by_server.get(server, ()) if server else self._capabilities.values()
        return (c for c in among if wanted.admits(c))


def unavailable_of(capabilities: Iterable[Capability]) -> Mapping[tuple[str, str], int]:
    return Counter((field_of(c, "server"), reason) for c in capabilities for reason in c.unavailable)


def listing(inner: "Internals", view: View, active: bool = False) -> Listing:
    """What there is in a view, or what of it is neither switched off nor held back.

    view: of everything, or of what an agent may use.
    """
    capabilities = view.active("") if active else view.capabilities
    if not isinstance(capabilities, PagedCapabilities):
        return HeldListing(capabilities)
    from prowess.engine.stored_listing import stored_listing  # numpy

    return stored_listing(inner, view, capabilities, active)
