"""The gateway over a client's pipes: one client, one agent, until the client goes."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import anyio
from anyio import to_thread
from mcp.server.stdio import stdio_server

from prowess.calling.caller import Caller
from prowess.errors import ProwessError
from prowess.gateway.first_answers import FirstAnswers
from prowess.gateway.gateway import Gateway
from prowess.gateway.introduction import introduction
from prowess.gateway.kept_introduction import keep
from prowess.gateway.server import build
from prowess.gateway.stdio_transport import connected

LONGEST_SYNC = 60.0
SECONDS_BETWEEN = 10.0
"""How long what changed may take until the next start knows it."""
SIGNALS = (signal.SIGTERM, signal.SIGINT)


def serve_stdio(gateway: Gateway, agent: str, first: FirstAnswers | None) -> None:
    """Serve the client of our pipes until it leaves; `first` has been answering it until now."""
    anyio.run(_serve, gateway, Caller(agent), first)


async def _serve(gateway: Gateway, caller: Caller, first: FirstAnswers | None) -> None:
    # Whoever started this process holds its pipes; whether they are the person to ask, the config says.
    server = build(gateway, lambda context: caller, may_answer=gateway.config.approvals == "client")
    async with gateway.running(), anyio.create_task_group() as tasks:
        with _told_to_leave() as told:
            tasks.start_soon(_leave_when_told, gateway, told)
            tasks.start_soon(_keep_introduction, gateway, caller)
            # A terminal or a file cannot be waited for by the event loop.
            async with connected(first.hand_over()) if first else stdio_server() as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _keep_introduction(gateway: Gateway, caller: Caller) -> None:
    """Write down what clients are told at the beginning: the next one is told before anything is loaded."""
    file = gateway.config_file
    if file is None:
        return
    written = ""
    await gateway.synced(LONGEST_SYNC)
    while True:
        with suppress(ProwessError):
            told = await to_thread.run_sync(introduction, gateway.engine, caller)
            if told != written:
                policies = gateway.engine.internals.policy.files
                await to_thread.run_sync(keep, file, policies, caller.agent, os.environ, told)
                written = told
        await anyio.sleep(SECONDS_BETWEEN)


class _Told:
    """That the process is to end, and by which signal."""

    def __init__(self) -> None:
        self.came = anyio.Event()
        self.number = 0


@contextmanager
def _told_to_leave() -> Iterator[_Told]:
    """Not by the event loop's own way: the pipe into which signals are written belongs to whoever serves."""
    told, loop = _Told(), asyncio.get_running_loop()

    def tell(number: int, frame: object) -> None:
        told.number = number
        loop.call_soon_threadsafe(told.came.set)

    before = {number: signal.signal(number, tell) for number in SIGNALS}
    try:
        yield told
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def _leave_when_told(gateway: Gateway, told: _Told) -> None:
    await told.came.wait()
    await gateway.upstreams.stop()
    # A thread that waits for input cannot be woken; everything else has ended.
    os._exit(128 + told.number)
