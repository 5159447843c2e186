"""The searchable form of the catalogue, kept in step with it and kept in the store.

Above: the engine, which says what exists and who may see it. Below: the corpus and the ranker, and
the two tables this module owns. Words are indexed at once; vectors follow in batches, each durable
when it is made, so that an interrupted encoding goes on where it stopped. What is searched is never
changed: a new `Search` takes its place.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import RLock
from time import monotonic
from typing import NamedTuple

import numpy as np

from prowess.discovery import written
from prowess.discovery.corpus import Corpus
from prowess.discovery.dense import Matrix
from prowess.discovery.embedding import Embedding
from prowess.discovery.examples import taught
from prowess.discovery.fusion import Calibration
from prowess.discovery.ranking import Embed
from prowess.discovery.search import RequestVectors, Search
from prowess.discovery.text import embedding_text
from prowess.discovery.vectors import BATCH, Half, Progress, VectorStore, key_of
from prowess.errors import EncoderUnavailable
from prowess.jobs import Jobs
from prowess.store.database import Database
from prowess.text.counts import counted
from prowess.types import Capability

# Below these, reading the changed ones again at the next opening is cheaper than writing everything.
FEWEST_WORTH_WRITING, WORTH_WRITING = 32, 256
SHARE_WORTH_WRITING = 0.25
Examples = Mapping[str, Sequence[str]]


class Followed(NamedTuple):
    """What to search, and whether vectors may be missing in it."""

    search: Search
    may_lack_vectors: bool


@dataclass(frozen=True, slots=True)
class _State:
    """What is searchable at one moment, and what it was made from."""

    corpus: Corpus
    held: Mapping[str, Capability]
    examples: Examples
    unencoded: frozenset[str]
    """What has examples without vectors."""
    search: Search

    def is_of(self, capabilities: Mapping[str, Capability], examples: Examples) -> bool:
        return self.held is capabilities and self.examples == examples


class Index:
    def __init__(
        self, database: Database, open_embedder: Callable[[], tuple[str, Embed]], collection: str,
        presets: Mapping[str, Sequence[str]], jobs: Jobs | None = None,
        elapsed: Callable[[], float] = monotonic,
    ) -> None:  # fmt: skip
        self._database = database
        self.embedding = Embedding(open_embedder, elapsed)
        self._vectors = VectorStore(database, self.embedding, jobs)
        self._jobs = jobs
        self._collection = collection
        self._presets = presets
        self._calibration = Calibration.read()
        self.requests = RequestVectors(self.embedding)
        self._changing = RLock()
        self._states: tuple[_State, ...] = ()
        """The newest first; the one before it serves turns that began with it."""
        self._unwritten = 0

    @property
    def unavailable(self) -> EncoderUnavailable | None:
        """Why words alone serve, if they do."""
        return self.embedding.tried()

    # --- keeping step ------------------------------------------------------------------------

    def follow(self, capabilities: Mapping[str, Capability], examples: Examples | None = None) -> Followed:
        """What to search for exactly these capabilities, made by changing no more than what changed.

        Vectors may be missing if anything changed, or if it is time to see whether an embedder that failed
        works again.
        """
        shown = {} if examples is None else examples
        for state in self._states:
            if state.is_of(capabilities, shown):
                if self.embedding.failure is not None:
                    return Followed(state.search, self.embedding.is_due())
                # What came while others were being made has no vector yet, and nobody else will see to it.
                return Followed(state.search, not state.corpus.dense.complete)
        with self._changing:
            if not (self._states and self._states[0].is_of(capabilities, shown)):
                self._take_over(capabilities, shown)
            return Followed(self._current.search, True)

    def _take_over(self, capabilities: Mapping[str, Capability], shown: Examples) -> None:
        opened = not self._states
        before = self._opened(capabilities, shown) if opened else self._current
        corpus = before.corpus if opened else before.corpus.copied()
        changed = [c for id, c in capabilities.items() if not _same(before.held.get(id), c)]
        reads_otherwise = [
            capabilities[id]
            for id in sorted(shown.keys() | before.examples.keys())
            if id in capabilities and shown.get(id) != before.examples.get(id)
        ]
        changed += reads_otherwise
        gone = [id for id in before.held if id not in capabilities]
        corpus.drop(gone)
        corpus.put(changed, shown)
        self._unwritten += len(changed) + len(gone)
        self._give_known_vectors(corpus, changed, {each.id for each in reads_otherwise})
        unencoded = before.unencoded
        if opened or reads_otherwise or any(each.id in shown for each in changed):
            unencoded = self._teach(corpus, capabilities, shown)
        self._swap(corpus, capabilities, shown, unencoded)

    def _swap(
        self, corpus: Corpus, capabilities: Mapping[str, Capability], shown: Examples,
        unencoded: frozenset[str],
    ) -> None:  # fmt: skip
        """Let this be what is searched from now on."""
        corpus.lexical.measured()
        search = Search(corpus, capabilities, self._calibration, self.requests)
        state = _State(corpus, capabilities, shown, unencoded, search)
        before = [one for one in self._states[:2] if one.held is not capabilities]
        self._states = (state, *before[:1])

    @property
    def search(self) -> Search:
        """The newest of what can be searched."""
        return self._current.search

    @property
    def encoded(self) -> tuple[int, int]:
        """How many capabilities have a vector, and how many there are."""
        corpus = self._current.corpus
        return len(corpus) - len(corpus.without_vectors()), len(corpus)

    @property
    def _width(self) -> int:
        return self._current.corpus.dense.width

    @property
    def _current(self) -> _State:
        assert self._states, "follow() comes first"
        return self._states[0]

    def recall(self, texts: Sequence[str], progress: Progress) -> dict[str, Matrix]:
        """The vectors of requests, made once and kept: for whoever asks the same again and again."""
        if not self.embedding.works():
            return {}
        keys = {text: key_of(text) for text in texts}
        known = dict(self._vectors.stored(list(keys.values())))
        missing = [text for text, key in keys.items() if key not in known]
        try:
            for made in self._vectors.made(missing, len(texts), self._width, progress):
                known |= {keys[text]: vector for text, vector in made.items()}
        except EncoderUnavailable:
            return {}
        recalled = {text: known[key].astype(np.float32) for text, key in keys.items()}
        words = [key_of(embedding_text(each)) for each in self._current.held.values()]
        self._vectors.hold(words, known)
        self.requests.keep(recalled, len(recalled))
        return recalled

    def remembered(self, texts: Sequence[str]) -> dict[str, Matrix]:
        """Of these texts, the vectors that are kept; nothing is opened, made or written."""
        keys = {text: key_of(text) for text in texts}
        known = self._vectors.stored(list(keys.values())) if self.embedding.name else {}
        return {text: known[key].astype(np.float32) for text, key in keys.items() if key in known}

    def remember(self, texts: Sequence[str]) -> None:
        """Make and keep the vectors of texts that have none; nothing is opened where all have one."""
        known = self.remembered(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        with suppress(EncoderUnavailable):
            for start in range(0, len(missing), BATCH):
                batch = missing[start : start + BATCH]
                self._vectors.keep(dict(zip(batch, self.embedding(batch).astype(np.float16), strict=True)))

    # --- vectors -----------------------------------------------------------------------------

    def is_encoded(self, version: int) -> bool:
        """Whether everything in this catalogue version has its vector: one query, no loading."""
        lacking = self._states and self._current.unencoded
        if lacking or self.embedding.failure is not None:
            return False
        with self._database.reading() as transaction:
            row = transaction.one(
                "SELECT version, model FROM encoding"
                " WHERE workspace = :workspace AND collection = :collection",
                collection=self._collection,
            )
        return row == (version, self.embedding.name)

    def encode(self, version: int, progress: Progress) -> int:
        """Make the vectors that are missing in this catalogue version; returns how many were made.

        Where the embedder fails, what was made is kept; whoever comes next goes on.
        """
        if not self.embedding.works():
            return 0
        with self._changing:
            state = self._current
            corpus = state.corpus.with_own_vectors()
            self._give_known_vectors(corpus, corpus.without_vectors())
            self._swap(corpus, state.held, state.examples, state.unencoded)
            wanting = self._wanting(self._current)
        count = 0
        try:
            for made in self._vectors.made(list(wanting), len(state.held), self._width, progress):
                count += len(made)
                vectors = {key_of(text): vector for text, vector in made.items()}
                self._give_new(vectors, [c for text in made for c in wanting[text]])
        except EncoderUnavailable:
            return count
        if any(c.id in state.examples for each in wanting.values() for c in each):
            self._teach_again()
        progress(count, count)
        self._finish(version, count)
        if self._jobs and count:
            self._jobs.note("vectors", f"{counted(count, 'text')} encoded")
        return count

    def _wanting(self, state: _State) -> dict[str, list[Capability]]:
        """Texts without a vector, those of requests that were shown to work too, and whose they are."""
        wanting: dict[str, list[Capability]] = {}
        for capability in state.corpus.without_vectors():
            wanting.setdefault(embedding_text(capability), []).append(capability)
        for id in sorted(state.unencoded & state.held.keys()):
            for text in _texts(state.held[id], state.examples):
                wanting.setdefault(text, []).append(state.held[id])
        return wanting

    def _teach(self, corpus: Corpus, held: Mapping[str, Capability], examples: Examples) -> frozenset[str]:
        """Draw what has examples towards them; returns what is taught once all of its vectors are made."""
        ids = [id for id in examples if id in held]
        keys = {id: [key_of(text) for text in _texts(held[id], examples)] for id in ids}
        known = self._vectors.stored([key for each in keys.values() for key in each])
        ready = {id: np.stack([known[key] for key in each]) for id, each in keys.items()
                 if all(key in known for key in each)}  # fmt: skip
        lesson = taught({id: v[0] for id, v in ready.items()}, {id: v[1:] for id, v in ready.items()})
        corpus.give_vectors({id: each.vector.astype(np.float32) for id, each in lesson.items()})
        corpus.give_handicaps({id: each.handicap for id, each in lesson.items()})
        return frozenset(keys.keys() - ready.keys())

    def _teach_again(self) -> None:
        with self._changing:
            state = self._current
            corpus = state.corpus.with_own_vectors()
            unencoded = self._teach(corpus, state.held, state.examples)
            self._swap(corpus, state.held, state.examples, unencoded)

    def _finish(self, version: int, made: int) -> None:
        if not self._collection:
            return
        self._unwritten += made
        share = SHARE_WORTH_WRITING * len(self._current.held)
        if self._unwritten >= min(WORTH_WRITING, max(FEWEST_WORTH_WRITING, share)):
            self._write(self.embedding.name)
        with self._database.writing() as transaction:
            transaction.run(
                "INSERT INTO encoding (workspace, collection, version, model)"
                " VALUES (:workspace, :collection, :version, :model)"
                " ON CONFLICT (workspace, collection)"
                " DO UPDATE SET version = excluded.version, model = excluded.model",
                collection=self._collection, version=version, model=self.embedding.name,
            )  # fmt: skip

    def _give_known_vectors(
        self, corpus: Corpus, changed: Sequence[Capability], again: Collection[str] = frozenset()
    ) -> None:
        """Vectors made earlier, by this process or another, for texts that are here now."""
        without = {c.id for c in corpus.without_vectors()}.union(again)
        wanting = [c for c in changed if c.id in without]
        _give(corpus, self._vectors.stored([key_of(embedding_text(c)) for c in wanting]), wanting)

    def _give_new(self, vectors: Mapping[str, Half], wanting: Iterable[Capability]) -> None:
        """Let what was just made be searched by; what changed since reads otherwise and waits for its own."""
        with self._changing:
            state = self._current
            same = [c for c in wanting if _same_text(state.held.get(c.id), c)]
            corpus = state.corpus.with_own_vectors()
            _give(corpus, vectors, same)
            self._swap(corpus, state.held, state.examples, state.unencoded)

    # --- writing down and reading back -------------------------------------------------------

    def _write(self, model: str) -> None:
        state = self._current
        marks = {id: _mark(each, state.examples) for id, each in state.held.items()}
        written_down = written.write(state.corpus.state(), marks, model)
        self._unwritten = 0
        with self._database.writing() as transaction:
            transaction.run(
                "INSERT INTO search_index (workspace, collection, state)"
                " VALUES (:workspace, :collection, :state)"
                " ON CONFLICT (workspace, collection) DO UPDATE SET state = excluded.state",
                collection=self._collection, state=written_down,
            )  # fmt: skip

    def _opened(self, capabilities: Mapping[str, Capability], shown: Examples) -> _State:
        """The corpus as it was written down, less what changed since; a new one if that is of no use."""
        row = self._database.from_replica(
            lambda transaction: transaction.one(
                "SELECT state FROM search_index WHERE workspace = :workspace AND collection = :collection",
                collection=self._collection,
            )
        )
        known = written.read(row[0]) if row else None
        if known is None or known.model != self.embedding.name:
            return self._unsearchable(Corpus(self._presets), {}, {})
        same = {
            id: capabilities[id]
            for id, digest in zip(known.ids, known.digests, strict=True)
            if id in capabilities and _mark(capabilities[id], shown) == digest
        }
        examples = {id: shown[id] for id in same if id in shown}
        return self._unsearchable(Corpus.restored(known.state, same, self._presets), same, examples)

    def _unsearchable(self, corpus: Corpus, held: Mapping[str, Capability], examples: Examples) -> _State:
        """Where following begins: a corpus that nobody searches yet and that may be changed in place."""
        search = Search(corpus, held, self._calibration, self.requests)
        return _State(corpus, held, examples, frozenset(), search)


def _give(corpus: Corpus, vectors: Mapping[str, Half], wanting: Iterable[Capability]) -> None:
    found = {c.id: vectors.get(key_of(embedding_text(c))) for c in wanting}
    # Half precision in memory too: a process that encodes answers like one that reopens.
    corpus.give_vectors({id: v.astype(np.float32) for id, v in found.items() if v is not None})


def _texts(capability: Capability, examples: Examples) -> tuple[str, ...]:
    """What a capability says of itself, and the requests that it was shown to answer."""
    return embedding_text(capability), *examples[capability.id]


def _same_text(held: Capability | None, now: Capability) -> bool:
    return held is now or (held is not None and held.digest == now.digest)


def _same(held: Capability | None, now: Capability) -> bool:
    return held is now or (
        held is not None and held.digest == now.digest and held.unavailable == now.unavailable
    )


def _mark(capability: Capability, examples: Examples) -> str:
    """What a row was made from; without examples, just the capability."""
    shown = examples.get(capability.id, ())
    return f"{capability.digest}+{key_of(chr(0).join(shown))}" if shown else capability.digest
