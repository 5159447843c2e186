"""The decisions that the journal holds, each with the arguments of its call where those are kept."""

from collections.abc import Iterator

import msgspec

from prowess.journal import Journal
from prowess.journal.entries import Called, Decided
from prowess.journal.journal import JournalPosition
from prowess.journal.payloads import Payloads
from prowess.journal.reading import read
from prowess.policy.replay import PastDecision
from prowess.types import JournalEntry, JsonObject

PAGE = 1000


def past_decisions(journal: Journal, payloads: Payloads, most: int) -> Iterator[PastDecision]:
    """The latest of them, the newest page first, in each page the oldest first."""
    digests = _arguments(journal, most)
    for page in _pages(journal, Decided.type, most):
        decided = [(stored, entry) for stored in page if isinstance(entry := read(stored), Decided)]
        kept = payloads.read({digests[one.call] for _, one in decided if one.call in digests})
        for stored, one in decided:
            yield PastDecision(
                at=stored.at,
                agent=stored.chain,
                capability=one.capability,
                verdict=one.rules,
                arguments=_read(kept.get(digests.get(one.call, ""), "")),
            )


def _arguments(journal: Journal, most: int) -> dict[str, str]:
    """Call -> the digest of what it was given."""
    calls = (read(stored) for page in _pages(journal, Called.type, most) for stored in page)
    return {one.call: one.arguments for one in calls if isinstance(one, Called) and one.arguments}


def _pages(journal: Journal, type: str, most: int) -> Iterator[tuple[JournalEntry, ...]]:
    before: JournalPosition | None = None
    for _ in range(0, most, PAGE):
        page = journal.latest(PAGE, None, type, before)
        yield page
        if len(page) < PAGE:
            return
        before = JournalPosition(page[0].at, page[0].chain, page[0].number)


def _read(text: str) -> JsonObject | None:
    if not text:
        return None
    found = msgspec.json.decode(text)
    return found if isinstance(found, dict) else None
