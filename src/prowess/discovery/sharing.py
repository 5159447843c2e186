"""How several needs share the places of one answer: each brings its best in turn, and none crowds another."""

from collections.abc import Sequence

from prowess.types import Hit


def in_turn(found: Sequence[Sequence[Hit]], places: int) -> tuple[tuple[Hit, ...], ...]:
    """What each need keeps of its hits, best first, when all together have so many places.

    What serves two needs takes one place. What a kept hit brings along takes none.
    """
    own = [[hit for hit in hits if not hit.brought_by] for hits in found]
    taken: set[str] = set()
    kept: list[list[Hit]] = [[] for _ in found]
    for rank in range(max(map(len, own), default=0)):
        for hits, keeps in zip(own, kept, strict=True):
            if rank < len(hits) and (hits[rank].id in taken or len(taken) < places):
                taken.add(hits[rank].id)
                keeps.append(hits[rank])
    return tuple(
        (*keeps, *_brought(hits, keeps)) for hits, keeps in zip(found, kept, strict=True)
    )  # fmt: skip


def merged(shares: Sequence[Sequence[Hit]]) -> tuple[Hit, ...]:
    """All of them as one list, the first of each need before the second of any."""
    in_order: dict[str, Hit] = {}
    for rank in range(max(map(len, shares), default=0)):
        for hits in shares:
            if rank < len(hits):
                in_order.setdefault(hits[rank].id, hits[rank])
    return tuple(in_order.values())


def _brought(hits: Sequence[Hit], kept: Sequence[Hit]) -> list[Hit]:
    ids = {hit.id for hit in kept}
    brought = []
    for hit in hits:
        if hit.brought_by in ids and hit.id not in ids:
            ids.add(hit.id)
            brought.append(hit)
    return brought
