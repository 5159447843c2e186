"""Standard input and output as a transport, read and written by the event loop itself.

The SDK's own reads and writes each line in a worker thread, which costs a call several changes of thread
and cannot be interrupted. While this lasts, whatever else the process prints goes to standard error, and
whatever reads standard input reads nothing. Only pipes and sockets can be served so; see `servable`.
"""

import os
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from prowess.sources.mcp.repair import mended

CHUNK = 256 * 1024
BUFFERED = 32
"""Messages that may wait, so that reading, working and writing need not take turns."""
MAX_MESSAGE_BYTES = 64 * 1024 * 1024

Incoming = SessionMessage | Exception


class Wire(NamedTuple):
    incoming: MemoryObjectReceiveStream[Incoming]
    outgoing: MemoryObjectSendStream[SessionMessage]


def servable() -> bool:
    if sys.platform == "win32":
        return False
    modes = [os.fstat(descriptor).st_mode for descriptor in (0, 1)]
    return all(stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) for mode in modes)


@asynccontextmanager
async def pipes() -> AsyncIterator[Wire]:
    """The client at the other end of our standard input and output."""
    reading, writing = _claimed(0, os.open(os.devnull, os.O_RDONLY)), _claimed(1, os.dup(2))
    os.set_blocking(writing, False)
    arriving, incoming = anyio.create_memory_object_stream[Incoming](BUFFERED)
    outgoing, leaving = anyio.create_memory_object_stream[SessionMessage](BUFFERED)
    async with anyio.create_task_group() as tasks, arriving, incoming, outgoing, leaving:
        tasks.start_soon(_read, reading, arriving)
        tasks.start_soon(_write, writing, leaving)
        yield Wire(incoming, outgoing)
        tasks.cancel_scope.cancel()


def _claimed(descriptor: int, instead: int) -> int:
    """A private copy of a standard descriptor, which from now on leads elsewhere."""
    private = os.dup(descriptor)
    os.dup2(instead, descriptor)
    os.close(instead)
    return private


async def _read(descriptor: int, arriving: MemoryObjectSendStream[Incoming]) -> None:
    rest = bytearray()
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with arriving:
            while True:
                await anyio.wait_readable(descriptor)
                chunk = os.read(descriptor, CHUNK)
                if not chunk or len(rest) > MAX_MESSAGE_BYTES:
                    return
                if b"\n" not in chunk:
                    rest += chunk
                    continue
                *lines, last = (bytes(rest) + chunk).split(b"\n")
                rest = bytearray(last)
                for line in lines:
                    if line.strip():
                        await arriving.send(_parsed(line))


def _parsed(line: bytes) -> Incoming:
    try:
        # Half a character, which no parser takes, costs that character and not the answer.
        return SessionMessage(jsonrpc_message_adapter.validate_json(mended(line), by_name=False))
    except ValueError as error:
        return error


async def _write(descriptor: int, leaving: MemoryObjectReceiveStream[SessionMessage]) -> None:
    with suppress(BrokenPipeError):  # the client is gone; its end of our input closes too
        async for item in leaving:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            left = memoryview(text.encode() + b"\n")
            while left:
                try:
                    left = left[os.write(descriptor, left) :]
                except BlockingIOError:
                    await anyio.wait_writable(descriptor)
