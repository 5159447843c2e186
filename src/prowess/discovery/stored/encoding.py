"""How the rows of an index get vectors of a model: beside all that serves, by several processes side by side.

Each process makes vectors of texts, which all of them share; one of them, by a lease, writes them into the
index, a portion at a time, and says how far it has come. What another model made stays until nobody has used
it for a while, so that going back to that model costs nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta

import msgspec
import numpy as np

from prowess.discovery.dense import Matrix
from prowess.discovery.embedding import Embedding
from prowess.discovery.stored import encodings, tables
from prowess.discovery.stored.codes import codes_of
from prowess.discovery.stored.encodings import CodeBatch, Encoding
from prowess.discovery.text import embedding_text
from prowess.discovery.vectors import Half, Progress, VectorStore, key_of
from prowess.errors import EncoderUnavailable
from prowess.jobs import Jobs, Lease
from prowess.journal import stamp
from prowess.store.database import Database, paced
from prowess.types import Capability

WORK = "index vectors"
KEPT = timedelta(days=1)
"""How long an encoding stays that no process uses any more, once another one is whole."""
OFTEN = timedelta(hours=1)
"""How often a process says that it uses one."""
DROPPED = 2000
Decode = msgspec.json.Decoder(Capability)
Between = Callable[[], object]


class StoredEncoding:
    def __init__(
        self, database: Database, embedding: Embedding, vectors: VectorStore, jobs: Jobs | None, portion: int
    ) -> None:
        """jobs: by which several processes share the work; portion: rows that are written together."""
        self._database = database
        self._embedding = embedding
        self._vectors = vectors
        self._jobs = jobs
        self._portion = portion

    def lags(self, known: Sequence[Encoding], next: int) -> bool:
        """Whether there is something to do for the model in use, given how far the index goes."""
        model = self._embedding.name
        own = made_by(known, model)
        if not model or own is None:
            return bool(model and next)
        return own.upto < next - 1 or self._is_time_to_say(own)

    def update(self, progress: Progress, between: Between) -> int:
        """Give every row a vector of the model in use; returns how many got one.

        between: called again and again meanwhile, for what must not wait until all is done.
        """
        if not self._embedding.works():
            return 0
        with self._database.reading() as transaction:
            now = tables.state(transaction)
            lags = now is not None and self.lags(encodings.every(transaction), now.next)
        if not lags:
            return 0
        if self._jobs is None:
            return self._write_all(progress, between, None)
        with self._jobs.held(f"{WORK} {self._embedding.name}") as lease:
            if lease is None:
                self._help(progress, between)
                return 0
            count = self._write_all(progress, between, lease)
            lease.result = f"{count} encoded"
        self._clean()
        return count

    def _write_all(self, progress: Progress, between: Between, lease: Lease | None) -> int:
        """Portion by portion, from where somebody stopped."""
        with self._database.writing() as transaction:
            own = encodings.begin(transaction, self._embedding.name, self._now())
            encodings.use(transaction, own.encoding, self._now())
            total = encodings.count_lacking(transaction, own.upto)
        count = 0
        while lease is None or lease.keep():
            with self._database.reading() as transaction:
                state = tables.state(transaction) or tables.IndexState()
                own = encodings.of_model(transaction, own.model) or own
                rows = encodings.lacking(transaction, own.upto, self._portion)
            if not rows:
                with self._database.writing() as transaction:
                    encodings.advance(transaction, own.encoding, state.next - 1, own.mean)
                break
            onward = _onward(progress, between, count, max(total, count + len(rows)))
            vectors = self._vectors_of(rows, onward)
            if vectors is None:
                break
            self._write(own, rows, vectors)
            count += len(rows)
            if lease:
                lease.say(f"{count} of {max(total, count)} encoded")
            between()
        return count

    def _help(self, progress: Progress, between: Between) -> None:
        """Make vectors for who writes them, until there is a portion that has all of its own."""
        with self._database.reading() as transaction:
            own = encodings.of_model(transaction, self._embedding.name) or Encoding()
            total = encodings.count_lacking(transaction, own.upto)
        after, count = own.upto, 0
        while True:
            with self._database.reading() as transaction:
                rows = encodings.lacking(transaction, after, self._portion)
            keys = {key_of(text) for text in self._texts(rows).values()}
            if self._vectors.stored(list(keys)).keys() >= keys:
                return
            if self._vectors_of(rows, _onward(progress, between, count, total)) is None:
                return
            after, count = max(rows), count + len(rows)
            between()

    def _texts(self, rows: Mapping[int, str]) -> dict[str, str]:
        """By id, what is encoded of these rows."""
        with self._database.reading() as transaction:
            found = tables.texts(transaction, list(rows.values()))
        return {id: embedding_text(Decode.decode(text)) for id, (_, text) in found.items()}

    def _vectors_of(self, rows: Mapping[int, str], made: Callable[[int], None]) -> dict[int, Half] | None:
        """By number, also of texts that were encoded before; nothing where the embedder fails."""
        said = self._texts(rows)
        known = dict(self._vectors.stored([key_of(text) for text in said.values()]))
        missing = list(dict.fromkeys(text for text in said.values() if key_of(text) not in known))
        try:
            for batch in self._vectors.made(missing, len(said), 0, lambda done, _: made(done)):
                known |= {key_of(text): vector for text, vector in batch.items()}
        except EncoderUnavailable:
            return None
        return {number: known[key_of(said[id])] for number, id in rows.items() if id in said}

    def _write(self, own: Encoding, rows: Mapping[int, str], vectors: Mapping[int, Half]) -> None:
        matrix = _matrix(vectors)
        mean = own.centre if own.mean else _mean(matrix)
        numbers = np.array(list(vectors), np.int32)
        with self._database.writing() as transaction:
            change = tables.advance(transaction).change
            if vectors:
                batch = CodeBatch(change, numbers, codes_of(matrix, mean))
                encodings.add(transaction, own.encoding, batch, vectors)
            encodings.advance(transaction, own.encoding, max(rows), mean.tobytes())
            if small := encodings.small_batches(transaction, own.encoding, self._portion):
                encodings.merge(transaction, own.encoding, small, tables.advance(transaction).change)
            if len(rows) >= self._portion:
                transaction.analyze("indexed_vector")

    def _clean(self) -> None:
        """Forget what no process has used for long, where the model in use has all it needs."""
        assert self._jobs is not None
        before = stamp(self._jobs.clock() - KEPT)
        with self._database.reading() as transaction:
            every, now = encodings.every(transaction), tables.state(transaction)
        own = made_by(every, self._embedding.name)
        if own is None or now is None or own.upto < now.next - 1:
            return
        for each in every:
            if each.encoding != own.encoding and each.used_at < before:
                for _ in paced(self._dropped(each.encoding)):
                    pass

    def _dropped(self, encoding: int) -> Iterator[None]:
        """A portion at a time, each in a transaction of its own."""
        is_left = True
        while is_left:
            with self._database.writing() as transaction:
                is_left = encodings.drop_some(transaction, encoding, DROPPED)
            yield

    def _is_time_to_say(self, own: Encoding) -> bool:
        """Whether others may soon take it for unused."""
        return self._jobs is not None and own.used_at < stamp(self._jobs.clock() - OFTEN)

    def _now(self) -> str:
        return stamp(self._jobs.clock()) if self._jobs else ""


def made_by(known: Sequence[Encoding], model: str) -> Encoding | None:
    return next((each for each in known if each.model == model), None)


def _matrix(vectors: Mapping[int, Half]) -> Matrix:
    if not vectors:
        return np.zeros((0, 0), np.float32)
    return np.stack(list(vectors.values())).astype(np.float32)


def _mean(vectors: Matrix) -> Matrix:
    return np.asarray(np.mean(vectors, axis=0) if len(vectors) else (), np.float32)


def _onward(progress: Progress, between: Between, before: int, total: int) -> Callable[[int], None]:
    def onward(made: int) -> None:
        progress(before + made, total)
        between()

    return onward
