"""Memory: one SQL text for two databases.

Above: the journal, the catalogue and every other owner of a table, who write literal SQL with
`:name` parameters. Below: a driver of a few lines for each database. A `Database` lends a
connection to one transaction at a time, so any thread may use it.
"""

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from prowess.errors import StoreError, WorkspaceError
from prowess.store.connections import Connections
from prowess.store.driver import EVERYWHERE, Driver
from prowess.types import Problem

if TYPE_CHECKING:
    from prowess.store.replica import Replica

Row = tuple[Any, ...]
Portion = TypeVar("Portion")
Found = TypeVar("Found")

DEFAULT_WORKSPACE = "default"
WORKSPACE_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
LONGEST_PAUSE = 0.05
ISOLATED_SINCE = 60
"""The migration since which the database itself keeps workspaces apart, where it can."""

RENAMED_SINCE = 110
"""The migration since which no table has the name of a type that others bring."""


class Transaction:
    """Statements that happen together or not at all, in one workspace.

    Each of them finds that workspace under `:workspace`, so that nobody has to hand it on.
    """

    __slots__ = ("_adapt", "_cursor", "_driver", "_workspace", "era")

    def __init__(self, driver: Driver, cursor: Any, workspace: str, era: int | None = None) -> None:
        self._adapt = driver.adapt
        self._cursor = cursor
        self._driver = driver
        self._workspace = workspace
        self.era = driver.era if era is None else era
        """What is known by its number holds only within one."""

    @property
    def has_arrays(self) -> bool:
        """Whether a parameter may be a list, for `= ANY(:name)`."""
        return self._driver.has_arrays

    def within(self, workspace: str) -> "Transaction":
        """The same transaction, in another workspace: for what concerns a whole store."""
        return Transaction(self._driver, self._cursor, workspace)

    def all(self, sql: str, **values: object) -> list[Row]:
        self._execute(sql, values)
        return list(self._cursor.fetchall())

    def one(self, sql: str, **values: object) -> Row | None:
        self._execute(sql, values)
        row: Row | None = self._cursor.fetchone()
        return row

    def run(self, sql: str, **values: object) -> int:
        """Execute one statement and return how many rows it touched."""
        self._execute(sql, values)
        return int(self._cursor.rowcount)

    def among(self, sql: str, values: Collection[int] | Collection[str], **others: object) -> list[Row]:
        """The rows for many values at once; the statement says `IN (:listed)` of their column."""
        return self.all(sql, listed=self._driver.listed(values), **others) if values else []

    def analyze(self, *tables: str) -> None:
        """Let the planner look at tables that were filled at once."""
        if self._driver.analyze:
            self.run(f"{self._driver.analyze} {', '.join(tables)}")

    def announce(self) -> None:
        """Let those who wait for a change in this workspace look at once, when this is committed.

        For what seldom changes: those who announce commit one after the other.
        """
        if self._driver.announcement:
            self.run(self._driver.announcement)

    def columns(self, table: str) -> list[str]:
        self._cursor.execute(f"SELECT * FROM {table} LIMIT 0")
        return [column[0] for column in self._cursor.description]

    def each(self, sql: str) -> Iterator[Row]:
        """Row after row; nothing else may be asked before the last."""
        self._execute(sql, {})
        yield from self._cursor

    def many(self, sql: str, rows: Iterable[Mapping[str, object]]) -> None:
        batch = [{**row, "workspace": self._workspace} for row in rows]
        if batch:
            self._cursor.executemany(self._adapt(sql), batch)

    def _execute(self, sql: str, values: dict[str, object]) -> None:
        values["workspace"] = self._workspace
        self._cursor.execute(self._adapt(sql), values)


