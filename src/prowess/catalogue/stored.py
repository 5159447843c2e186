"""The capabilities of a catalogue that is too large to be held: looked up when somebody asks for one.

Above: a view, whose other parts are as small as ever. What is asked for together is read together, what was
read lately is at hand, iterating reads a page at a time. What changed since the view was taken is not there.
"""

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Collection, ItemsView, Iterator, Mapping, ValuesView
from functools import partial
from threading import Lock

import msgspec

from prowess.store.database import Database, Row, Transaction
from prowess.types import Capability

PAGE = 1000
MOST_NAMESAKES = 50
MOST_HELD = 20_000
"""Capabilities that a process holds of those it read lately."""
Decode = msgspec.json.Decoder(Capability)


class PagedCapabilities(Mapping[str, Capability]):
    """Capabilities by id that are not all in memory, in order of id."""

    @abstractmethod
    def several(self, ids: Collection[str]) -> dict[str, Capability]:
        """Those of these ids that exist, read together."""

    @abstractmethod
    def among(self, some: Mapping[str, Capability]) -> Mapping[str, Capability]:
        """Of some that were just read, those that are here, as they are here."""

    @abstractmethod
    def of_kind(self, kind: str) -> Mapping[str, Capability]:
        """Those of one kind."""

    @abstractmethod
    def called(self, names: Collection[str]) -> dict[str, str]:
        """Name of a server's tool -> its id, the last in order where several are called so."""

    @abstractmethod
    def namesakes(self, name: str) -> Mapping[str, Capability]:
        """The tools that servers call so, the first of very many."""

    @abstractmethod
    def pages(self, after: str = "") -> Iterator[dict[str, Capability]]:
        """All of them, or those behind an id, a page after the other."""

    def tool_ids(self, names: Collection[str]) -> dict[str, str]:
        """Name -> what something requires under it: an id, a tool without a server, one of any server."""
        there = self.several({*names, *map(_as_tool, names)}) if names else {}
        found = {name: id for name in names for id in (_as_tool(name), name) if id in there}
        return {**self.called([name for name in names if name not in found]), **found}

    def __getitem__(self, id: str) -> Capability:
        found = self.several([id]).get(id) if isinstance(id, str) else None
        if found is None:
            raise KeyError(id)
        return found

    def __iter__(self) -> Iterator[str]:
        for page in self.pages():
            yield from page

    def values(self) -> ValuesView[Capability]:
        return _Values(self)

    def items(self) -> ItemsView[str, Capability]:
        return _Items(self)


class _Values(ValuesView[Capability]):
    def __init__(self, of: PagedCapabilities) -> None:
        super().__init__(of)
        self._of = of

    def __iter__(self) -> Iterator[Capability]:
        for page in self._of.pages():
            yield from page.values()


class _Items(ItemsView[str, Capability]):
    def __init__(self, of: PagedCapabilities) -> None:
        super().__init__(of)
        self._of = of

    def __iter__(self) -> Iterator[tuple[str, Capability]]:
        for page in self._of.pages():
            yield from page.items()


class HeldTexts:
    """Capabilities that were read lately, by id and digest."""

    def __init__(self, most: int = MOST_HELD) -> None:
        self._most = most
        self._held: OrderedDict[tuple[str, str], Capability] = OrderedDict()
        self._lock = Lock()

    def get(self, id: str, digest: str) -> Capability | None:
        with self._lock:
            found = self._held.get((id, digest))
            if found is not None:
                self._held.move_to_end((id, digest))
            return found

    def keep(self, capability: Capability) -> None:
        with self._lock:
            self._held[capability.id, capability.digest] = capability
            while len(self._held) > self._most:
                self._held.popitem(last=False)


