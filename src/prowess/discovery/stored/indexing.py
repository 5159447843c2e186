"""How an index in the store is kept in step with the catalogue: a portion at a time, beside all else.

Each portion is a segment of its own, committed when it is made and searched from then on. What is interrupted
goes on where it stopped, in this process or in another one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

import msgspec
import numpy as np

from prowess.discovery.dense import Matrix
from prowess.discovery.embedding import Embedding
from prowess.discovery.lexical import document
from prowess.discovery.stored import relations, tables
from prowess.discovery.stored.codes import codes_of
from prowess.discovery.stored.lessons import authored
from prowess.discovery.stored.postings import PostingList, lists_of
from prowess.discovery.stored.tables import Columns, IndexState, Segment
from prowess.discovery.text import Words, embedding_text
from prowess.discovery.vectors import Half, Progress, VectorStore, key_of
from prowess.errors import EncoderUnavailable
from prowess.jobs import Jobs
from prowess.store.database import Database
from prowess.types import Capability

PORTION = 20_000
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
        self._embedding = embedding
        self._vectors = vectors
        self._columns = columns
        self._jobs = jobs
        self._portion = portion
        self._words = Words()

    def update(self, version: int, progress: Progress) -> int:
        """Index what is not indexed of this version; returns how many were. Another process may be at it."""
        if self._jobs is None:
            return self._update(version, progress, lambda: True)
        with self._jobs.held(WORK) as lease:
            if lease is None:
                return 0
            count = self._update(version, progress, lease.keep)
            lease.result = f"{count} capabilities indexed"
            return count

    def _model(self) -> str:
        """What vectors are made by now; nothing while the embedder fails, and words serve."""
        return self._embedding.name if self._embedding.works() else ""

    def _update(self, version: int, progress: Progress, is_ours: Callable[[], bool]) -> int:
        model = self._model()
        before = self._begin(model)
        count, after, is_whole = 0, "", True
        while is_ours():
            with self._database.reading() as transaction:
                page = tables.changed(transaction, before.version, after, self._portion)
                last = next(reversed(page), "")
                known = tables.indexed(transaction, after, last, with_vector=bool(model))
                missing = [id for id, digest in page.items() if known.get(id) != digest]
                texts = tables.texts(transaction, missing)
            if not page:
                # What has no vector is looked for again from the same version on.
                self._finish(version if is_whole else before.version)
                return count
            after = last
            if texts:
                found = [replace(Decode.decode(text), digest=digest) for digest, text in texts.values()]
                made = self._add(found, partial(_onward, progress, count, len(found)))
                is_whole = is_whole and (made or not before.model)
                count += len(found)
        return count

    def _begin(self, model: str) -> IndexState:
        """Where to go on; anew where the vectors are of another model than the one that works."""
        with self._database.writing() as transaction:
            now = tables.state(transaction)
            if now is None or (model and now.model != model):
                tables.clear(transaction)
                relations.clear(transaction)
                change = now.change + 1 if now else 1
                now = IndexState(change=change, next=now.next if now else 0, model=model)
                tables.write_state(transaction, now)
        return now

    def _finish(self, version: int) -> None:
        with self._database.writing() as transaction:
            now = tables.state(transaction) or IndexState()
            gone = tables.retire_removed(transaction, now.change + 1)
            change = now.change + bool(gone)
            tables.write_state(transaction, replace(now, version=max(version, now.version), change=change))
        self._merge_small()

    def _add(self, capabilities: Sequence[Capability], made: Callable[[int], None]) -> bool:
        """Index these; returns whether all of them have vectors."""
        documents = [document(each, self._words, authored(each)) for each in capabilities]
        vectors = self._encoded(capabilities, made)
        with self._database.writing() as transaction:
            now = tables.state(transaction) or IndexState()
            change, first = now.change + 1, now.next
            tables.retire(transaction, [each.id for each in capabilities], change)
            numbered = dict(enumerate(capabilities, first))
            by_number = {n: vectors[each.id] for n, each in numbered.items() if each.id in vectors}
            tables.add_rows(transaction, numbered, self._columns, by_number)
            relations.write(transaction, numbered)
            length = sum(one.length for one in documents)
            mean = np.frombuffer(now.mean, np.float32) if now.mean else _mean(by_number)
            lists = lists_of(dict(enumerate(documents, first)), length / len(documents))
            segment = _segment(first, list(numbered), by_number, mean, length)
            tables.add_segment(transaction, segment, change, lists)
            after = replace(now, change=change, next=first + len(capabilities), mean=mean.tobytes())
            tables.write_state(transaction, after)
            if len(capabilities) >= self._portion:
                transaction.analyze(
                    "indexed_capability", "indexed_vector", "indexed_relation", "posting_list"
                )
        return len(vectors) == len(capabilities)

    def _encoded(self, capabilities: Sequence[Capability], made: Callable[[int], None]) -> Mapping[str, Half]:
        """Their vectors by id; none where the embedder cannot be used, and words serve."""
        if self._embedding.failure is not None:
            return {}
        texts = {each.id: embedding_text(each) for each in capabilities}
        known = dict(self._vectors.stored([key_of(text) for text in texts.values()]))
        missing = list(dict.fromkeys(text for text in texts.values() if key_of(text) not in known))
        try:
            for batch in self._vectors.made(missing, len(texts), 0, lambda done, _: made(done)):
                known |= {key_of(text): vector for text, vector in batch.items()}
        except EncoderUnavailable:
            return {}
        return {id: known[key_of(text)] for id, text in texts.items()}

    def _merge_small(self) -> None:
        """Several segments that are not full become one, so that a search reads few."""
        with self._database.reading() as transaction:
            small = [n for n, (size, _) in tables.sizes(transaction).items() if size < self._portion]
            if len(small) <= SMALL_SEGMENTS:
                return
            parts = tables.segments(transaction, small)
            lists = tables.lists_in(transaction, small)
        with self._database.writing() as transaction:
            if not set(small) <= tables.sizes(transaction).keys():
                return  # another process was quicker
            now = tables.state(transaction) or IndexState()
            tables.drop_segments(transaction, small)
            merged = _merged(now.next, parts)
            tables.add_segment(transaction, merged, now.change + 1, _joined(lists))
            tables.write_state(transaction, replace(now, change=now.change + 1, next=now.next + 1))


def _onward(progress: Progress, before: int, portion: int, made: int) -> None:
    progress(before + made, before + portion)


def _mean(vectors: Mapping[int, Half]) -> Matrix:
    if not vectors:
        return np.zeros(0, np.float32)
    return np.asarray(np.mean(np.stack(list(vectors.values())), axis=0, dtype=np.float32))


def _segment(
    first: int, numbers: Sequence[int], vectors: Mapping[int, Half], mean: Matrix, length: float
) -> Segment:
    width = len(mean)
    rows = np.zeros((len(numbers), width), np.float32)
    for place, number in enumerate(numbers):
        if number in vectors:
            rows[place] = vectors[number]
    return Segment(first, len(numbers), length, np.array(numbers, np.int32), codes_of(rows, mean))


def _merged(segment: int, parts: Sequence[Segment]) -> Segment:
    return Segment(
        segment=segment,
        size=sum(part.size for part in parts),
        length=sum(part.length for part in parts),
        numbers=np.concatenate([part.numbers for part in parts]),
        codes=np.concatenate([part.codes for part in parts]),
    )


def _joined(lists: Sequence[tuple[str, PostingList]]) -> Sequence[tuple[str, PostingList]]:
    return [
        (term, _one([part for _, part in parts])) for term, parts in groupby(lists, key=lambda pair: pair[0])
    ]


def _one(parts: Sequence[PostingList]) -> PostingList:
    numbers = np.concatenate([part.numbers for part in parts])
    return PostingList(numbers, np.concatenate([part.impacts for part in parts]))
