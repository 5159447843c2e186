"""What a process holds of an index in the store: a code for each row, and which rows are in use.

That is 50 bytes a capability; texts, vectors and posting lists stay in the store. It is never changed: what
is newer takes its place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from prowess.discovery.dense import Matrix
from prowess.discovery.stored import encodings, tables
from prowess.discovery.stored.codes import Codes, Mask
from prowess.discovery.stored.encodings import Encoding
from prowess.store.database import Transaction


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
    in_use: Mask = field(default_factory=lambda: np.zeros(0, np.bool_))
    gone: Mask = field(default_factory=lambda: np.zeros(0, np.bool_))
    segments: tuple[int, ...] = ()
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
        codes, since = self.codes, self.change
        if chosen.encoding != self.encoding.encoding or (not codes.width and chosen.mean):
            codes, since = Codes(len(chosen.centre)), 0
        for batch in encodings.codes_since(transaction, chosen.encoding, since):
            codes = codes.with_rows(batch.numbers, batch.codes, now.next)
        in_use, gone = _longer(self.in_use, now.next), _longer(self.gone, now.next)
        for segment in tables.segments_since(transaction, self.change):
            in_use[segment.numbers] = True
        gone[tables.gone_since(transaction, self.change)] = True
        in_use &= ~gone
        sizes = tables.sizes(transaction)
        rows, length = sum(size for size, _ in sizes.values()), sum(each for _, each in sizes.values())
        return HeldIndex(
            version=now.version,
            change=now.change,
            next=now.next,
            encodings=known,
            encoding=chosen,
            codes=codes.with_room(now.next),
            in_use=in_use,
            gone=gone,
            segments=tuple(sizes),
            population=int(np.count_nonzero(in_use)),
            mean_length=length / max(rows, 1),
        )


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
