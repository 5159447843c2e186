"""Old entries of the journal in files, with the chains they are of; the store keeps where each chain goes on.

Above: a command. Below: the journal. A file is lines of JSON, compressed: one that says what it is, the
entries of each chain in order, and at the end how many there were. It is on the disk, and was read back,
before the store says that its chains begin later; only then entries are deleted, a portion at a time.
Interrupted, the next one goes on; what was written twice is the same twice.
"""

import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prowess.errors import BackupError, JournalBroken
from prowess.journal.journal import (
    archived_heads,
    drop_archived,
    entries_until,
    entry_hash,
    heads_of,
    stored_rows,
)
from prowess.store.database import Database, paced
from prowess.store.modes import FILE
from prowess.types import Head, JournalEntry

FORMAT = 1
DROPPED_AT_ONCE = 5000


@dataclass(frozen=True, slots=True)
class Archived:
    """What was moved into a file."""

    file: str
    entries: int
    chains: int


def archive(
    database: Database, folder: Path, before: str, limits: Mapping[str, int] | None = None,
    keep: Callable[[], object] = bool,
) -> Archived:  # fmt: skip
    """Move what is older than a time into a file of this folder.

    before: as the journal writes times.
    limits: chain -> the last entry that nobody needs any more; without it, none is needed.
    keep: called now and then while it goes on.
    """
    with database.reading() as transaction:
        begun = {head.chain: head for head in archived_heads(transaction)}
        heads = heads_of(transaction)
        until = {head.chain: entries_until(transaction, head, before) for head in heads}
    if limits is not None:
        until = {chain: min(number, limits.get(chain, 0)) for chain, number in until.items()}
    spans = {chain: (begun[chain].count if chain in begun else 0, last) for chain, last in until.items()}
    spans = {chain: (first, last) for chain, (first, last) in spans.items() if last > first}
    file, ends = folder / f"journal-{database.workspace}-{before[:10]}.jsonl.gz", begun
    if spans:
        file, found = _write(database, folder, before, spans, keep)
        ends = {**begun, **found}
        with database.writing() as transaction:
            transaction.many(
                "INSERT INTO journal_archive (workspace, chain, count, hash)"
                " VALUES (:workspace, :chain, :count, :hash)"
                " ON CONFLICT (workspace, chain) DO UPDATE SET count = excluded.count, hash = excluded.hash",
                ({"chain": head.chain, "count": head.count, "hash": head.hash} for head in found.values()),
            )
    for _ in paced(_dropped(database, ends.values())):
        keep()
    return Archived(
        str(file) if spans else "", sum(last - first for first, last in spans.values()), len(spans)
    )


def verify_archives(database: Database, folder: Path, exported: Iterable[Head] = ()) -> int:
    """Walk every chain through the archives to where the store goes on; how many entries that are."""
    with database.reading() as transaction:
        ends = {head.chain: head for head in archived_heads(transaction)}
    walk = _Walk({chain: {head.count: head.hash} for chain, head in ends.items()})
    for head in exported:
        walk.expected.setdefault(head.chain, {}).setdefault(head.count, head.hash)
    for file in sorted(folder.glob(f"journal-{database.workspace}-*.jsonl.gz")):
        for row in _entries(file):
            walk.take(row)
    for chain, head in ends.items():
        if walk.reached.get(chain, (0, ""))[0] < head.count:
            number = walk.reached.get(chain, (0, ""))[0] + 1
            raise JournalBroken(chain, number, f"it is in no archive in {folder}")
    return sum(number for number, _ in walk.reached.values())


@dataclass(slots=True)
class _Walk:
    """How far each chain was followed, and which hashes are known for certain."""

    expected: dict[str, dict[int, str]]
    reached: dict[str, tuple[int, str]] = field(default_factory=dict)

    def take(self, row: Sequence[Any]) -> None:
        chain, number, at, type, data, hash = row[:6]
        last, previous = self.reached.get(chain, (0, ""))
        if number <= last:
            return  # it was written twice, before and after an interruption
        if number != last + 1:
            raise JournalBroken(chain, last + 1, "it is missing")
        entry = JournalEntry(chain=chain, number=number, at=at, type=type, data={}, hash=hash)
        if entry_hash(previous, entry, data) != hash:
            raise JournalBroken(chain, number, "it was edited after it was written")
        if self.expected.get(chain, {}).get(number, hash) != hash:
            raise JournalBroken(chain, number, "it is not the entry that the store goes on from")
        self.reached[chain] = (number, hash)


def _write(
    database: Database, folder: Path, before: str, spans: Mapping[str, tuple[int, int]],
    keep: Callable[[], object],
) -> tuple[Path, dict[str, Head]]:  # fmt: skip
    """The file, which is whole, and the last entry of each chain in it."""
    number = len(list(folder.glob(f"journal-{database.workspace}-*.jsonl.gz"))) + 1
    file = folder / f"journal-{database.workspace}-{number:06}-until-{before[:10]}.jsonl.gz"
    beside = file.with_name(f"{file.name}.{os.getpid()}.new")
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE)
        with os.fdopen(handle, "wb") as plain:
            with gzip.GzipFile(fileobj=plain, mode="wb", mtime=0) as packed:
                count = 0
                packed.write(_line({"prowess_archive": FORMAT, "workspace": database.workspace}))
                for chain, (first, last) in spans.items():
                    with database.reading() as transaction:
                        for row in stored_rows(transaction, chain, first, last):
                            packed.write(_line(list(row)))
                            count += 1
                    keep()
                packed.write(_line({"entries": count}))
            plain.flush()
            os.fsync(plain.fileno())
        ends = {row[0]: Head(row[0], row[1], row[5]) for row in _entries(beside)}
        _check(
            {chain: last for chain, (_, last) in spans.items()} == {c: h.count for c, h in ends.items()}, file
        )
        os.rename(beside, file)
    except OSError as failure:
        what = f"cannot be written ({failure.strerror or failure})"
        raise BackupError(str(file), what, "choose a place with room that you may write to") from failure
    finally:
        beside.unlink(missing_ok=True)
    return file, ends


def _dropped(database: Database, ends: Iterable[Head]) -> Iterator[int]:
    for head in ends:
        count = DROPPED_AT_ONCE
        while count == DROPPED_AT_ONCE:
            with database.writing() as transaction:
                count = drop_archived(transaction, head, DROPPED_AT_ONCE)
            yield count


def _entries(file: Path) -> Iterator[list[Any]]:
    """The entries of an archive, which must be whole."""
    try:
        with gzip.open(file, "rb") as packed:
            first = json.loads(packed.readline())
            _check(isinstance(first, dict) and first.get("prowess_archive") == FORMAT, file)
            count, is_whole = 0, False
            for line in packed:
                said = json.loads(line)
                if isinstance(said, list):
                    count += 1
                    yield said
                else:
                    is_whole = said.get("entries") == count
    except (OSError, EOFError, ValueError) as failure:
        what = f"cannot be read ({failure})"
        raise BackupError(str(file), what, "put it back from where you keep copies of archives") from failure
    _check(is_whole, file)


def _check(fits: bool, file: Path) -> None:
    if not fits:
        raise BackupError(
            str(file), "is no whole archive", "put it back from where you keep copies of archives"
        )


def _line(said: object) -> bytes:
    return json.dumps(said, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
