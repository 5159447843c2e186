"""A store in one file, and back: the same file for both databases.

The file is lines of JSON, compressed: one that says what it is, then each table with its rows, and at the end
of each how many there were and their digest. It is written from one consistent view of the store while others
go on writing, and read back before it counts as done. A restore is one transaction: everything is there, with
chains that verify, or the store is as it was.
"""

import base64
import gzip
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from prowess.errors import BackupError
from prowess.journal import verified
from prowess.store.database import Database, Transaction, migrations, tables, tables_at
from prowess.store.modes import FILE

FORMAT = 1
AT_ONCE = 500
MARKS = ("journal", "capability", "agent", "approved_content")
"""Tables of which one row means that a store holds something."""


@dataclass(frozen=True, slots=True)
class BackupContents:
    """What a backup holds: the schema it is of, and how many rows each table has."""

    schema: int
    rows: dict[str, int]


def back_up(database: Database, file: Path) -> BackupContents:
    """Write the whole store into a file that only its user may read; an old one is replaced at the end."""
    beside = file.with_name(f"{file.name}.{os.getpid()}.new")
    try:
        handle = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE)
        with os.fdopen(handle, "wb") as plain:
            with (
                gzip.GzipFile(fileobj=plain, mode="wb", mtime=0) as packed,
                database.reading(everywhere=True) as transaction,
            ):
                _write(transaction, packed)
            plain.flush()
            os.fsync(plain.fileno())
        contents = check(beside)
        os.replace(beside, file)
    except OSError as failure:
        what = f"cannot be written ({failure.strerror or failure})"
        raise BackupError(str(file), what, "choose a place with room that you may write to") from failure
    finally:
        beside.unlink(missing_ok=True)
    return contents


def check(file: Path) -> BackupContents:
    """Read a backup from beginning to end; raises where it is not whole."""
    schema, counts = 0, dict[str, int]()
    for said in _read(file):
        if isinstance(said, dict) and "schema" in said:
            schema = int(said["schema"])
        elif isinstance(said, dict) and "rows" in said:
            counts[said["table"]] = said["rows"]
    return BackupContents(schema, counts)


def restore(database: Database, file: Path, replace: bool = False) -> BackupContents:
    """Make the store what the backup says; one that holds something only where that is meant."""
    contents = check(file)
    newest = migrations()[-1].number
    if contents.schema > newest:
        what = f"is of a newer prowess (schema {contents.schema}, this one knows {newest})"
        raise BackupError(str(file), what, "upgrade prowess, then restore")
    with database.writing(everywhere=True) as transaction:
        if not replace and holds_something(transaction):
            what = f"would replace what {database.place} holds"
            raise BackupError(str(file), what, "name another store, or say --replace; back that one up first")
        database.rebuild(transaction, contents.schema)
        for table in tables_at(contents.schema):
            transaction.run(f"DELETE FROM {table}")
        _load(transaction, file)
        database.advance(transaction, contents.schema, newest)
        _verify(transaction)
    return contents


def _verify(transaction: Transaction) -> None:
    """Walk the chains of every workspace."""
    everywhere = "SELECT workspace FROM journal UNION SELECT workspace FROM journal_head"
    for (workspace,) in transaction.all(everywhere):
        verified(transaction.within(workspace))


def holds_something(transaction: Transaction) -> bool:
    return any(transaction.one(f"SELECT 1 FROM {table} LIMIT 1") for table in MARKS)


def _write(transaction: Transaction, packed: BinaryIO | gzip.GzipFile) -> None:
    packed.write(_line({"prowess_backup": FORMAT, "schema": migrations()[-1].number}))
    for table in tables():
        columns = transaction.columns(table)
        packed.write(_line({"table": table, "columns": columns}))
        count, digest = 0, hashlib.sha256()
        for row in transaction.each(f"SELECT {', '.join(columns)} FROM {table}"):
            line = _line([_plain(value) for value in row])
            digest.update(line)
            packed.write(line)
            count += 1
        packed.write(_line({"table": table, "rows": count, "digest": digest.hexdigest()}))
    packed.write(_line({"end": True}))


def _load(transaction: Transaction, file: Path) -> None:
    """Write the rows as they were, each into the workspace it is of."""
    sql, names, waiting = "", list[str](), list[dict[str, object]]()
    for said in _read(file):
        if isinstance(said, list):
            waiting.append(dict(zip(names, map(_value, said), strict=True)))
        if len(waiting) >= AT_ONCE or isinstance(said, dict):
            transaction.many(sql, waiting)
            waiting = []
        if isinstance(said, dict) and "columns" in said:
            columns = said["columns"]
            names = [f"kept_{column}" for column in columns]  # `:workspace` is the one that is open
            sql = f"INSERT INTO {said['table']} ({', '.join(columns)}) VALUES (:{', :'.join(names)})"


def _read(file: Path) -> Iterator[Any]:
    """What a backup says, line by line, each part checked when it ends."""
    count, digest, ended = 0, hashlib.sha256(), False
    try:
        with gzip.open(file, "rb") as packed:
            first = json.loads(packed.readline(1000))
            _check_first(first, file)
            known = set(tables_at(first["schema"]))
            packed.seek(0)
            for line in packed:
                said = json.loads(line)
                if isinstance(said, list):
                    digest.update(line)
                    count += 1
                elif "columns" in said:
                    count, digest = 0, hashlib.sha256()
                    _check(said["table"] in known and all(map(str.isidentifier, said["columns"])), file)
                elif "rows" in said:
                    _check(said["rows"] == count and said["digest"] == digest.hexdigest(), file)
                ended = isinstance(said, dict) and bool(said.get("end"))
                yield said
    except (OSError, EOFError, ValueError, KeyError, TypeError) as failure:
        raise BackupError(
            str(file), f"cannot be read ({failure})", "check the path, or use another"
        ) from failure
    _check(ended, file)


def _check_first(said: object, file: Path) -> None:
    _check(isinstance(said, dict) and said.get("prowess_backup") == FORMAT, file)


def _check(fits: bool, file: Path) -> None:
    if not fits:
        raise BackupError(str(file), "is no whole backup", "use another one; nothing was changed")


def _line(said: object) -> bytes:
    return json.dumps(said, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def _plain(value: object) -> object:
    if isinstance(value, bytes | bytearray | memoryview):
        return {"bytes": base64.b64encode(bytes(value)).decode()}
    return value


def _value(said: Any) -> object:
    return base64.b64decode(said["bytes"]) if isinstance(said, dict) else said
