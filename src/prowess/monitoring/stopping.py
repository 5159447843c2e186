"""A server that was told to stop: it says so, finishes what it began, and goes.

First `/readyz` turns while everybody is still served, so that whoever spreads requests sends them elsewhere;
then new ones are refused and those in flight end. A stream that stands open for news is no call: nobody waits
for it.
"""

import asyncio
import socket
import time
from dataclasses import dataclass
from types import FrameType

import anyio
import uvicorn

from prowess.monitoring.monitored import Monitored

SECONDS_TO_FINISH = 1
"""How long streams may take to close at the very end."""
SECONDS_BETWEEN_LOOKS = 0.02


@dataclass(frozen=True, slots=True)
class StopTimes:
    drain: float = 0.0
    """Seconds in which new requests are still taken."""
    grace: float = 1.0
    """Seconds that those in flight may take then."""


async def serve_until_told(
    app: Monitored, config: uvicorn.Config, times: StopTimes, door: socket.socket | None = None
) -> None:
    """Serve until SIGTERM or SIGINT; a second one ends what is in flight, too."""
    server = uvicorn.Server(config)
    loop, told = asyncio.get_running_loop(), asyncio.Event()

    def on_signal(sig: int, frame: FrameType | None) -> None:
        if app.stopping.is_told:
            server.should_exit = True
        app.stopping.is_told = True
        loop.call_soon_threadsafe(told.set)

    # Its own would raise the signal again at the end, when everything here may close.
    server.handle_exit = on_signal  # type: ignore[method-assign]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_leave, app, server, told, times)
        await server.serve(sockets=[door] if door else None)
        tasks.cancel_scope.cancel()


async def _leave(app: Monitored, server: uvicorn.Server, told: asyncio.Event, times: StopTimes) -> None:
    await told.wait()
    await anyio.sleep(times.drain)
    app.stopping.refuses = True
    for listening in server.servers:
        listening.close()
    until = time.monotonic() + times.grace
    while app.stopping.calls and time.monotonic() < until:
        await anyio.sleep(SECONDS_BETWEEN_LOOKS)
    server.should_exit = True
