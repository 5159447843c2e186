"""What a process holds of an index in the store: of each row a code, its length, and whether it is in use.

That is some 60 bytes a capability; texts, vectors and posting lists stay in the store. It is never changed:
what is newer takes its place.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from prowess.discovery.dense import Matrix
from prowess.discovery.lexical import LENGTH_SHARE, SATURATION
from prowess.discovery.stored import tables
from prowess.discovery.stored.codes import Codes, Mask
from prowess.discovery.stored.postings import UNIT, Floats, Group
from prowess.store.database import Transaction

FULL = 20_000
"""Rows that a segment has when it is full."""


@dataclass(frozen=True, slots=True)
class HeldIndex:
    version: int = 0
    change: int = 0
    model: str = ""
    mean: Matrix = field(default_factory=lambda: np.zeros(0, np.float32))
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

    def refreshed(self, transaction: Transaction) -> "HeldIndex":
        """The index as it is now, of which only what is new is read."""
        now = tables.state(transaction)
        if now is None:
            return HeldIndex()
        if (now.change, now.version) == (self.change, self.version):
            return self
        before = self if now.model == self.model else HeldIndex()
        mean = np.frombuffer(now.mean, np.float32)
        codes = before.codes if before.codes.width else Codes(len(mean))
        in_use, gone = _longer(before.in_use, now.next), _longer(before.gone, now.next)
        lengths = np.zeros(now.next, np.float32)
        lengths[: len(before.lengths)] = before.lengths
        for segment in tables.segments_since(transaction, before.change):
            codes = codes.with_rows(segment.numbers, segment.codes, now.next)
            lengths[segment.numbers] = segment.lengths
            in_use[segment.numbers] = True
        gone[tables.gone_since(transaction, before.change)] = True
        in_use &= ~gone
        population = int(np.count_nonzero(in_use))
        mean_length = float(lengths.sum(where=in_use, dtype=np.float64)) / max(population, 1)
        return HeldIndex(
            version=now.version,
            change=now.change,
            model=now.model,
            mean=mean,
            codes=codes,
            lengths=lengths,
            divisors=_divisors(lengths, mean_length),
            in_use=in_use,
            gone=gone,
            groups=_groups(tables.sizes(transaction)),
            population=population,
            mean_length=mean_length,
        )


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
