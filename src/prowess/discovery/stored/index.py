"""An index in the store as an engine uses it: kept in step, held in part, and searched.

Above: the engine, which says what an agent may use. Below: the indexing, what is held, and the search.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from threading import Lock

from prowess.catalogue.stored import PagedCapabilities
from prowess.discovery.embedders import Opener
from prowess.discovery.embedding import Embedding
from prowess.discovery.fusion import Calibration
from prowess.discovery.search import RequestVectors
from prowess.discovery.stored import encodings
from prowess.discovery.stored.counted import Counted
from prowess.discovery.stored.encodings import Encoding
from prowess.discovery.stored.held import HeldIndex
from prowess.discovery.stored.indexing import StoredIndexing
from prowess.discovery.stored.lessons import StoredLessons
from prowess.discovery.stored.postings import PostingLists
from prowess.discovery.stored.reach import Allowed, Reaches
from prowess.discovery.stored.relations import Relations
from prowess.discovery.stored.search import StoredParts, StoredSearch
from prowess.discovery.stored.tables import Columns
from prowess.discovery.text import Words
from prowess.discovery.vectors import Progress, VectorStore
from prowess.jobs import Jobs
from prowess.store.database import Database, Transaction


class StoredIndex:
    def __init__(
        self, database: Database, embedding: Embedding, requests: RequestVectors, columns: Columns,
        allowed: Callable[[Collection[str]], Allowed], presets: Mapping[str, Sequence[str]],
        jobs: Jobs | None, former: Callable[[str], Opener | None],
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """columns: what policy looks at in a capability; allowed: the rows of what somebody may use.

        former: opens the model of that name, where it can be had, for vectors that it made earlier.
        """
        self._database = database
        self._refreshing = Lock()
        self._held = HeldIndex()
        self._former = former
        self._elapsed = elapsed
        words = Words()
        vectors = VectorStore(database, embedding, jobs)
        self.indexing = StoredIndexing(database, embedding, vectors, columns, jobs)
        self._lessons = StoredLessons(database, vectors, words)
        self._parts = StoredParts(
            database, PostingLists(), words, Calibration.read(), requests, presets,
            Reaches(database, allowed), Relations(database, presets),
            Counted(database),
        )  # fmt: skip
        self._by_model: dict[str, RequestVectors | None] = {}

    def at(self, capabilities: PagedCapabilities, examples: Mapping[str, Sequence[str]]) -> StoredSearch:
        """What to search in a catalogue, with the index as it is now."""
        with self._refreshing:
            if not self._held.version and self._database.replica:
                # All of it is much; what is newer is little.
                self._held = self._database.from_replica(self._refreshed)
            held = self._held = self._database.read(self._refreshed)
        requests = self._by_model.get(held.encoding.model) or self._parts.requests
        rows = self._lessons.at(held.change, capabilities, examples)
        return StoredSearch(held, capabilities, examples, rows, replace(self._parts, requests=requests))

    def update(
        self, version: int, capabilities: PagedCapabilities, examples: Mapping[str, Sequence[str]],
        progress: Progress,
    ) -> None:  # fmt: skip
        """Index what is not indexed of a version of the catalogue, and encode what lessons teach."""
        self.indexing.update(version, progress)
        taught = self.at(capabilities, examples).taught
        if taught.unencoded:
            self._lessons.encode(taught, progress)

    def lags(self, search: StoredSearch, version: int) -> bool:
        """Whether there is something to index or to encode, for a search in a version of the catalogue."""
        held = search.held
        is_behind = held.version < version or bool(search.taught.unencoded)
        return is_behind or self.indexing.encoding.lags(held.encodings, held.next)

    def _refreshed(self, transaction: Transaction) -> HeldIndex:
        return self._held.refreshed(transaction, self._usable(encodings.every(transaction)))

    def _usable(self, known: Sequence[Encoding]) -> list[str]:
        """The models by which requests can be encoded: the one in use, then those of earlier times."""
        own = self._parts.requests.embedding
        for model in {each.model for each in known} - {own.name, *self._by_model}:
            opener = self._former(model)
            self._by_model[model] = RequestVectors(Embedding(opener, self._elapsed)) if opener else None
        former = [name for name, one in self._by_model.items() if one and one.embedding.failure is None]
        return [own.name, *former] if own.failure is None else [*former, own.name]
