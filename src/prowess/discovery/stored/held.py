"""What a process holds of an index in the store: a code for each row, and which rows are in use.

That is 50 bytes a capability; texts, vectors and posting lists stay in the store. It is never changed: what
is newer takes its place.
"""

from dataclasses import dataclass, field

import numpy as np

from prowess.discovery.dense import Matrix
from prowess.discovery.stored import tables
from prowess.discovery.stored.codes import Codes, Mask
from prowess.store.database import Transaction


@dataclass(frozen=True, slots=True)
class HeldIndex:
    version: int = 0
    change: int = 0
    model: str = ""
    mean: Matrix = field(default_factory=lambda: np.zeros(0, np.float32))
    codes: Codes = field(default_factory=lambda: Codes(0))
    in_use: Mask = field(default_factory=lambda: np.zeros(0, np.bool_))
    gone: Mask = field(default_factory=lambda: np.zeros(0, np.bool_))
    segments: tuple[int, ...] = ()
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
        for segment in tables.segments_since(transaction, before.change):
            codes = codes.with_rows(segment.numbers, segment.codes, now.next)
            in_use[segment.numbers] = True
        gone[tables.gone_since(transaction, before.change)] = True
        in_use &= ~gone
        sizes = tables.sizes(transaction)
        rows, length = sum(size for size, _ in sizes.values()), sum(each for _, each in sizes.values())
        return HeldIndex(
            version=now.version,
            change=now.change,
            model=now.model,
            mean=mean,
            codes=codes,
            in_use=in_use,
            gone=gone,
            segments=tuple(sizes),
            population=int(np.count_nonzero(in_use)),
            mean_length=length / max(rows, 1),
        )


def _longer(mask: Mask, size: int) -> Mask:
    longer = np.zeros(size, np.bool_)
    longer[: len(mask)] = mask
    return longer
