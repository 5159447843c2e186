"""Where the work of a call is done that an event loop must not wait for: the store, and long texts."""

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import anyio
from anyio import to_thread

Returned = TypeVar("Returned")


class ThreadWorker:
    """In threads beside whichever event loop asks; what was begun is finished, also when nobody waits."""

    async def do(self, work: Callable[..., Returned], *arguments: object) -> Returned:
        return await to_thread.run_sync(work, *arguments)

    async def finish(self, work: Callable[..., Returned], *arguments: object) -> Returned:
        with anyio.CancelScope(shield=True):
            done = await to_thread.run_sync(work, *arguments)
        return done

    async def aside(self, work: Callable[..., Returned], *arguments: object) -> Returned:
        return await to_thread.run_sync(work, *arguments)


class InlineWorker:
    """At once, in the thread of a program that waits for its call anyway."""

    async def do(self, work: Callable[..., Returned], *arguments: object) -> Returned:
        return work(*arguments)

    async def finish(self, work: Callable[..., Returned], *arguments: object) -> Returned:
        return work(*arguments)

    async def aside(self, work: Callable[..., Returned], *arguments: object) -> Returned:
        return work(*arguments)


def driven(call: Coroutine[Any, Any, Returned]) -> Returned:
    """The result of a call whose every step is done inline: it never waits, and needs no event loop."""
    try:
        call.send(None)
    except StopIteration as done:
        result: Returned = done.value
        return result
    call.close()
    raise RuntimeError("a step of this call waits for an event loop")
