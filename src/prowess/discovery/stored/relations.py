"""What capabilities of an index in the store share and need, looked up where somebody asks.

Above: a search, for its candidates, and the page of one capability. Below: the table of tags and needs, which
this module owns, and the rows of the index. Looked up is just what makes the relations of some be the ones
that they have in the whole catalogue; a graph of these then says them.
"""

from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from threading import Lock
from unicodedata import normalize

from prowess.catalogue.stored import PagedCapabilities
from prowess.discovery.graph import Edge, Graph, Key, alike_by, largest, partners
from prowess.discovery.stored.conditions import RowCondition
from prowess.discovery.stored.queries import SERVER
from prowess.store.database import Database, Transaction
from prowess.types import EXAMPLES, Capability, Problem

DEEPEST = 4
"""How far what somebody needs is followed."""
MOST_HELD = 20_000
MOST_DEPENDENTS = 1000


def write(transaction: Transaction, rows: Mapping[int, Capability]) -> None:
    """What these rows share and need."""
    transaction.many(
        "INSERT INTO indexed_relation (workspace, what, name, number)"
        " VALUES (:workspace, :what, :name, :number)",
        (
            {"what": what, "name": name, "number": number}
            for number, each in rows.items()
            for what, names in (
                ("tag", each.tags),
                ("needs", each.required_tools),
                ("secret", each.required_secrets),
                ("examples", [""] if each.metadata.get(EXAMPLES) else []),
            )
            for name in dict.fromkeys(names)
        ),
    )


def clear(transaction: Transaction) -> None:
    """Begin anew."""
    transaction.run("DELETE FROM indexed_relation WHERE workspace = :workspace")


class Relations:
    """Who shares what, as one index knows it; how many do is remembered."""

    def __init__(self, database: Database, presets: Mapping[str, Sequence[str]]) -> None:
        self.presets = presets
        self._partners = partners(presets)
        self._database = database
        self._lock = Lock()
        self._held: OrderedDict[tuple[int, Key], int] = OrderedDict()

    def sizes(self, change: int, keys: Iterable[Key]) -> dict[Key, int]:
        """How many share each of these; counted up to what is too many.

        change: of the index, for which what was counted holds.
        """
        wanted = list(keys)
        with self._lock:
            found = {key: self._held[change, key] for key in wanted if (change, key) in self._held}
        missing = [key for key in wanted if key not in found]
        if missing:
            with self._database.reading() as transaction:
                counted = {key: len(_sharing(transaction, key, largest(key) + 1)) for key in missing}
            with self._lock:
                self._held.update({(change, key): size for key, size in counted.items()})
                while len(self._held) > MOST_HELD:
                    self._held.popitem(last=False)
            found |= counted
        return found

    def alike(self, capability: Capability, sizes: Mapping[Key, int]) -> set[str]:
        """The ids of what shares a tag or a category with it that few enough share."""
        with self._database.reading() as transaction:
            return {
                id
                for key in alike_by(capability)
                if sizes[key] <= largest(key)
                for id in _sharing(transaction, key, largest(key))
            }

    def users(self, names: Collection[str]) -> list[str]:
        """What needs something by one of these names."""
        with self._database.reading() as transaction:
            rows = transaction.among(
                "SELECT DISTINCT c.id FROM indexed_relation r JOIN indexed_capability c"
                " ON c.workspace = r.workspace AND c.number = r.number"
                " WHERE r.workspace = :workspace AND r.what = 'needs' AND r.name IN (:listed)"
                " AND +c.gone = 0 ORDER BY c.id LIMIT :most",
                names, most=MOST_DEPENDENTS,
            )  # fmt: skip
        return [row[0] for row in rows]

    def with_needed(
        self, capabilities: PagedCapabilities, found: Mapping[str, Capability]
    ) -> dict[str, Capability]:
        """The same, what they need, and what presets name along with them."""
        every, last, known = dict(found), found, set[str]()
        for _ in range(DEEPEST):
            names = {name for each in last.values() for name in each.required_tools}
            for each in last.values() if last is found and self._partners else ():
                own = {each.id, each.id.removeprefix("tool:"), each.name} & self._partners.keys()
                names |= own.union(*(self._partners[name] for name in own))
            ids = {*capabilities.tool_ids(names - known).values()} - every.keys()
            if not ids:
                break
            known |= names
            last = capabilities.several(ids)
            every |= last
        return every


