"""prowess.toml as a face may write it: a change is seen first, written whole, journalled, and taken back.

Above: the operations on servers. Below: the journal. A process that may not write it has no `ProjectFile`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from prowess import config as configuration
from prowess.errors import ConfigError, NotFound, Outdated
from prowess.journal import Journal
from prowess.journal.entries import ConfigurationChanged
from prowess.journal.reading import read
from prowess.store.database import Database
from prowess.text.rewriting import cut, difference, replace_text, text_digest

MAX_CHANGES_READ = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigurationProposal:
    """A change of prowess.toml that nobody has made so far."""

    file: Path
    before: str
    after: str
    does: str
    """What it is for, such as "adds crm"."""
    undoes: str = ""
    """The change that it takes back."""

    @property
    def digest(self) -> str:
        """Names the text that was looked at."""
        return text_digest(self.before)

    @property
    def lines(self) -> tuple[str, ...]:
        """The difference of the text, as a pull request shows it."""
        return difference(self.file.name, self.before, self.after)


class ProjectFile:
    def __init__(
        self, file: Path, database: Database, journal: Journal, ids: Callable[[], str],
        reload: Callable[[], None],
    ) -> None:  # fmt: skip
        self.file = file.resolve()
        self.reload = reload
        """Makes the engine's sources those of the file."""
        self._database = database
        self._journal = journal
        self._ids = ids

    def text(self) -> str:
        try:
            return self.file.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as failure:
            raise ConfigError(self.file.name, f"cannot be read ({failure})", "mend the file") from None

    def propose(self, after: str, does: str) -> ConfigurationProposal:
        """The file with another text, which must be one that prowess reads; nothing is written."""
        before = self.text()
        if after == before:
            raise ConfigError(self.file.name, "says that already", "nothing is to be done")
        configuration.parse(after, self.file.name)
        return ConfigurationProposal(file=self.file, before=before, after=after, does=does)

    def propose_undo(self) -> ConfigurationProposal:
        """What taking back the latest change would do; nothing is written."""
        entry, text = self._latest(), self.text()
        if text_digest(text) != entry.digest:
            what = f"was changed otherwise since somebody made the change that {entry.does}"
            raise ConfigError(self.file.name, what, "take that back by hand")
        after = f"{text[: entry.at]}{entry.taken}{text[entry.at + len(entry.put) :]}"
        does = f"takes back what {entry.does}"
        return ConfigurationProposal(
            file=self.file, before=text, after=after, does=does, undoes=entry.id
        )  # fmt: skip

    def change(self, proposal: ConfigurationProposal, by: str) -> None:
        """Write what was proposed, and take the sources from it. Raises Outdated where it changed since."""
        at, taken, put = cut(proposal.before, proposal.after)
        entry = ConfigurationChanged(
            id=self._ids(), does=proposal.does, file=str(self.file), at=at, taken=taken, put=put,
            digest=text_digest(proposal.after), by=by, undoes=proposal.undoes,
        )  # fmt: skip
        with self._database.writing() as transaction:
            self._journal.append(transaction, entry)
            self._write(proposal)
        self.reload()

    def changes(self) -> tuple[tuple[str, ConfigurationChanged], ...]:
        """When each change of this file was made and what it was, the newest first."""
        stored = self._journal.latest(MAX_CHANGES_READ, type=ConfigurationChanged.type)[::-1]
        found = ((one.at, read(one)) for one in stored)
        return tuple(
            (at, entry)
            for at, entry in found
            if isinstance(entry, ConfigurationChanged) and entry.file == str(self.file)
        )

    def _latest(self) -> ConfigurationChanged:
        found = [entry for _, entry in self.changes()]
        undone = {entry.undoes for entry in found}
        for entry in found:
            if not entry.undoes and entry.id not in undone:
                return entry
        raise NotFound("change", "to take back", see="see: prowess log --type configuration.changed")

    def _write(self, proposal: ConfigurationProposal) -> None:
        if self.text() != proposal.before:
            raise Outdated(self.file.name)
        try:
            replace_text(self.file, proposal.after)
        except OSError as failure:
            what = f"cannot be written ({failure.strerror})"
            raise ConfigError(self.file.name, what, "see who may write it and its folder") from None
