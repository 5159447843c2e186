"""What a process holds of an index in the store: of each row a code, its length, and whether it is in use.

That is some 60 bytes a capability; texts, vectors and posting lists stay in the store. It is never changed:
what is newer takes its place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from prowess.discovery.dense import Matrix
from prowess.discovery.lexical import LENGTH_SHARE, SATURATION
from prowess.discovery.stored import encodings, tables
from prowess.discovery.stored.codes import Codes, Mask
from prowess.discovery.stored.encodings import Encoding
from prowess.discovery.stored.postings import UNIT, Floats, Group
from prowess.store.database import Transaction

FULL = 20_000
"""Rows that a segment has when it is full."""


@dataclass(frozen=True, slots=True)
class HeldIndex:
    version: int = 0
    change: int = 0
    next: int = 0
    """The number that the next row gets."""
    encodings: tuple[Encoding, ...] = ()
    """What models made of it, of which one is held."""
    encoding: Encoding = field(default_factory=Encoding)
    codes: Codes = field(default_factory=lambda: Codes(0))
    lengths: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    divisors: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    """What the weight of a term is measured against in each row."""
    in_use: Mask = field(default_factory=lambda: np.zeros(0, np.bool_))
    gone: Mask = field(default_factory=lambda: np.zeros(0, np.bool_))
    groups: tuple[Group, ...] = ()
    """The segments: those that are full together, and each of the others."""
    population: int = 0
    mean_length: float = 0.0

    @property
    def mean(self) -> Matrix:
        return self.encoding.centre

    def refreshed(self, transaction: Transaction, models: Sequence[str] = ()) -> "HeldIndex":
        """The index as it is now, of which only what is new is read.

        models: those that requests can be encoded by, the one that is wanted first.
        """
        now = tables.state(transaction)
        if now is None:
            return HeldIndex()
        known = tuple(encodings.every(transaction))
        chosen = _chosen(known, models, now.next)
        if (now.change, now.version, known, chosen) == (
            self.change, self.version, self.encodings, self.encoding,
        ):  # fmt: skip
            return self
        in_use, gone = _longer(self.in_use, now.next), _longer(self.gone, now.next)
        lengths = np.zeros(now.next, np.float32)
        lengths[: len(self.lengths)] = self.lengths
        for segment in tables.segments_since(transaction, self.change):
            lengths[segment.numbers] = segment.lengths
            in_use[segment.numbers] = True
        gone[tables.gone_since(transaction, self.change)] = True
        in_use &= ~gone
        population = int(np.count_nonzero(in_use))
        mean_length = float(lengths.sum(where=in_use, dtype=np.float64)) / max(population, 1)
        return HeldIndex(
            version=now.version,
            change=now.change,
            next=now.next,
            encodings=known,
            encoding=chosen,
            codes=self._codes(transaction, chosen, now.next),
            lengths=lengths,
            divisors=_divisors(lengths, mean_length),
            in_use=in_use,
            gone=gone,
            groups=_groups(tables.sizes(transaction)),
            population=population,
            mean_length=mean_length,
        )

    def _codes(self, transaction: Transaction, chosen: Encoding, next: int) -> Codes:
        """The codes of an encoding, of which what is held already is not read again."""
        codes, since = self.codes, self.change
        if chosen.encoding != self.encoding.encoding or (not codes.width and chosen.mean):
            codes, since = Codes(len(chosen.centre)), 0
        for batch in encodings.codes_since(transaction, chosen.encoding, since):
            codes = codes.with_rows(batch.numbers, batch.codes, next)
        return codes.with_room(next)


def _chosen(known: Sequence[Encoding], models: Sequence[str], next: int) -> Encoding:
    """The one to search by: of the model that is wanted where it is whole, else of another one that is."""
    usable = [each for model in models for each in known if each.model == model and each.mean]
    whole = [each for each in usable if each.upto >= next - 1]
    wanted = [each for each in usable if each.model == models[0]]
    best = (*whole, *wanted, *usable)
    return best[0] if best else Encoding()


def _longer(mask: Mask, size: int) -> Mask:
    longer = np.zeros(size, np.bool_)
    longer[: len(mask)] = mask
    return longer


def _divisors(lengths: Floats, mean_length: float) -> Floats:
    share = np.float32(UNIT * SATURATION * LENGTH_SHARE / max(mean_length, 1e-9))
    return lengths * share + np.float32(UNIT * SATURATION * (1 - LENGTH_SHARE))


def _groups(sizes: Mapping[int, int]) -> tuple[Group, ...]:
    full = tuple(segment for segment, size in sizes.items() if size >= FULL)
    others = ((segment,) for segment in sizes if segment not in full)
    return ((full,) if full else ()) + tuple(others)
