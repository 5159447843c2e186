"""The gateway over a client's pipes: one client, one agent, until the client goes."""

import os
import signal

import anyio
from mcp.server.stdio import stdio_server

from prowess.gateway.caller import Caller
from prowess.gateway.gateway import Gateway
from prowess.gateway.pipes import pipes, servable
from prowess.gateway.server import build

SIGNALS = (signal.SIGTERM, signal.SIGINT)


def serve_stdio(gateway: Gateway, agent: str) -> None:
    anyio.run(_serve, gateway, Caller(agent))


async def _serve(gateway: Gateway, caller: Caller) -> None:
    # Whoever started this process holds its pipes; whether they are the person to ask, the config says.
    server = build(gateway, lambda context: caller, may_answer=gateway.config.approvals == "client")
    async with gateway.running(), anyio.create_task_group() as tasks:
        tasks.start_soon(_leave_when_told, gateway)
        # A terminal or a file cannot be waited for by the event loop.
        async with pipes() if servable() else stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _leave_when_told(gateway: Gateway) -> None:
    with anyio.open_signal_receiver(*SIGNALS) as signals:
        async for number in signals:
            await gateway.upstreams.stop()
            # A thread that waits for input cannot be woken; everything else has ended.
            os._exit(128 + number)
