"""How an index in the store is kept in step with the catalogue: a portion at a time, beside all else.

Each portion is a segment of its own, committed when it is made and searched from then on. What is interrupted
goes on where it stopped, in this process or in another one.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

import msgspec
import numpy as np

from prowess.discovery.embedding import Embedding
from prowess.discovery.lexical import document
from prowess.discovery.stored import relations, tables
from prowess.discovery.stored.codes import Numbers
from prowess.discovery.stored.encoding import StoredEncoding
from prowess.discovery.stored.held import FULL
from prowess.discovery.stored.lessons import authored
from prowess.discovery.stored.postings import Weights, lists_of
from prowess.discovery.stored.tables import Columns, IndexState, Segment
from prowess.discovery.text import Words
from prowess.discovery.vectors import Progress, VectorStore
from prowess.jobs import Jobs
from prowess.store.database import Database
from prowess.types import Capability

PORTION = FULL
"""Rows of a segment, at most: what one transaction writes."""
SMALL_SEGMENTS = 12
"""So many segments that are not full are searched side by side; more are made into one."""
WORK = "index"
Decode = msgspec.json.Decoder(Capability)


class StoredIndexing:
    def __init__(
        self, database: Database, embedding: Embedding, vectors: VectorStore, columns: Columns,
        jobs: Jobs | None, portion: int = PORTION,
    ) -> None:  # fmt: skip
        """columns: what policy looks at in a capability; jobs: by which one of several processes does it."""
        self._database = database
        self._columns = columns
        self._jobs = jobs
        self._portion = portion
        self._words = Words()
        self.encoding = StoredEncoding(database, embedding, vectors, jobs, portion)

    def update(self, version: int, progress: Progress) -> int:
        """Index what is not indexed of this version; returns how many were. Another process may be at it.

        It is found by its words at once, and by its meaning as soon as it has a vector.
        """
        count = self._rows_beside(version)
        self.encoding.update(progress, self._follow)
        return count

    def _follow(self) -> None:
        """What changes while vectors are being made does not wait for them."""
        with self._database.reading() as transaction:
            newest = tables.newest(transaction)
            now = tables.state(transaction) or IndexState()
        if newest > now.version:
            self._rows_beside(newest)

    def _rows_beside(self, version: int) -> int:
        """The rows and their words, by one process of several."""
        if self._jobs is None:
            return self._rows(version, lambda: True)
        with self._database.reading() as transaction:
            now = tables.state(transaction)
        if now is not None and now.version >= version:
            return 0
        with self._jobs.held(WORK) as lease:
            if lease is None:
                return 0
            count = self._rows(version, lease.keep)
            lease.result = f"{count} capabilities indexed"
            return count

    def _rows(self, version: int, is_ours: Callable[[], bool]) -> int:
        with self._database.writing() as transaction:
            tables.begin(transaction)
            since = (tables.state(transaction) or IndexState()).version
        count, after = 0, ""
        while is_ours():
            with self._database.reading() as transaction:
                page = tables.changed(transaction, since, after, self._portion)
                last = next(reversed(page), "")
                known = tables.indexed(transaction, page)
                texts = tables.texts(transaction, [i for i, digest in page.items() if known.get(i) != digest])
            if not page:
                self._finish(version)
                return count
            after = last
            if texts:
                self._add([replace(Decode.decode(text), digest=digest) for digest, text in texts.values()])
                count += len(texts)
        return count

    def _finish(self, version: int) -> None:
        with self._database.writing() as transaction:
            change = (tables.state(transaction) or IndexState()).change
            if tables.retire_removed(transaction, change + 1):
                tables.advance(transaction)
            tables.reach(transaction, version)
        self._merge_small()

    def _add(self, capabilities: Sequence[Capability]) -> None:
        documents = [document(each, self._words, authored(each)) for each in capabilities]
        with self._database.writing() as transaction:
            now = tables.advance(transaction, len(capabilities))
            first = now.next - len(capabilities)
            tables.retire(transaction, [each.id for each in capabilities], now.change)
            numbered = dict(enumerate(capabilities, first))
            tables.add_rows(transaction, numbered, self._columns)
            relations.write(transaction, numbered)
            by_number = dict(enumerate(documents, first))
            lengths = np.array([one.length for one in documents], np.float32)
            segment = Segment(first, np.array(list(numbered), np.int32), lengths)
            tables.add_segment(transaction, segment, now.change, lists_of(by_number))
            if len(capabilities) >= self._portion:
                transaction.analyze("indexed_capability", "indexed_relation", "posting_list")

    def _merge_small(self) -> None:
        """Several segments that are not full become one, so that a search reads few."""
        with self._database.reading() as transaction:
            small = [n for n, size in tables.sizes(transaction).items() if size < self._portion]
            if len(small) <= SMALL_SEGMENTS:
                return
            parts = tables.segments(transaction, small)
            lists = tables.lists_in(transaction, small)
        with self._database.writing() as transaction:
            if not set(small) <= tables.sizes(transaction).keys():
                return  # another process was quicker
            now = tables.advance(transaction, 1)
            tables.drop_segments(transaction, small)
            tables.add_segment(transaction, _merged(now.next - 1, parts), now.change, _joined(lists))


def _merged(segment: int, parts: Sequence[Segment]) -> Segment:
    return Segment(
        segment=segment,
        numbers=np.concatenate([part.numbers for part in parts]),
        lengths=np.concatenate([part.lengths for part in parts]),
    )


def _joined(lists: Sequence[tuple[str, Numbers, Weights]]) -> Iterable[tuple[str, Numbers, Weights]]:
    for term, group in groupby(lists, key=itemgetter(0)):
        parts = list(group)
        numbers = np.concatenate([part for _, part, _ in parts])
        yield term, numbers, np.concatenate([part for _, _, part in parts])
