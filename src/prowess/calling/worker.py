"""Work that waits for the store, in a thread beside whichever event loop asks for it."""

from collections.abc import Callable
from typing import TypeVar

from anyio import to_thread

Returned = TypeVar("Returned")


class ThreadWorker:
    async def do(self, work: Callable[..., Returned], *arguments: object) -> Returned:
        """Do this in a thread; what was begun is finished, also when nobody waits for it any more."""
        return await to_thread.run_sync(work, *arguments)
