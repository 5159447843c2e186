"""A pause in an event loop that ends early when it is told to, from any thread."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

import anyio

GATHER = 0.05
"""Seconds to gather what changes at once into one look."""
Told = Callable[[Callable[[], None]], AbstractContextManager[None]]
Pause = Callable[[float], Awaitable[None]]


@contextmanager
def waking(told: Told) -> Iterator[Pause]:
    """What waits for so many seconds, or until something happened since it last waited.

    told: calls what it is given whenever something happened, while its block lasts.
    """
    loop, happened = asyncio.get_running_loop(), asyncio.Event()

    def tell() -> None:
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(happened.set)

    async def pause(seconds: float) -> None:
        with anyio.move_on_after(seconds):
            await happened.wait()
            await anyio.sleep(GATHER)
        happened.clear()

    with told(tell):
        yield pause
