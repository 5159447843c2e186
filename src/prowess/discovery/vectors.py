"""Vectors of texts, made once and kept: by this process, or by another one that makes some beside it.

Above: the index. Below: the embedder, the table of vectors, and the leases by which processes share the work:
what is to be made is parted by the digests of the texts, so that all see the same batches.
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from prowess.discovery.embedding import Embedding
from prowess.jobs import Jobs
from prowess.store.database import Database, Row, Transaction

BATCH = 128
MAX_TEXTS_ASKED_FOR = 20_000
"""Up to here stored vectors are asked for by their texts; beyond, all are read at once."""
PAUSE = 0.1
"""Seconds between two looks at what others are making."""

Progress = Callable[[int, int], None]
Half = npt.NDArray[np.float16]


class VectorStore:
    def __init__(self, database: Database, embedding: Embedding, jobs: Jobs | None) -> None:
        """jobs: by which several processes make each vector once; without it, this one makes all of them."""
        self._database = database
        self._embedding = embedding
        self._jobs = jobs
        self._at_hand: dict[str, Half] = {}

    def stored(self, keys: Sequence[str]) -> Mapping[str, Half]:
        if all(key in self._at_hand for key in keys):
            return self._at_hand
        rows = self._database.from_replica(lambda transaction: self._rows(transaction, keys))
        return {text: np.frombuffer(vector, np.float16) for text, vector in rows}

    def _rows(self, transaction: Transaction, keys: Sequence[str]) -> list[Row]:
        model = self._embedding.name
        if len(keys) > MAX_TEXTS_ASKED_FOR:
            return transaction.all(
                "SELECT text, vector FROM text_vector WHERE workspace = :workspace AND model = :model",
                model=model,
            )
        return transaction.among(
            "SELECT text, vector FROM text_vector"
            " WHERE workspace = :workspace AND model = :model AND text IN (:listed)",
            keys, model=model,
        )  # fmt: skip

    def hold(self, keys: Sequence[str], known: Mapping[str, Half]) -> None:
        """Keep these in memory, for who asks for the same again and again."""
        self._at_hand = {**self.stored(keys), **known}

    def made(
        self, texts: Sequence[str], of: int, width: int, progress: Progress
    ) -> Iterator[dict[str, Half]]:
        """The vectors of texts, a batch at a time, each durable when it is made.

        of: how many there are, made or not, by which all processes part them alike.
        """
        if self._jobs is None:
            waiting = {str(at): list(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)}
        else:
            waiting = _parted(texts, of)
        count = 0
        while waiting:
            left: dict[str, list[str]] = {}
            for name, batch in waiting.items():
                progress(count, len(texts))
                made = self._batch(name, batch, width)
                if made is None:
                    left[name] = batch
                else:
                    count += len(made)
                    yield made
            if len(left) == len(waiting):  # others are making all of them; what they leave is ours later
                time.sleep(PAUSE)
            waiting = left

    def keep(self, vectors: Mapping[str, Half]) -> None:
        model = self._embedding.name
        with self._database.writing() as transaction:
            transaction.many(
                "INSERT INTO text_vector (workspace, model, text, vector)"
                " VALUES (:workspace, :model, :text, :vector)"
                " ON CONFLICT DO NOTHING",
                (
                    {"model": model, "text": key_of(text), "vector": v.tobytes()}
                    for text, v in vectors.items()
                ),
            )

    def _batch(self, name: str, texts: Sequence[str], width: int) -> dict[str, Half] | None:
        """One batch; nothing while another process is making it."""
        if self._jobs is None:
            return self._encoded(texts, width)
        lease = self._jobs.claim(f"vectors {self._embedding.name} {name}".rstrip())
        if lease is None:
            return None
        try:
            known = self.stored([key_of(text) for text in texts])  # by another one, since we looked
            by_others = {text: known[key_of(text)] for text in texts if key_of(text) in known}
            missing = [text for text in texts if text not in by_others]
            return {**by_others, **(self._encoded(missing, width) if missing else {})}
        finally:
            lease.forget()

    def _encoded(self, texts: Sequence[str], width: int) -> dict[str, Half]:
        made = dict(zip(texts, self._embedding(list(texts), width).astype(np.float16), strict=True))
        self.keep(made)
        return made


def key_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _parted(texts: Sequence[str], of: int) -> dict[str, list[str]]:
    """Batches by how the digests begin."""
    digits = 0
    while of > BATCH * 16**digits:
        digits += 1
    parted: dict[str, list[str]] = {}
    for text in texts:
        parted.setdefault(key_of(text)[:digits], []).append(text)
    return parted
