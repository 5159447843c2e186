"""The searchable form of the catalogue, kept in step with it and kept in the store.

Above: the engine, which says what exists and who may see it. Below: the corpus and the ranker, and
the two tables this module owns. Words are indexed at once; vectors follow in batches, each durable
when it is made, so that an interrupted encoding goes on where it stopped.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from threading import RLock
from time import monotonic

import numpy as np
import numpy.typing as npt

from prowess.discovery import written
from prowess.discovery.corpus import Corpus, Mask
from prowess.discovery.dense import Matrix
from prowess.discovery.embedding import Embedding
from prowess.discovery.examples import taught
from prowess.discovery.fusion import Calibration
from prowess.discovery.graph import Graph
from prowess.discovery.lint import Finding, lint
from prowess.discovery.ranking import Embed, Options, Ranker
from prowess.discovery.text import embedding_text
from prowess.errors import EncoderUnavailable
from prowess.store.database import Database
from prowess.types import Capability, Hit

BATCH = 128
REMEMBERED_QUERIES = 512
REMEMBERED_MASKS = 64
# Below this, reading the changed ones again at the next opening is cheaper than writing everything.
WORTH_WRITING = 256
FEW = 200
"""Up to here stored vectors are asked for one by one; beyond, all are read at once."""

Examples = Mapping[str, Sequence[str]]
Progress = Callable[[int, int], None]
Half = npt.NDArray[np.float16]


class Index:
    def __init__(
        self, database: Database, open_embedder: Callable[[], tuple[str, Embed]], collection: str,
        presets: Mapping[str, Sequence[str]], elapsed: Callable[[], float] = monotonic,
    ) -> None:  # fmt: skip
        self._database = database
        self.embedding = Embedding(open_embedder, elapsed)
        self._collection = collection
        self._presets = presets
        self._calibration = Calibration.read()
        self._lock = RLock()
        self._corpus: Corpus | None = None
        self._held: dict[str, Capability] = {}
        self._followed: Mapping[str, Capability] | None = None
        self._examples: Examples = {}
        self._unencoded_examples: set[str] = set()
        self._asked: OrderedDict[str, Matrix] = OrderedDict()
        self._remembered = REMEMBERED_QUERIES
        self._at_hand: dict[str, Half] = {}
        self._masks: list[tuple[Collection[str], Mask]] = []
        self._unwritten = 0

    @property
    def unavailable(self) -> EncoderUnavailable | None:
        """Why words alone serve, if they do."""
        return self.embedding.tried()

    # --- keeping step ------------------------------------------------------------------------

    def follow(self, capabilities: Mapping[str, Capability], examples: Examples | None = None) -> bool:
        """Hold exactly these capabilities, changing no more than what changed.

        True if anything did, or if it is time to see whether an embedder that failed works again: then
        vectors may be missing.
        """
        with self._lock:
            shown = examples or {}
            if capabilities is self._followed and shown == self._examples:
                return self.embedding.is_due()
            opened = self._corpus is None
            if self._corpus is None:
                self._corpus = self._opened(capabilities, shown)
            changed = [c for id, c in capabilities.items() if not _same(self._held.get(id), c)]
            reads_otherwise = [
                capabilities[id]
                for id in sorted(shown.keys() | self._examples.keys())
                if id in capabilities and shown.get(id) != self._examples.get(id)
            ]
            changed += reads_otherwise
            gone = [id for id in self._held if id not in capabilities]
            self._corpus.drop(gone)
            self._corpus.put(changed, shown)
            self._masks = []
            self._held, self._examples, self._followed = dict(capabilities), dict(shown), capabilities
            self._unwritten += len(changed) + len(gone)
            self._give_known_vectors(changed, {each.id for each in reads_otherwise})
            if opened or reads_otherwise or any(each.id in self._examples for each in changed):
                self._teach()
            return True

    @property
    def graph(self) -> Graph:
        return self._current.graph

    def lint(self) -> tuple[Finding, ...]:
        with self._lock:
            return lint(self._held, self._current)

    @property
    def encoded(self) -> tuple[int, int]:
        """How many capabilities have a vector, and how many there are."""
        corpus = self._current
        return len(corpus) - len(corpus.without_vectors()), len(corpus)

    @property
    def _current(self) -> Corpus:
        assert self._corpus is not None, "follow() comes first"
        return self._corpus

    # --- searching ---------------------------------------------------------------------------

    def search(self, request: str, allowed: Collection[str], options: Options) -> tuple[Hit, ...]:
        """What fits a request among the allowed, which must not change while it is passed again."""
        with self._lock:
            mask = self._mask(allowed)
            if self.embedding.failure is None:
                with suppress(EncoderUnavailable):
                    ranker = Ranker(self._current, self._calibration, self._embed_request)
                    return ranker.search(request, mask, options)
                self.embedding.hurry()
            return Ranker(self._current, self._calibration).search(request, mask, options)

    def _mask(self, allowed: Collection[str]) -> Mask:
        for known, mask in self._masks:
            if known is allowed:
                return mask
        mask = self._current.mask(allowed)
        self._masks = [*self._masks[-REMEMBERED_MASKS:], (allowed, mask)]
        return mask

    def _embed_request(self, texts: Sequence[str]) -> Matrix:
        """Encode what was not asked lately; a conversation repeats itself."""
        for text in texts:
            if text in self._asked:
                self._asked.move_to_end(text)
            else:
                self._asked[text] = self.embedding([text], self._current.dense.width)[0]
        vectors = np.array([self._asked[text] for text in texts])
        while len(self._asked) > self._remembered:
            self._asked.popitem(last=False)
        return vectors

    def recall(self, texts: Sequence[str], progress: Progress) -> dict[str, Matrix]:
        """The vectors of requests, made once and kept: for whoever asks the same again and again."""
        if not self.embedding.works():
            return {}
        keys = {text: _key(text) for text in texts}
        known = dict(self._stored(list(keys.values())))
        missing = [text for text, key in keys.items() if key not in known]
        try:
            for made in self._made(missing, progress):
                known |= {keys[text]: vector for text, vector in made.items()}
        except EncoderUnavailable:
            return {}
        recalled = {text: known[key].astype(np.float32) for text, key in keys.items()}
        with self._lock:
            words = [_key(embedding_text(each)) for each in self._held.values()]
            self._at_hand = {**self._stored(words), **known}
            self._remembered = REMEMBERED_QUERIES + len(recalled)
            self._asked.update(recalled)
        return recalled

    # --- vectors -----------------------------------------------------------------------------

    def is_encoded(self, version: int) -> bool:
        """Whether everything in this catalogue version has its vector: one query, no loading."""
        if self._unencoded_examples or self.embedding.failure is not None:
            return False
        with self._database.reading() as transaction:
            row = transaction.one(
                "SELECT version, model FROM encoding WHERE collection = :collection",
                collection=self._collection,
            )
        return row == (version, self.embedding.name)

    def encode(self, version: int, progress: Progress) -> int:
        """Make the vectors that are missing in this catalogue version; returns how many were made.

        Where the embedder fails, what was made is kept; whoever comes next goes on.
        """
        if not self.embedding.works():
            return 0
        with self._lock:
            self._give_known_vectors(self._current.without_vectors())
            wanting: dict[str, list[Capability]] = {}
            for capability in self._current.without_vectors():
                wanting.setdefault(embedding_text(capability), []).append(capability)
            self._want_examples(wanting)
        count = 0
        try:
            for made in self._made(list(wanting), progress):
                count += len(made)
                vectors = {_key(text): vector for text, vector in made.items()}
                self._give(vectors, [c for text in made for c in wanting[text]])
        except EncoderUnavailable:
            return count
        if any(c.id in self._examples for each in wanting.values() for c in each):
            self._teach()
        progress(count, count)
        self._finish(version, count)
        return count

    def _made(self, texts: Sequence[str], progress: Progress) -> Iterator[dict[str, Half]]:
        """The vectors of texts, a batch at a time, each durable when it is made."""
        for start in range(0, len(texts), BATCH):
            progress(start, len(texts))
            batch = texts[start : start + BATCH]
            vectors = self.embedding(batch, self._current.dense.width).astype(np.float16)
            made = dict(zip(batch, vectors, strict=True))
            self._keep(made)
            yield made

    def _keep(self, vectors: Mapping[str, Half]) -> None:
        model = self.embedding.name
        with self._database.writing() as transaction:
            transaction.many(
                "INSERT INTO vector (model, text, vector) VALUES (:model, :text, :vector)"
                " ON CONFLICT DO NOTHING",
                ({"model": model, "text": _key(text), "vector": v.tobytes()} for text, v in vectors.items()),
            )

    def _want_examples(self, wanting: dict[str, list[Capability]]) -> None:
        """Requests that were shown to work and have no vector yet, with the capabilities they belong to."""
        for id in sorted(self._unencoded_examples & self._held.keys()):
            for text in self._texts(id):
                wanting.setdefault(text, []).append(self._held[id])

    def _texts(self, id: str) -> tuple[str, ...]:
        """What a capability says of itself, and the requests that it was shown to answer."""
        return embedding_text(self._held[id]), *self._examples[id]

    def _teach(self) -> None:
        """Draw what has examples towards them; what lacks a vector is taught once all of its are made."""
        with self._lock:
            ids = [id for id in self._examples if id in self._held]
            keys = {id: [_key(text) for text in self._texts(id)] for id in ids}
            known = self._stored([key for each in keys.values() for key in each])
            ready = {id: np.stack([known[key] for key in each]) for id, each in keys.items()
                     if all(key in known for key in each)}  # fmt: skip
            self._unencoded_examples = keys.keys() - ready.keys()
            lesson = taught({id: v[0] for id, v in ready.items()}, {id: v[1:] for id, v in ready.items()})
            self._current.give_vectors({id: each.vector.astype(np.float32) for id, each in lesson.items()})
            self._current.give_handicaps({id: each.handicap for id, each in lesson.items()})

    def _finish(self, version: int, made: int) -> None:
        if not self._collection:
            return
        self._unwritten += made
        if self._unwritten >= WORTH_WRITING:
            self._write(self.embedding.name)
        with self._database.writing() as transaction:
            transaction.run(
                "INSERT INTO encoding (collection, version, model) VALUES (:collection, :version, :model)"
                " ON CONFLICT (collection) DO UPDATE SET version = excluded.version, model = excluded.model",
                collection=self._collection, version=version, model=self.embedding.name,
            )  # fmt: skip

    def _give_known_vectors(
        self, changed: Sequence[Capability], again: Collection[str] = frozenset()
    ) -> None:
        """Vectors made earlier, by this process or another, for texts that are here now."""
        without = {c.id for c in self._current.without_vectors()}.union(again)
        wanting = [c for c in changed if c.id in without]
        self._give(self._stored([_key(embedding_text(c)) for c in wanting]), wanting)

    def _stored(self, keys: Sequence[str]) -> Mapping[str, Half]:
        if all(key in self._at_hand for key in keys):
            return self._at_hand
        model = self.embedding.name
        with self._database.reading() as transaction:
            if len(keys) > FEW:
                rows = transaction.all("SELECT text, vector FROM vector WHERE model = :model", model=model)
            else:
                one = "SELECT text, vector FROM vector WHERE model = :model AND text = :text"
                rows = [row for key in keys if (row := transaction.one(one, model=model, text=key))]
        return {text: np.frombuffer(vector, np.float16) for text, vector in rows}

    def _give(self, vectors: Mapping[str, Half], wanting: Iterable[Capability]) -> None:
        with self._lock:
            found = {c.id: vectors.get(_key(embedding_text(c))) for c in wanting}
            # Half precision in memory too: a process that encodes answers like one that reopens.
            self._current.give_vectors({id: v.astype(np.float32) for id, v in found.items() if v is not None})

    # --- writing down and reading back -------------------------------------------------------

    def _write(self, model: str) -> None:
        with self._lock:
            marks = {id: _mark(each, self._examples) for id, each in self._held.items()}
            state = written.write(self._current.state(), marks, model)
            self._unwritten = 0
        with self._database.writing() as transaction:
            transaction.run(
                "INSERT INTO search_index (collection, state) VALUES (:collection, :state)"
                " ON CONFLICT (collection) DO UPDATE SET state = excluded.state",
                collection=self._collection, state=state,
            )  # fmt: skip

    def _opened(self, capabilities: Mapping[str, Capability], shown: Examples) -> Corpus:
        """The corpus as it was written down, less what changed since; a new one if that is of no use."""
        with self._database.reading() as transaction:
            row = transaction.one(
                "SELECT state FROM search_index WHERE collection = :collection", collection=self._collection
            )
        known = written.read(row[0]) if row else None
        if known is None or known.model != self.embedding.name:
            return Corpus(self._presets)
        same = {
            id: capabilities[id]
            for id, digest in zip(known.ids, known.digests, strict=True)
            if id in capabilities and _mark(capabilities[id], shown) == digest
        }
        self._held = dict(same)
        self._examples = {id: shown[id] for id in same if id in shown}
        return Corpus.restored(known.state, same, self._presets)


def _same(held: Capability | None, now: Capability) -> bool:
    return held is now or (
        held is not None and held.digest == now.digest and held.unavailable == now.unavailable
    )


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _mark(capability: Capability, examples: Examples) -> str:
    """What a row was made from; without examples, just the capability."""
    shown = examples.get(capability.id, ())
    return f"{capability.digest}+{_key(chr(0).join(shown))}" if shown else capability.digest
