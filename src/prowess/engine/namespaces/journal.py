"""`engine.journal`: what happened."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from prowess.journal import Journal, JournalPosition
from prowess.journal.search import EVERYTHING, JournalSearch
from prowess.types import Head, JournalEntry


@dataclass(frozen=True, slots=True)
class JournalHistory:
    """What happened, in order, in one chain for each agent and one for what concerns no agent."""

    _journal: Journal

    def latest(
        self,
        limit: int = 50,
        agent: str | None = None,
        type: str = "*",
        before: JournalPosition | None = None,
        search: JournalSearch = EVERYTHING,
    ) -> tuple[JournalEntry, ...]:
        """The newest entries, oldest first.

        limit: at most so many.
        agent: only the chain of this agent; "" for that of no agent, None for all.
        type: only entries of this type, such as "offer" or "provider.*", where `*` stands for anything.
        before: only what is older than this place: (time, chain, number) of an entry.
        search: only what has these words, is not older than a time, or went wrong.
        """
        return self._journal.latest(limit, agent, type, before, search)

    def after(self, seen: Iterable[Head], most: int | None = None) -> tuple[JournalEntry, ...]:
        """What came after these heads, in order of time.

        seen: heads from an earlier call of `heads`.
        most: at most so many of each chain.
        """
        return self._journal.after(seen, most)

    def heads(self) -> tuple[Head, ...]:
        """The end of each chain: how many entries it has, and the hash of the last."""
        return self._journal.heads()

    def per_hour(self, type: str, since: datetime) -> dict[str, int]:
        """How often something happened in each hour, by hours such as "2026-11-16T22".

        type: the type of the entries, such as "offer".
        since: from when on.
        """
        return self._journal.per_hour(type, since)

    def verify(self, exported: Iterable[Head] = ()) -> tuple[Head, ...]:
        """Walk every chain to its head; raises JournalBroken at the first thing that is wrong.

        exported: heads that were kept elsewhere and must still be there.
        """
        return self._journal.verify(exported)
