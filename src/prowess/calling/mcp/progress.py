"""What a server reports of its progress, on its way to a client that may read slowly or not at all."""

from collections import deque
from typing import NamedTuple

import anyio
from mcp.shared.dispatcher import ProgressFnT

MOST_WAITING = 16
LONGEST_KEPT = 64 * 1024
"""Characters of a message beyond which nothing older waits beside it."""


class Report(NamedTuple):
    progress: float
    total: float | None
    message: str | None


class Reports:
    """The newest reports of one call; whoever reads too slowly misses older ones, and holds up nothing."""

    def __init__(self, tell: ProgressFnT) -> None:
        self._tell = tell
        self._waiting: deque[Report] = deque(maxlen=MOST_WAITING)
        self._scope: anyio.CancelScope | None = None
        self._over = False

    async def add(self, report: Report) -> None:
        """Tell the client, unless somebody already does: then it waits its turn there."""
        if len(report.message or "") > LONGEST_KEPT:
            self._waiting.clear()
        self._waiting.append(report)
        if self._scope is not None or self._over:
            return
        with anyio.CancelScope() as self._scope:
            while self._waiting and not self._over:
                await self._tell(*self._waiting.popleft())
        self._scope = None

    def end(self) -> None:
        """The call is over: nobody waits for a report any more."""
        self._over = True
        if self._scope is not None:
            self._scope.cancel()
