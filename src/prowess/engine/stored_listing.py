"""The catalogue as a face shows it, where it is too large to be held: counted and paged by the database.

Above: `listing`. Below: the rows of an index in the store, conditions over them, and where words stand. What
can be used is counted by the secrets and servers that are not there; only what needs other tools is read.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from prowess.catalogue.stored import PagedCapabilities
from prowess.catalogue.view import View
from prowess.discovery.stored import relations, tables
from prowess.discovery.stored.conditions import RowCondition
from prowess.discovery.stored.search import StoredSearch
from prowess.engine.internals import Internals
from prowess.engine.listing import ANYTHING, PAGE, Field, ListingFilter, unavailable_of
from prowess.engine.stored_reach import active_rows, allowed_rows, dialect_for
from prowess.store.database import Database, Transaction
from prowess.types import Capability

DEMANDING = RowCondition("c.demanding")


class StoredListing:
    def __init__(
        self, database: Database, capabilities: PagedCapabilities,
        condition: Callable[[Transaction], RowCondition], saying: Callable[[Sequence[str]], Sequence[int]],
        down: Mapping[str, str], environment: Mapping[str, str],
    ) -> None:  # fmt: skip
        """condition: of the rows that belong to it; saying: the rows in which words stand; down: the servers
        that are, and why; environment: where secrets are."""
        self._database = database
        self._capabilities = capabilities
        self._condition = condition
        self._saying = saying
        self._down = down
        self._environment = environment

    def count(self, wanted: ListingFilter = ANYTHING) -> int:
        with self._database.reading() as transaction:
            return tables.count(transaction, self._rows(transaction, wanted))

    def counts(self, *fields: Field) -> Mapping[tuple[str, ...], int]:
        with self._database.reading() as transaction:
            found = tables.counts(transaction, self._rows(transaction, ANYTHING), fields)
        return dict(sorted(found.items()))

    def page(
        self, wanted: ListingFilter = ANYTHING, after: str = "", most: int = PAGE, skipped: int = 0
    ) -> Sequence[Capability]:
        found: dict[str, Capability] = {}
        # What was removed since it was indexed, or is not allowed after all, leaves room for what comes next.
        while len(found) < most:
            with self._database.reading() as transaction:
                rows = self._rows(transaction, wanted)
                ids = tables.ids(transaction, rows, after, most - len(found), skipped)
            if not ids:
                break
            found |= self._capabilities.several(ids)
            after, skipped = ids[-1], 0
        return [found[id] for id in sorted(found)]

    def available(self) -> int:
        with self._database.reading() as transaction:
            rows = self._rows(transaction, ANYTHING)
            for without in (DEMANDING, *self._causes(transaction).values()):
                rows = rows.and_also(without.negated())
            count = tables.count(transaction, rows)
        return count + sum(one.available for one in self._demanding())

    def unavailable(self) -> Mapping[tuple[str, str], int]:
        found = Counter(unavailable_of(self._demanding()))
        with self._database.reading() as transaction:
            rows = self._rows(transaction, ANYTHING).and_also(DEMANDING.negated())
            for reason, cause in self._causes(transaction).items():
                for (server,), count in tables.counts(transaction, rows.and_also(cause), ["server"]).items():
                    found[server, reason] += count
        return found

    def _demanding(self) -> Iterator[Capability]:
        """What has to be looked at to know whether it can be used, a page at a time."""
        after = ""
        while True:
            with self._database.reading() as transaction:
                rows = self._rows(transaction, ANYTHING).and_also(DEMANDING)
                ids = tables.ids(transaction, rows, after, PAGE)
            if not ids:
                return
            yield from self._capabilities.several(ids).values()
            after = ids[-1]

    def _causes(self, transaction: Transaction) -> dict[str, RowCondition]:
        """Why rows cannot be used: what is said of it, and what is true of them."""
        needed = dict.fromkeys(name for name, *_ in relations.secrets(transaction))
        missing = [name for name in needed if not self._environment.get(name)]
        secrets = {
            f"secret {name} is not set": RowCondition(
                "EXISTS (SELECT 1 FROM indexed_relation r WHERE r.workspace = c.workspace"
                f" AND r.number = c.number AND r.what = 'secret' AND r.name = :secret{number})",
                {f"secret{number}": name},
            )
            for number, name in enumerate(missing)
        }
        down = {
            f"provider {name} is down: {why}": RowCondition(
                f"c.provider = :down{number}", {f"down{number}": name}
            )
            for number, (name, why) in enumerate(self._down.items())
        }
        return {**secrets, **down}

    def _rows(self, transaction: Transaction, wanted: ListingFilter) -> RowCondition:
        found = self._condition(transaction)
        for name, value in wanted.stated.items():
            column = tables.FIELDS[name]
            found = found.and_also(RowCondition(f"{column} = :wanted_{name}", {f"wanted_{name}": value}))
        if wanted.words:
            dialect = dialect_for(transaction)
            said = dialect.listed(self._saying(wanted.words))
            found = found.and_also(RowCondition(dialect.one_of("c.number", ":said"), {"said": said}))
        return found


def stored_listing(
    inner: Internals, view: View, capabilities: PagedCapabilities, active: bool
) -> StoredListing:
    """That of a view whose capabilities are looked up; of those that are on alone, or of all."""
    search = inner.search(inner.world())
    assert isinstance(search, StoredSearch)
    down = {name: one.down for name, one in view.providers.items() if one.down}

    def condition(transaction: Transaction) -> RowCondition:
        rows = allowed_rows(view.capabilities).condition(transaction)
        return rows.and_also(active_rows(view, "", transaction)) if active else rows

    return StoredListing(inner.database, capabilities, condition, search.saying, down, inner.environment)