class StoredCapabilities(PagedCapabilities):
    def __init__(self, database: Database, version: int, size: int, held: HeldTexts) -> None:
        """version: of the catalogue, newer than which nothing is shown; size: how many there are."""
        self._database = database
        self.version = version
        self._size = size
        self._held = held
        self._kinds: dict[str, Mapping[str, Capability]] = {}

    def several(self, ids: Collection[str]) -> dict[str, Capability]:
        if not ids:
            return {}
        return self._database.from_replica(lambda transaction: self._several(transaction, ids))

    def _several(self, transaction: Transaction, ids: Collection[str]) -> dict[str, Capability]:
        rows = transaction.among(
            "SELECT id, digest FROM capability"
            # The plus keeps SQLite from going through all versions for a few ids.
            " WHERE workspace = :workspace AND id IN (:listed) AND +version <= :version",
            ids, version=self.version,
        )  # fmt: skip
        found = {id: self._held.get(id, digest) for id, digest in rows}
        texts = transaction.among(
            "SELECT c.id, t.capability FROM capability c JOIN capability_text t"
            " ON t.workspace = c.workspace AND t.id = c.id AND t.digest = c.digest"
            " WHERE c.workspace = :workspace AND c.id IN (:listed)",
            [id for id, known in found.items() if known is None],
        )
        read = {id: Decode.decode(text) for id, text in texts}
        for each in read.values():
            self._held.keep(each)
        return {id: known or read[id] for id, known in sorted(found.items()) if known or id in read}

    def __len__(self) -> int:
        return self._size

    def among(self, some: Mapping[str, Capability]) -> Mapping[str, Capability]:
        return some

    def of_kind(self, kind: str) -> Mapping[str, Capability]:
        if kind not in self._kinds:
            self._kinds[kind] = self._database.from_replica(partial(self._of_kind, kind))
        return self._kinds[kind]

    def _of_kind(self, kind: str, transaction: Transaction) -> dict[str, Capability]:
        rows = transaction.all(
            "SELECT id FROM capability WHERE workspace = :workspace AND +version <= :version"
            " AND substr(id, 1, :length) = :prefix",
            version=self.version, prefix=f"{kind}:", length=len(kind) + 1,
        )  # fmt: skip
        return self._several(transaction, [row[0] for row in rows])

    def called(self, names: Collection[str]) -> dict[str, str]:
        return dict(self._database.from_replica(partial(self._called, names))) if names else {}

    def _called(self, names: Collection[str], transaction: Transaction) -> list[Row]:
        return transaction.among(
            "SELECT substr(id, length(provider) + 7), MAX(id) FROM capability"
            " WHERE workspace = :workspace AND substr(id, length(provider) + 7) IN (:listed)"
            " AND substr(id, 1, length(provider) + 6) = 'tool:' || provider || '/'"
            " AND +version <= :version"
            " GROUP BY substr(id, length(provider) + 7)",
            names, version=self.version,
        )  # fmt: skip

    def namesakes(self, name: str) -> Mapping[str, Capability]:
        return self._database.from_replica(partial(self._namesakes, name))

    def _namesakes(self, name: str, transaction: Transaction) -> dict[str, Capability]:
        rows = transaction.all(
            "SELECT id FROM capability WHERE workspace = :workspace"
            " AND substr(id, length(provider) + 7) = :name AND +version <= :version"
            " AND substr(id, 1, length(provider) + 6) = 'tool:' || provider || '/' LIMIT :most",
            name=name, version=self.version, most=MOST_NAMESAKES,
        )  # fmt: skip
        return self._several(transaction, [row[0] for row in rows])

    def pages(self, after: str = "") -> Iterator[dict[str, Capability]]:
        """What is read through is not kept at hand: it would push out what is asked for again."""
        while True:
            page = self._database.from_replica(partial(self._page, after))
            if not page:
                return
            after = next(reversed(page))
            yield page

    def _page(self, after: str, transaction: Transaction) -> dict[str, Capability]:
        rows = transaction.all(
            "SELECT c.id, t.capability FROM (SELECT workspace, id, digest FROM capability"
            " WHERE workspace = :workspace AND +version <= :version AND id > :after"
            " ORDER BY id LIMIT :page) c JOIN capability_text t"
            " ON t.workspace = c.workspace AND t.id = c.id AND t.digest = c.digest ORDER BY c.id",
            version=self.version, after=after, page=PAGE,
        )  # fmt: skip
        return {id: Decode.decode(text) for id, text in rows}


Change = Callable[[Mapping[str, Capability]], Mapping[str, Capability]]


class ChangedCapabilities(PagedCapabilities):
    """The same capabilities, of which some are otherwise or not there, found out when they are looked at."""

    def __init__(
        self, base: PagedCapabilities, change: Change, size: Callable[[], int] | None = None
    ) -> None:
        """change: of some of them, what is left and how; size: how many are left, where some are not."""
        self.base = base
        self._change = change
        self._size = size

    def several(self, ids: Collection[str]) -> dict[str, Capability]:
        return dict(self._change(self.base.several(ids)))

    def among(self, some: Mapping[str, Capability]) -> Mapping[str, Capability]:
        return self._change(self.base.among(some))

    def called(self, names: Collection[str]) -> dict[str, str]:
        return self.base.called(names)

    def namesakes(self, name: str) -> Mapping[str, Capability]:
        return self._change(self.base.namesakes(name))

    def __len__(self) -> int:
        return self._size() if self._size else len(self.base)

    def of_kind(self, kind: str) -> Mapping[str, Capability]:
        return dict(self._change(self.base.of_kind(kind)))

    def pages(self, after: str = "") -> Iterator[dict[str, Capability]]:
        for page in self.base.pages(after):
            yield dict(self._change(page))


def _as_tool(name: str) -> str:
    return f"tool:{name}"


def several(of: Mapping[str, Capability], ids: Collection[str]) -> Mapping[str, Capability]:
    """Some capabilities by id, read together where they are looked up."""
    if isinstance(of, PagedCapabilities):
        return of.several(ids)
    return {id: of[id] for id in ids if id in of}
