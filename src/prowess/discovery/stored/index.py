"""An index in the store as an engine uses it: kept in step, held in part, and searched.

Above: the engine, which says what an agent may use. Below: the indexing, what is held, and the search.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from threading import Lock

from prowess.catalogue.stored import PagedCapabilities
from prowess.discovery.embedding import Embedding
from prowess.discovery.fusion import Calibration
from prowess.discovery.search import RequestVectors
from prowess.discovery.stored.counted import Counted
from prowess.discovery.stored.documents import Documents
from prowess.discovery.stored.held import HeldIndex
from prowess.discovery.stored.indexing import StoredIndexing
from prowess.discovery.stored.lessons import StoredLessons
from prowess.discovery.stored.postings import PostingLists
from prowess.discovery.stored.reach import Allowed, Reaches
from prowess.discovery.stored.relations import Relations
from prowess.discovery.stored.search import StoredParts, StoredSearch
from prowess.discovery.stored.tables import Columns
from prowess.discovery.vectors import Progress, VectorStore
from prowess.jobs import Jobs
from prowess.store.database import Database


class StoredIndex:
    def __init__(
        self, database: Database, embedding: Embedding, requests: RequestVectors, columns: Columns,
        allowed: Callable[[Collection[str]], Allowed], presets: Mapping[str, Sequence[str]],
        jobs: Jobs | None,
    ) -> None:  # fmt: skip
        """columns: what policy looks at in a capability; allowed: the rows of what somebody may use."""
        self._database = database
        self._refreshing = Lock()
        self._held = HeldIndex()
        self._documents = Documents()
        vectors = VectorStore(database, embedding, jobs)
        self.indexing = StoredIndexing(database, embedding, vectors, columns, jobs)
        self._lessons = StoredLessons(database, vectors, self._documents.words)
        self._parts = StoredParts(
            database, PostingLists(), self._documents, Calibration.read(), requests, presets,
            Reaches(database, allowed), Relations(database, presets),
            Counted(database),
        )  # fmt: skip

    def at(self, capabilities: PagedCapabilities, examples: Mapping[str, Sequence[str]]) -> StoredSearch:
        """What to search in a catalogue, with the index as it is now."""
        with self._refreshing, self._database.reading() as transaction:
            held = self._held = self._held.refreshed(transaction)
        rows = self._lessons.at(held.change, capabilities, examples)
        return StoredSearch(held, capabilities, examples, rows, self._parts)

    def update(
        self, version: int, capabilities: PagedCapabilities, examples: Mapping[str, Sequence[str]],
        progress: Progress,
    ) -> None:  # fmt: skip
        """Index what is not indexed of a version of the catalogue, and encode what lessons teach."""
        self.indexing.update(version, progress)
        taught = self.at(capabilities, examples).taught
        if taught.unencoded:
            self._lessons.encode(taught, progress)