def _sharing(transaction: Transaction, key: Key, most: int) -> list[str]:
    """Ids of what shares something, up to so many."""
    what, name = key
    if what == "category":
        kind, _, category = name.partition(":")
        rows = transaction.all(
            "SELECT id FROM indexed_capability WHERE workspace = :workspace"
            " AND category = :category AND kind || '' = :kind AND +gone = 0 LIMIT :most",
            category=normalize("NFC", category), kind=kind, most=most,
        )  # fmt: skip
    else:
        rows = transaction.all(
            "SELECT c.id FROM indexed_relation r JOIN indexed_capability c"
            " ON c.workspace = r.workspace AND c.number = r.number"
            " WHERE r.workspace = :workspace AND r.what = :what AND r.name = :name"
            " AND +c.gone = 0 LIMIT :most",
            what=what, name=name, most=most,
        )  # fmt: skip
    return [row[0] for row in rows]


def having_examples(transaction: Transaction, most: int) -> list[str]:
    """Ids of what has examples of its author, up to so many."""
    return _sharing(transaction, ("examples", ""), most)


def secret_names(transaction: Transaction) -> list[str]:
    """Every secret that something in the index needs or needed."""
    rows = transaction.all(
        "SELECT DISTINCT name FROM indexed_relation"
        " WHERE workspace = :workspace AND what = 'secret' ORDER BY name"
    )
    return [row[0] for row in rows]


def secrets(transaction: Transaction, condition: RowCondition) -> list[tuple[str, str, str, str, int]]:
    """The secrets that rows need: the name, the source, server and kind of what needs it, and how many do."""
    return [
        (name, source, server, kind, count)
        for name, source, server, kind, count in transaction.all(
            f"SELECT r.name, c.source, {SERVER}, c.kind, COUNT(*) FROM indexed_relation r"
            " JOIN indexed_capability c ON c.workspace = r.workspace AND c.number = r.number"
            " WHERE r.workspace = :workspace AND r.what = 'secret' AND +c.gone = 0"
            f" AND ({condition.text})"
            f" GROUP BY r.name, c.source, {SERVER}, c.kind ORDER BY r.name, c.source, {SERVER}, c.kind",
            **condition.values,
        )
    ]


class StoredGraph:
    """The relations of a whole catalogue that is not held: those of what is asked for are looked up."""

    def __init__(self, relations: Relations, capabilities: PagedCapabilities, change: int, size: int) -> None:
        """change: of the index; size: how many it has."""
        self._relations = relations
        self._capabilities = capabilities
        self._change = change
        self._size = size

    def __len__(self) -> int:
        return self._size

    def edge_count(self) -> None:
        """Nobody counts them: that compares everything with everything that shares something."""

    def neighbours(self, id: str, among: Set[str] | None = None) -> tuple[Edge, ...]:
        """Every relation of one capability, or those to some others, the strongest first."""
        known = self._capabilities.get(id)
        if known is None:
            return ()
        alike = self._relations.alike(known, self._sizes(alike_by(known)))
        return self._of({id, *alike}).neighbours(id, among)

    def subgraph(self, ids: Iterable[str]) -> tuple[Edge, ...]:
        """The edges among these capabilities, each once."""
        wanted = list(ids)
        return self._of(wanted).subgraph(wanted)

    def dependents(self, id: str) -> tuple[str, ...]:
        """What needs this one, directly; of very many, the first."""
        known = self._capabilities.get(id)
        names = {id, id.removeprefix("tool:"), known.name} if known else set()
        meant = self._capabilities.tool_ids(names)
        users = self._relations.users([name for name in names if meant.get(name) == id])
        return tuple(user for user in users if user != id)

    def problems(self) -> tuple[Problem, ...]:
        """Names in presets that mean nothing here."""
        return self._of(()).problems()

    def _of(self, ids: Collection[str]) -> Graph:
        presets = self._relations.presets
        named = () if ids else {name for members in presets.values() for name in members}
        graph = Graph(presets, self._sizes)
        found = self._capabilities.several({*ids, *self._capabilities.tool_ids(named).values()})
        every = self._relations.with_needed(self._capabilities, found).values()
        for each in every:
            graph.put(each)
        shared = Counter(key for each in every for key in alike_by(each))
        self._sizes(key for key, count in shared.items() if 2 <= count <= largest(key))  # read together
        return graph

    def _sizes(self, keys: Iterable[Key]) -> dict[Key, int]:
        return self._relations.sizes(self._change, keys)
