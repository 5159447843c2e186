"""Cards that are kept in a database instead of in files, so that several programs share them.

Above: the engine, which reads every source. Below: one table of texts, each a card as a file would hold
it. This module owns the table: it also keeps and drops cards.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256

from prowess.errors import NotFound, ProwessError, SourceError
from prowess.sources.files.cards import MAX_CARD_BYTES, CardFiles
from prowess.sources.source import Known, Progress, silent
from prowess.store.database import Database, Transaction
from prowess.types import Draft, Problem, Provider, SourceEntry, SourceReading

KIND = "stored-cards"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCards:
    """The cards in the store that `open` opens; it is closed again after each reading."""

    name: str
    open: Callable[[], Database]
    faculties: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return KIND

    def read(self, known: Known, progress: Progress = silent) -> SourceReading:
        try:
            with self._reading() as transaction:
                rows = transaction.all(
                    "SELECT name, text FROM card_text WHERE workspace = :workspace ORDER BY name"
                )
        except ProwessError as error:
            down = error.message
            problem = Problem(self.name, self.name, down, error.remedy)
            return SourceReading(down=down, providers=(self._provider(down),), problems=(problem,))
        entries: list[SourceEntry] = []
        problems: list[Problem] = []
        for done, (name, text) in enumerate(rows, 1):
            entries.append(self._entry(f"{self.name}/{name}", text, known, problems))
            progress(done, len(rows))
        return SourceReading(entries=tuple(entries), providers=(self._provider(),), problems=tuple(problems))

    @contextmanager
    def _reading(self) -> Iterator[Transaction]:
        database = self.open()
        try:
            with database.reading() as transaction:
                yield transaction
        finally:
            database.close()

    def _provider(self, down: str = "") -> Provider:
        return Provider(name=self.name, source=self.name, faculties=self.faculties, down=down)

    def _entry(self, place: str, text: str, known: Known, problems: list[Problem]) -> SourceEntry:
        stamp = sha256(text.encode()).hexdigest()
        if known.get(place) == stamp:
            return SourceEntry(place, stamp, None)
        try:
            contents = CardFiles(name=self.name, paths=(), faculties=self.faculties).parse(text, place)
        except SourceError as error:
            problems.append(error.problem(self.name))
            return SourceEntry(place, "", ())
        problems += contents.problems
        return SourceEntry(place, "" if contents.problems else stamp, contents.drafts)


def checked(text: str, place: str) -> Draft:
    """The card in a text; raises `SourceError` with what is wrong with it."""
    if len(text.encode()) > MAX_CARD_BYTES:
        raise SourceError(place, f"is larger than {MAX_CARD_BYTES // 1024} KiB", "shorten it or split it")
    (draft,) = CardFiles(name=KIND, paths=()).parse(text, place).drafts
    return draft


def keep(transaction: Transaction, text: str, at: str) -> str:
    """Keep a card under the name it says, in place of an earlier one; returns the name."""
    name = checked(text, "the card").capability.name
    transaction.run(
        "INSERT INTO card_text (workspace, name, text, at) VALUES (:workspace, :name, :text, :at)"
        " ON CONFLICT (workspace, name) DO UPDATE SET text = excluded.text, at = excluded.at",
        name=name, text=text, at=at,
    )  # fmt: skip
    return name


def drop(transaction: Transaction, name: str) -> None:
    if not transaction.run(
        "DELETE FROM card_text WHERE workspace = :workspace AND name = :name", name=name.removeprefix("card:")
    ):
        rows = transaction.all("SELECT name FROM card_text WHERE workspace = :workspace ORDER BY name")
        raise NotFound("stored card", name, [row[0] for row in rows], "see: prowess list")
