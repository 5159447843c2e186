"""The catalogue as a face shows it, where it is too large to be held: counted and paged by the database.

Above: `listing`. Below: the rows of an index in the store, conditions over them, and where words stand. What
can be used is counted by the secrets and servers that are not there; only what needs other tools is read.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from prowess.catalogue.stored import PagedCapabilities
from prowess.catalogue.view import View
from prowess.discovery.stored import queries, relations
from prowess.discovery.stored.conditions import EVERYTHING, RowCondition, any_of
from prowess.discovery.stored.search import StoredSearch
from prowess.engine.internals import Internals
from prowess.engine.listing import ANYTHING, PAGE, Field, ListingFilter, NeededSecret, unavailable_of
from prowess.engine.stored_reach import active_rows, allowed_rows, dialect_for
from prowess.store.database import Database, Transaction
from prowess.types import Capability

DEMANDING = RowCondition("c.demanding")


class StoredListing:
    def __init__(
        self, database: Database, view: View, capabilities: PagedCapabilities,
        condition: Callable[[Transaction], RowCondition], search: StoredSearch,
        environment: Mapping[str, str],
    ) -> None:  # fmt: skip
        """condition: of the rows that belong to it; search: of everything; environment: where secrets are."""
        self._database = database
        self._view = view
        self._capabilities = capabilities
        self._condition = condition
        self._search = search
        self._environment = environment

    def count(self, wanted: ListingFilter = ANYTHING) -> int:
        return self._search.count_of(self._rows(wanted))

    def counts(self, *fields: Field, state: str = "") -> Mapping[tuple[str, ...], int]:
        return self._search.counts(self._rows(ListingFilter(state=state)), *fields)

    def page(
        self, wanted: ListingFilter = ANYTHING, after: str = "", most: int = PAGE
    ) -> Sequence[Capability]:
        rows, found = self._rows(wanted), dict[str, Capability]()
        # What was removed since it was indexed, or is not allowed after all, leaves room for what comes next.
        while len(found) < most:
            with self._database.reading() as transaction:
                ids = queries.ids(transaction, rows, after, most - len(found))
            if not ids:
                break
            found |= self._capabilities.several(ids)
            after = ids[-1]
        return [found[id] for id in sorted(found)]

    def closest(self, wanted: ListingFilter, skipped: int, most: int) -> Sequence[Capability]:
        rows = self._rows(wanted)
        with self._database.reading() as transaction:
            ids = queries.closest_ids(transaction, rows, wanted.words, skipped, most)
        found = self._capabilities.several(ids)
        return [found[id] for id in ids if id in found]

    def unusable(self) -> Mapping[str, int]:
        rows = self._rows(ANYTHING).and_also(self._unusable)
        return {server: count for (server,), count in self._search.counts(rows, "server").items()}

    def unavailable(self) -> Mapping[tuple[str, str], int]:
        found = Counter(unavailable_of(self.needing_tools()))
        rows = self._rows(ANYTHING).and_also(DEMANDING.negated())
        for reason, cause in self._causes().items():
            counts = self._search.counts(rows.and_also(cause), "server")
            found.update({(server, reason): count for (server,), count in counts.items()})
        return found

    def needing_tools(self) -> Iterator[Capability]:
        rows, after = self._rows(ANYTHING).and_also(DEMANDING), ""
        while True:
            with self._database.reading() as transaction:
                ids = queries.ids(transaction, rows, after, PAGE)
            if not ids:
                return
            yield from self._capabilities.several(ids).values()
            after = ids[-1]

    def secrets(self) -> Sequence[NeededSecret]:
        rows = self._rows(ANYTHING)
        with self._database.reading() as transaction:
            return [NeededSecret(*row) for row in relations.secrets(transaction, rows)]

    # --- conditions ----------------------------------------------------------------------------

    @cached_property
    def _unusable(self) -> RowCondition:
        """What lacks a secret or a server, and what needs a tool that cannot be used."""
        lacking = [one.id for one in self.needing_tools() if not one.available]
        causes = [DEMANDING.negated().and_also(cause) for cause in self._causes().values()]
        return any_of([*causes, self._listed("id", "lacking", lacking)])

    def _causes(self) -> dict[str, RowCondition]:
        """Why rows cannot be used: what is said of it, and what is true of them."""
        with self._database.reading() as transaction:
            needed = relations.secret_names(transaction)
        missing = [name for name in needed if not self._environment.get(name)]
        secrets = {
            f"secret {name} is not set": RowCondition(
                "EXISTS (SELECT 1 FROM indexed_relation r WHERE r.workspace = c.workspace"
                f" AND r.number = c.number AND r.what = 'secret' AND r.name = :secret{number})",
                {f"secret{number}": name},
            )
            for number, name in enumerate(missing)
        }
        down = [one for one in self._view.providers.values() if one.down]
        return secrets | {
            f"provider {one.name} is down: {one.down}": RowCondition(
                f"c.provider = :down{number}", {f"down{number}": one.name}
            )
            for number, one in enumerate(down)
        }

    def _rows(self, wanted: ListingFilter) -> RowCondition:
        with self._database.reading() as transaction:
            found = self._condition(transaction)
        for name, value in wanted.stated.items():
            column = queries.FIELDS[name]
            found = found.and_also(RowCondition(f"{column} = :wanted_{name}", {f"wanted_{name}": value}))
        if wanted.words:
            found = found.and_also(self._listed("number", "said", self._search.saying(wanted.words)))
        return found.and_also(self._in_state(wanted.state)) if wanted.state else found

    def _in_state(self, state: str) -> RowCondition:
        held = self._listed("id", "in_quarantine", sorted(self._view.quarantined))
        off = sorted({name for name, whose in self._view.switched_off if not whose})
        is_off = self._listed("provider", "are_off", off)
        free = held.negated()
        match state:
            case "held":
                return held
            case "off":
                return is_off.and_also(free)
            case "unavailable":
                return self._unusable.and_also(free).and_also(is_off.negated())
            case "available":
                return self._unusable.negated().and_also(free).and_also(is_off.negated())
        return EVERYTHING

    def _listed(self, column: str, name: str, values: Sequence[str] | Sequence[int]) -> RowCondition:
        with self._database.reading() as transaction:
            dialect = dialect_for(transaction)
        return RowCondition(dialect.one_of(f"c.{column}", f":{name}"), {name: dialect.listed(values)})


def stored_listing(
    inner: Internals, view: View, capabilities: PagedCapabilities, active: bool
) -> StoredListing:
    """That of a view whose capabilities are looked up; of those that are on alone, or of all."""
    search = inner.search(inner.world())
    assert isinstance(search, StoredSearch)

    def condition(transaction: Transaction) -> RowCondition:
        rows = allowed_rows(view.capabilities).condition(transaction)
        return rows.and_also(active_rows(view, "", transaction)) if active else rows

    return StoredListing(inner.database, view, capabilities, condition, search, inner.environment)
