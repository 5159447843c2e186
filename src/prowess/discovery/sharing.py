"""How several needs share the places of one answer: each brings its best in turn, and none crowds another."""

from collections.abc import Sequence

from prowess.types import Hit


def in_turn(found: Sequence[Sequence[Hit]], places: int) -> tuple[tuple[Hit, ...], ...]:
    """What each need keeps of its hits, best first, when all together have so many places.

    Each has its first before any has a second; where places are fewer than needs, the surest come first,
    since a step that is no more than a few words of the one before finds nothing for sure. What serves two
    needs takes one place. What a kept hit brings along takes none.
    """
    own = [[hit for hit in hits if not hit.brought_by] for hits in found]
    taken: set[str] = set()
    kept: list[list[Hit]] = [[] for _ in found]
    for rank in range(max(map(len, own), default=0)):
        reaching = [(hits[rank], keeps) for hits, keeps in zip(own, kept, strict=True) if rank < len(hits)]
        for hit, keeps in sorted(reaching, key=lambda each: -each[0].score):
            if hit.id in taken or len(taken) < places:
                taken.add(hit.id)
                keeps.append(hit)
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
