"""Everything a search reads: capabilities in rows, with their words, vectors, names and relations.

It is kept in step by `put` and `drop`, one capability at a time, and written down as `CorpusState`.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from prowess.areas import area_of
from prowess.discovery.dense import Dense, Matrix
from prowess.discovery.graph import Graph, Sizes
from prowess.discovery.lexical import IndexedTerms, Lexical, LexicalState, LexicalStatistics, document
from prowess.discovery.names import NameIndex
from prowess.discovery.text import Words, embedding_text, joined_name
from prowess.types import Capability

Mask = npt.NDArray[np.bool_]

# Rows of what was changed or removed are cleared away once there are this many of them.
MOST_DROPPED = 1024


@dataclass(frozen=True, slots=True)
class CorpusState:
    """What need not be computed again: `ids` in row order, their words, and the vectors there are."""

    ids: tuple[str, ...]
    lexical: LexicalState
    vectors: Matrix
    known: Mask


class Corpus:
    """The searchable form of a set of capabilities.

    What others search is never changed: `copied` gives one to change, which takes its place when it is done.
    """

    def __init__(
        self, presets: Mapping[str, Sequence[str]] | None = None, of_all: LexicalStatistics | None = None,
        words: Words | None = None, sizes: Sizes | None = None,
    ) -> None:  # fmt: skip
        """of_all: the statistics of a whole catalogue, where these are only candidates of it; words: what
        reads texts, where it has read others; sizes: how many of the whole catalogue share what."""
        self.words = words or Words()
        self.graph = Graph(presets, sizes)
        self.lexical = Lexical(of_all)
        self.dense = Dense()
        self.names = NameIndex()
        self._rows: dict[str, int] = {}
        self._held: list[Capability | None] = []
        self._handicaps: Mapping[str, float] = {}
        self._masks: dict[tuple[str, str | bool], Mask] = {}

    def copied(self) -> "Corpus":
        """The same capabilities, to be changed without changing these."""
        other = self.with_own_vectors()
        other.graph, other.lexical, other.names = (
            self.graph.copied(),
            self.lexical.copied(),
            self.names.copied(),
        )
        other._rows, other._held = self._rows.copy(), self._held.copy()
        other._masks = {key: mask.copy() for key, mask in self._masks.items()}
        return other

    def with_own_vectors(self) -> "Corpus":
        """The same capabilities, of which nothing but the vectors may be changed."""
        other = copy(self)
        other.dense = self.dense.copied()
        return other

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def size(self) -> int:
        """How long a mask over the rows is."""
        return len(self._held)

    def put(
        self, capabilities: Iterable[Capability], examples: Mapping[str, Sequence[str]] | None = None,
        documents: Mapping[str, IndexedTerms] | None = None,
    ) -> None:  # fmt: skip
        """Add or replace; `examples` are requests that a capability was shown to answer, by its id.

        documents: their terms, where they are known already.
        """
        shown = examples or {}
        latest = {capability.id: capability for capability in capabilities}
        if documents is None:
            documents = {id: document(each, self.words, shown.get(id, ())) for id, each in latest.items()}
        moved = [id for id in latest if not self._replaced_in_place(latest[id], documents[id])]
        kept = {id: self._vector(id) for id in moved if self._reads_alike(latest[id])}
        self.drop(moved)
        rows = self.lexical.add([documents[id] for id in moved])
        self._held.extend(None for _ in moved)
        self._masks = {
            key: np.append(mask, np.zeros(len(moved), np.bool_)) for key, mask in self._masks.items()
        }
        self.dense.grow(self.size)
        for id, row in zip(moved, rows, strict=True):
            self._place(row, latest[id])
        self.give_vectors({id: vector for id, vector in kept.items() if vector is not None})

    def drop(self, ids: Iterable[str]) -> None:
        for id in ids:
            row = self._rows.pop(id, None)
            known = self._held[row] if row is not None else None
            if row is None or known is None:
                continue
            self._held[row] = None
            self.lexical.drop(row)
            self.names.drop(row)
            self.dense.drop(row)
            self.graph.drop(id)
        if self.size - len(self) > max(MOST_DROPPED, len(self)):
            self._compact()

    def without_vectors(self) -> tuple[Capability, ...]:
        """What the encoder has still to read, in row order; `embedding_text` says what it reads."""
        known = self.dense.known
        return tuple(each for row, each in enumerate(self._held) if each is not None and not known[row])

    def give_vectors(self, vectors: Mapping[str, Matrix]) -> None:
        """Set the vectors of capabilities by id; ids that are gone by now are passed over."""
        rows = [self._rows[id] for id in vectors if id in self._rows]
        if rows:
            self.dense.put(rows, np.stack([vector for id, vector in vectors.items() if id in self._rows]))

    def give_handicaps(self, handicaps: Mapping[str, float]) -> None:
        """What to take off the similarity of these capabilities, by id; off all others, nothing."""
        before, self._handicaps = self._handicaps, handicaps
        for id in before.keys() | handicaps.keys():
            if id in self._rows:
                self.dense.handicap(self._rows[id], handicaps.get(id, 0.0))

    def mask(self, ids: Iterable[str]) -> Mask:
        """These capabilities as a mask over the rows; it holds until the next change."""
        chosen = np.zeros(self.size, np.bool_)
        chosen[[self._rows[id] for id in ids if id in self._rows]] = True
        return chosen

    def where(self, field: str, value: str | bool) -> Mask:
        """The rows whose capability has this value in this field; those out of use do not matter."""
        mask = self._masks.get((field, value))
        if mask is None:
            matches = (each is not None and _has(each, field, value) for each in self._held)
            mask = np.fromiter(matches, np.bool_, self.size)
            self._masks[field, value] = mask
        return mask

    def present(self) -> Mask:
        """The rows in use."""
        return self.lexical.alive

    def row(self, id: str) -> int | None:
        return self._rows.get(id)

    def at(self, row: int) -> Capability:
        held = self._held[row]
        if held is None:
            raise IndexError(f"row {row} holds no capability")
        return held

    def state(self) -> CorpusState:
        living = np.flatnonzero(self.present())
        ids = tuple(self.at(row).id for row in living.tolist())
        return CorpusState(ids, self.lexical.state(), self.dense.matrix[living], self.dense.known[living])

    @classmethod
    def restored(
        cls,
        state: CorpusState,
        capabilities: Mapping[str, Capability],
        presets: Mapping[str, Sequence[str]] | None = None,
    ) -> "Corpus":
        """The corpus of this state; what the mapping lacks is dropped, the caller puts what changed."""
        corpus = cls(presets)
        corpus._fill(state, capabilities)
        return corpus

    def _fill(self, state: CorpusState, capabilities: Mapping[str, Capability]) -> None:
        self.lexical = Lexical.restored(state.lexical)
        self.dense = Dense(state.vectors, state.known)
        self._held = [None] * len(state.ids)
        for row, id in enumerate(state.ids):
            if id in capabilities:
                self._place(row, capabilities[id])
            else:
                self.lexical.drop(row)
                self.dense.drop(row)

    def _compact(self) -> None:
        held = {each.id: each for each in self._held if each is not None}
        state = self.state()
        self.names, self._rows, self._masks = NameIndex(), {}, {}
        self._fill(state, held)

    def _place(self, row: int, capability: Capability) -> None:
        self._held[row] = capability
        self._rows[capability.id] = row
        for (field, value), mask in self._masks.items():
            mask[row] = _has(capability, field, value)
        self.dense.handicap(row, self._handicaps.get(capability.id, 0.0))
        self.names.add(row, capability)
        self.graph.put(capability)

    def _replaced_in_place(self, capability: Capability, reads: IndexedTerms) -> bool:
        """A change that no search can see, such as availability, needs no new row."""
        row = self._rows.get(capability.id)
        if row is None or not self._reads_alike(capability) or not self.lexical.holds(row, reads):
            return False
        self.names.drop(row)
        self._place(row, capability)
        return True

    def _reads_alike(self, capability: Capability) -> bool:
        row = self._rows.get(capability.id)
        return row is not None and embedding_text(self.at(row)) == embedding_text(capability)

    def _vector(self, id: str) -> Matrix | None:
        row = self._rows[id]
        return self.dense.matrix[row].copy() if self.dense.known[row] else None


def _has(capability: Capability, field: str, value: str | bool) -> bool:
    """Whether a field has this value; what has no category goes by its server, too."""
    held = [getattr(capability, field)] + ([area_of(capability)] if field == "category" else [])
    return any(same_name(one, value) for one in held)


def same_name(held: object, wanted: str | bool) -> bool:
    """Whether a field has a value, however its words are written: `Developer Tools` is `developer-tools`."""
    if held == wanted:
        return True
    return isinstance(held, str) and isinstance(wanted, str) and joined_name(held) == joined_name(wanted)