class Database:
    """One workspace of a store that is open: migrated, pooled, safe to share between threads.

    Several workspaces of one store share its connections: `database.of("acme")`.
    """

    def __init__(
        self, driver: Driver, workspace: str = DEFAULT_WORKSPACE, connections: Connections | None = None,
        replica: str = "",
    ) -> None:  # fmt: skip
        self._driver = driver
        self.workspace = workspace
        self._connections = connections or Connections(driver, replica)
        try:
            if not WORKSPACE_NAME.fullmatch(workspace):
                raise WorkspaceError(workspace)
            if connections is None:
                self._migrate()
        except BaseException:
            self.close()
            raise

    def of(self, workspace: str) -> "Database":
        """Another workspace of the same store; it is closed by itself, and the store with the last one."""
        self._connections.share()
        return Database(self._driver, workspace, self._connections)

    @property
    def place(self) -> str:
        return self._driver.place

    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with where the store is kept, and with its replica."""
        replica = self.replica
        return (*self._driver.problems(), *(replica.problems() if replica else ()))

    def gauges(self) -> dict[str, tuple[str, float]]:
        """What those who run a server watch of its store: name -> what it says, and its value now."""
        return self.replica.gauges() if self.replica else {}

    @property
    def replica(self) -> "Replica | None":
        return self._connections.replica

    @contextmanager
    def reading(self, everywhere: bool = False) -> Iterator[Transaction]:
        """One consistent view of the store; never waits for a writer.

        `everywhere` is for what concerns a whole store: the database shows the rows of every workspace.
        """
        scope = EVERYWHERE if everywhere else self.workspace
        with self._connections.transaction(scope, writing=False, flush=True) as cursor:
            yield Transaction(self._driver, cursor, self.workspace)

    def read(self, find: Callable[[Transaction], Found]) -> Found:
        """What is found in one consistent view of the store."""
        with self.reading() as transaction:
            return find(transaction)

    def from_replica(self, find: Callable[[Transaction], Found]) -> Found:
        """The same, from a replica where one has all that the primary has, to spare the primary.

        For what is much to read and decides nothing: what is searched, loaded and shown. What it finds is no
        older than the moment in which it was asked for, as on the primary; but it goes by the word of two
        servers. So who may do what, who is asked, who has work, and whatever is written after a look at what
        is there, are read with `reading`. `find` may be called twice: a replica can be lost in the middle.
        """
        replica = self.replica
        if replica is not None:
            answer = replica.answer(
                self.workspace,
                lambda cursor, era: find(Transaction(self._driver, cursor, self.workspace, era)),
            )
            if answer is not None:
                return answer[0]
        return self.read(find)

    @contextmanager
    def writing(self, flush: bool = True, everywhere: bool = False) -> Iterator[Transaction]:
        """Everything inside is durable when the block ends, or never happened.

        Without `flush` it survives the end of this process, however it ends, but SQLite does not wait until
        it is on the disk: a power cut may take the last moments with it, never a part of a transaction.
        """
        scope = EVERYWHERE if everywhere else self.workspace
        with self._connections.transaction(scope, writing=True, flush=flush) as cursor:
            yield Transaction(self._driver, cursor, self.workspace)

    def told(self, tell: Callable[[], None]) -> AbstractContextManager[None]:
        """While this lasts, `tell` is called soon after a change in this workspace, where one can hear it."""
        return self._connections.changes.told(self.workspace, tell)

    def check(self) -> None:
        """Raises what keeps the store from being used: it does not answer, or is of another version."""
        found, known = self._applied(), migrations()[-1].number
        if found != known:
            what = f"the store {self.place} has schema {found}, and this prowess knows {known}"
            raise StoreError(what, "start this process anew with the prowess that the store is of")

    def close(self) -> None:
        self._connections.close()

    def rebuild(self, transaction: Transaction, schema: int) -> None:
        """Throw everything away and make the tables as they were at a schema, all within a transaction."""
        if self._driver.lock_for_migration:
            transaction.run(self._driver.lock_for_migration)
        for table in reversed(tables()):
            transaction.run(f"DROP TABLE IF EXISTS {table}")
        transaction.run("DELETE FROM migration")
        self.advance(transaction, 0, schema)

    def advance(self, transaction: Transaction, done: int, schema: int) -> None:
        """Run the migrations after one number, up to another; what was there before is looked at anew."""
        if done < RENAMED_SINCE and self._driver.set_aside:
            transaction.run(self._driver.set_aside)
        for migration in migrations():
            if done < migration.number <= schema:
                migration.run(transaction)
        if schema >= RENAMED_SINCE and self._driver.put_back:
            transaction.run(self._driver.put_back)
        isolation = self._driver.isolation(tables_at(schema)) if schema >= ISOLATED_SINCE else ""
        if isolation:
            transaction.run(isolation)
        if done and self._driver.analyze:
            transaction.run(f"{self._driver.analyze} {', '.join(tables())}")

    def _migrate(self) -> None:
        known = migrations()
        if self._applied() == known[-1].number:
            return
        with self.writing(everywhere=True) as transaction:
            if self._driver.lock_for_migration:
                transaction.run(self._driver.lock_for_migration)
            transaction.run(
                "CREATE TABLE IF NOT EXISTS migration (number BIGINT PRIMARY KEY, name TEXT NOT NULL)"
            )
            row = transaction.one("SELECT COALESCE(MAX(number), 0) FROM migration")
            applied = row[0] if row else 0
            if applied > known[-1].number:
                raise StoreError(
                    f"the store {self.place} was written by a newer prowess (schema {applied})",
                    "upgrade prowess, or open another store",
                )
            self.advance(transaction, applied, known[-1].number)

    def _applied(self) -> int:
        """How many migrations the store has, without taking any lock; 0 when it is new."""
        try:
            with self.reading() as transaction:
                row = transaction.one("SELECT COALESCE(MAX(number), 0) FROM migration")
        except StoreError as error:
            if isinstance(error.__cause__, self._driver.failures) and "migration" in str(error.__cause__):
                return 0
            raise
        return row[0] if row else 0


def paced(portions: Iterable[Portion]) -> Iterator[Portion]:
    """Portions of work, with a pause after each that is as long as it took, so that others get their turn."""
    begun = time.monotonic()
    for portion in portions:
        yield portion
        time.sleep(min(LONGEST_PAUSE, time.monotonic() - begun))
        begun = time.monotonic()


class Migration(NamedTuple):
    """One step forward: a numbered SQL file that both databases run."""

    number: int
    name: str
    text: str

    def run(self, transaction: Transaction) -> None:
        for statement in statements(self.text):
            transaction.run(statement)
        transaction.run(
            "INSERT INTO migration (number, name) VALUES (:number, :name)", number=self.number, name=self.name
        )


def migrations() -> list[Migration]:
    """The numbered SQL files beside this module, in order."""
    folder = resources.files("prowess.store") / "migrations"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return [Migration(int(f.name.partition("_")[0]), f.name, f.read_text(encoding="utf-8")) for f in files]


def tables() -> list[str]:
    """Every table there is, but the one that counts migrations."""
    return tables_at(migrations()[-1].number)


def tables_at(schema: int) -> list[str]:
    """The tables that a schema has, in the order in which they were made."""
    there: dict[str, None] = {}
    for migration in migrations():
        if migration.number <= schema:
            there |= dict.fromkeys(re.findall(r"CREATE TABLE (\w+)", migration.text))
            for gone in re.findall(r"DROP TABLE (\w+)", migration.text):
                there.pop(gone, None)
    return list(there)


def statements(text: str) -> list[str]:
    """Split a migration at the semicolons that end a line; comments go."""
    code = "".join(f"{line}\n" for line in text.splitlines() if not line.lstrip().startswith("--"))
    return [part.strip() for part in code.split(";\n") if part.strip()]
