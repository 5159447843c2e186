"""What is opened and closed in a worker thread, since it may wait: others are served meanwhile."""

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from functools import partial
from typing import TypeVar

import anyio
from anyio import to_thread

Opened = TypeVar("Opened")


@asynccontextmanager
async def in_thread(opening: AbstractContextManager[Opened]) -> AsyncIterator[Opened]:
    with ExitStack() as stack:
        opened = await to_thread.run_sync(partial(stack.enter_context, opening))
        held = stack.pop_all()
    try:
        yield opened
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(held.close)
