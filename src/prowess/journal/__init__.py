"""What happened, in order, tamper-evident; and everything that can have happened, as types."""

from prowess.journal.entry import Entry, Raw, plain
from prowess.journal.journal import (
    END,
    Clock,
    Journal,
    JournalPosition,
    archived_heads,
    canonical,
    count_of,
    entry_hash,
    spoken,
    stamp,
    verified,
)
from prowess.journal.reading import read, typed
from prowess.journal.search import JournalSearch

__all__ = [
    "END",
    "Clock",
    "Entry",
    "Journal",
    "JournalPosition",
    "JournalSearch",
    "Raw",
    "archived_heads",
    "canonical",
    "count_of",
    "entry_hash",
    "plain",
    "read",
    "spoken",
    "stamp",
    "typed",
    "verified",
]
