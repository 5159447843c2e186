"""Standard input and output as a transport, read and written by the event loop itself.

The SDK's own reads and writes each line in a worker thread, which costs a call several changes of thread
and cannot be interrupted. It goes on where `first_answers` stopped.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse, jsonrpc_message_adapter

from prowess.gateway.first_answers import CHUNK, Pipes
from prowess.sources.mcp.repair import mended

BUFFERED = 32
"""Messages that may wait, so that reading, working and writing need not take turns."""
MAX_MESSAGE_BYTES = 64 * 1024 * 1024

Incoming = SessionMessage | Exception


class Wire(NamedTuple):
    incoming: MemoryObjectReceiveStream[Incoming]
    outgoing: MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def connected(pipes: Pipes) -> AsyncIterator[Wire]:
    """The client at the other end of these pipes."""
    os.set_blocking(pipes.writing, False)
    arriving, incoming = anyio.create_memory_object_stream[Incoming](BUFFERED)
    outgoing, leaving = anyio.create_memory_object_stream[SessionMessage](BUFFERED)
    async with anyio.create_task_group() as tasks, arriving, incoming, outgoing, leaving:
        tasks.start_soon(_read, pipes, arriving)
        tasks.start_soon(_write, pipes, leaving)
        yield Wire(incoming, outgoing)
        tasks.cancel_scope.cancel()


async def _read(pipes: Pipes, arriving: MemoryObjectSendStream[Incoming]) -> None:
    rest = bytearray()
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with arriving:
            async for chunk in _chunks(pipes):
                if len(rest) > MAX_MESSAGE_BYTES:
                    return
                if b"\n" not in chunk:
                    rest += chunk
                    continue
                *lines, last = (bytes(rest) + chunk).split(b"\n")
                rest = bytearray(last)
                for line in lines:
                    if line.strip():
                        await arriving.send(_parsed(line))


async def _chunks(pipes: Pipes) -> AsyncIterator[bytes]:
    """What was read already, and then what comes, until the client leaves."""
    chunk = pipes.received or await _chunk(pipes.reading)
    while chunk:
        yield chunk
        chunk = await _chunk(pipes.reading)


async def _chunk(descriptor: int) -> bytes:
    await anyio.wait_readable(descriptor)
    return os.read(descriptor, CHUNK)


def _parsed(line: bytes) -> Incoming:
    try:
        # Half a character, which no parser takes, costs that character and not the answer.
        return SessionMessage(jsonrpc_message_adapter.validate_json(mended(line), by_name=False))
    except ValueError as error:
        return error


async def _write(pipes: Pipes, leaving: MemoryObjectReceiveStream[SessionMessage]) -> None:
    with suppress(BrokenPipeError):  # the client is gone; its end of our input closes too
        answered = pipes.answered
        async for item in leaving:
            if answered is not None and _answers(item, answered):
                answered = None
                continue
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            left = memoryview(text.encode() + b"\n")
            while left:
                try:
                    left = left[os.write(pipes.writing, left) :]
                except BlockingIOError:
                    await anyio.wait_writable(pipes.writing)


def _answers(item: SessionMessage, id: str | int) -> bool:
    return isinstance(item.message, JSONRPCResponse) and item.message.id == id
