"""How an MCP server is started or called, and what is remembered of how it behaved.

Above: the `mcp` source, which lists what a server offers; the gateway, which calls it.
Below: the official SDK, whose client speaks the protocol. Importing this module imports the SDK,
so it is imported inside functions only. Three things differ from the SDK's own transports: a started
server never outlives its connection (nor do the processes it started), no message can fill the memory,
and one bad entry of a list does not cost the rest of the list.
"""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from shutil import which
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import Client, MCPError
from mcp.client.extension import advertise
from mcp.client.session import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestParams,
    Implementation,
    ListRootsRequest,
)

from prowess.errors import SourceError
from prowess.sources.mcp.address import Address
from prowess.sources.mcp.connection import Party
from prowess.sources.mcp.diagnostics import REMEMBERED_STDERR, SECONDS_BETWEEN, Conduct, Incoming, Sifted
from prowess.sources.mcp.failure import cause
from prowess.sources.mcp.isolation import start_of
from prowess.sources.mcp.repair import Mending, read_message
from prowess.sources.mcp.self_check import CHAINED, HEADER, NAME, REMEDY, VARIABLE

if TYPE_CHECKING:
    # The SDK exports the protocol of a transport but not the type of what it yields.
    from mcp.client._transport import TransportStreams

TASKS = "io.modelcontextprotocol/tasks"
APPS = "io.modelcontextprotocol/ui"
APP_PAGE = "text/html;profile=mcp-app"
LARGEST_MESSAGE = 64 * 1024 * 1024
LARGE_PIECE = 512 * 1024
NOISE_AT_ONCE = 500
BUFFERED = 32
"""Messages that may wait, so that reading and working need not take turns."""

LEASH = 'read never; sleep 2; kill -s KILL -- "-$1"'
SECONDS_TO_LEAVE = 1.0
"""How long a server may take to end by itself once its input is closed, and again once it is told to."""


@asynccontextmanager
async def connect(address: Address, conduct: Conduct, party: Party) -> AsyncGenerator[Client]:
    """Reach the server at a resolved address and agree on a protocol revision with it."""
    _keep_the_sdk_from_printing()
    async with AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(_client(address, conduct, party, "auto"))
        except Exception as error:
            # Some servers of older revisions end when the first message is not `initialize`.
            if address.url or not _closed(cause(error)):
                raise
            client = await stack.enter_async_context(_client(address, conduct, party, "legacy"))
        if client.server_info is not None and client.server_info.name == NAME:
            raise SourceError(address.place, CHAINED, REMEDY)
        conduct.version = client.protocol_version
        yield client


def _keep_the_sdk_from_printing() -> None:
    """Whoever sets logging up sees the SDK's records; nobody else gets its tracebacks on the terminal."""
    for name in ("mcp", "client"):
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())


def _closed(error: BaseException) -> bool:
    return isinstance(error, MCPError) and error.code == CONNECTION_CLOSED


@asynccontextmanager
async def _client(address: Address, conduct: Conduct, party: Party, mode: str) -> AsyncGenerator[Client]:
    async def elicit(context: ClientRequestContext, params: ElicitRequestParams) -> Any:
        return await party.answer(ElicitRequest(params=params))

    async def sample(context: ClientRequestContext, params: CreateMessageRequestParams) -> Any:
        return await party.answer(CreateMessageRequest(params=params))

    async def list_roots(context: ClientRequestContext) -> Any:
        return await party.answer(ListRootsRequest())

    client = Client(
        _called(address, conduct, party.auth) if address.url else _started(address, conduct),
        mode=mode,
        client_info=Implementation(name="prowess", version=_version()),
        # Without the cache a list is what the server offers now, not what it offered within its ttl.
        cache=None,
        elicitation_callback=elicit,
        sampling_callback=sample,
        list_roots_callback=list_roots,
        message_handler=party.heard,
        # Some servers show their pages only to clients that say so; whether ours can, it sees by itself.
        # A task is followed until it has its result, so to whoever calls it is a call like any other.
        extensions=[advertise(APPS, {"mimeTypes": [APP_PAGE]}), advertise(TASKS)],
    )
    async with client:
        yield client


def _version() -> str:
    try:
        return version("prowess")
    except PackageNotFoundError:
        return "0"


# --- over HTTP -------------------------------------------------------------------------------


@asynccontextmanager
async def _called(
    address: Address, conduct: Conduct, auth: httpx2.Auth | None
) -> AsyncGenerator["TransportStreams"]:
    async def bounded(response: httpx2.Response) -> None:
        conduct.status = response.status_code
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Body(response, conduct)
            # What comes out of it is decoded, and must not be decoded again.
            response.headers.pop("content-encoding", None)
            response.headers.pop("content-length", None)

    timeout = httpx2.Timeout(30, read=300)
    hooks = {"response": [bounded]}
    async with (
        httpx2.AsyncClient(
            headers={**address.headers, HEADER: "1"}, timeout=timeout, event_hooks=hooks, auth=auth
        ) as http,
        streamable_http_client(address.url, http_client=http, max_sse_event_size=LARGEST_MESSAGE) as (
            incoming,
            outgoing,
        ),
    ):
        yield Sifted(incoming, conduct), outgoing


class _Body(httpx2.AsyncByteStream):
    """What a server answers, decoded piece by piece: broken text mended, and an end before the memory's."""

    def __init__(self, response: httpx2.Response, conduct: Conduct) -> None:
        kind = response.headers.get("content-type", "").lower()
        self._has_events = kind.startswith("text/event-stream")
        self._conduct = conduct
        codings = response.headers.get_list("content-encoding")
        self._encoded = httpx2.Response(
            response.status_code,
            headers=[("content-encoding", coding) for coding in codings],
            stream=response.stream,
            request=response.request,
        )

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, mending = 0, Mending()
        try:
            async for piece in self._encoded.aiter_bytes():
                size = self._size(size, piece)
                if size > LARGEST_MESSAGE:
                    self._conduct.too_long = self._has_events
                    raise httpx2.StreamError(f"it is longer than {LARGEST_MESSAGE // 2**20} MiB")
                yield mending.feed(piece)
                if len(piece) > LARGE_PIECE:
                    # Many of them can come out of little that arrived; others get their turn in between.
                    await anyio.sleep(SECONDS_BETWEEN)
        except httpx2.HTTPError as error:
            # The SDK tells the caller of this one and would leave them waiting after any other.
            raise httpx2.StreamError(f"it broke off: {error}") from error
        yield mending.rest()

    def _size(self, so_far: int, piece: bytes) -> int:
        """Of one message: a stream of events may go on for ever, none of them may."""
        last = (
            max(piece.rfind(b"\n\n"), piece.rfind(b"\n\r\n"), piece.rfind(b"\r\r"))
            if self._has_events
            else -1
        )
        return so_far + len(piece) if last < 0 else len(piece) - last

    async def aclose(self) -> None:
        await self._encoded.aclose()


# --- over pipes ------------------------------------------------------------------------------


@asynccontextmanager
async def _started(address: Address, conduct: Conduct) -> AsyncGenerator["TransportStreams"]:
    process = await _start(address)
    arriving, incoming = anyio.create_memory_object_stream[Incoming](BUFFERED)
    outgoing, leaving = anyio.create_memory_object_stream[SessionMessage](BUFFERED)
    async with _leash(process), anyio.create_task_group() as tasks, arriving, incoming, outgoing, leaving:
        tasks.start_soon(_read, process, arriving, conduct)
        tasks.start_soon(_write, process, leaving, arriving)
        tasks.start_soon(_listen, process, conduct)
        try:
            yield Sifted(incoming, conduct), outgoing
        finally:
            # A cancelled caller must not leave a server behind; every wait inside is bounded.
            with anyio.CancelScope(shield=True):
                await _stop(process, conduct)
            tasks.cancel_scope.cancel()


async def _start(address: Address) -> Process:
    path = address.env.get("PATH") or os.environ.get("PATH", "")
    command = (_executable(address.command, path), *address.args)
    env = {**address.env, VARIABLE: "1"}
    start = start_of(command, env, address.cwd, address.isolation, address.command)
    return await anyio.open_process(
        start.command,
        env=start.environment,
        cwd=start.cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Its own group, so that whatever it starts can be ended with it.
        start_new_session=True,
    )


@asynccontextmanager
async def _leash(process: Process) -> AsyncGenerator[None]:
    """See to it that the server ends also if this process is killed, whatever it hangs in.

    A shell waits for the end of its input, which only our end closes, and then ends the server's group.
    """
    leash: Process | None = None
    with suppress(OSError):
        if sys.platform != "win32":
            leash = await anyio.open_process(
                ["/bin/sh", "-c", LEASH, "sh", str(process.pid)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
    try:
        yield
    finally:
        if leash is not None:
            with anyio.CancelScope(shield=True), suppress(ProcessLookupError):
                leash.kill()
                await leash.aclose()


def _executable(command: str, path: str) -> str:
    command = os.path.expanduser(command)
    if sys.platform == "win32":  # There `npx` is a script that only its full name starts.
        return which(command, path=path) or command
    return command


async def _read(process: Process, arriving: MemoryObjectSendStream[Incoming], conduct: Conduct) -> None:
    assert process.stdout is not None
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with arriving:
            async for line in _lines(process.stdout, conduct):
                message = read_message(line)
                if message is None:
                    conduct.heard(line)
                    if conduct.noise % NOISE_AT_ONCE == 0:
                        await anyio.sleep(SECONDS_BETWEEN)
                else:
                    await arriving.send(SessionMessage(message))
    conduct.ended = True
    # A server blocked on a full pipe could not end by itself.
    with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        while not conduct.too_long:
            await process.stdout.receive()


async def _lines(stream: ByteReceiveStream, conduct: Conduct) -> AsyncGenerator[bytes]:
    parts: list[bytes] = []
    size = 0
    async for chunk in stream:
        *complete, rest = chunk.split(b"\n")
        for piece in complete:
            line = b"".join((*parts, piece))
            parts, size = [], 0
            if line.strip():
                yield line
        parts.append(rest)
        size += len(rest)
        if size > LARGEST_MESSAGE:
            conduct.too_long = True
            return


async def _write(
    process: Process,
    leaving: MemoryObjectReceiveStream[SessionMessage],
    arriving: MemoryObjectSendStream[Incoming],
) -> None:
    assert process.stdin is not None
    try:
        async for item in leaving:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            await process.stdin.send(text.encode() + b"\n")
    except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        # Nothing more can be asked, so nobody should wait for an answer.
        await arriving.aclose()


async def _listen(process: Process, conduct: Conduct) -> None:
    """Read standard error as fast as it comes, so that it never blocks the server, and keep its end."""
    assert process.stderr is not None
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async for chunk in process.stderr:
            conduct.stderr = (conduct.stderr + chunk)[-REMEMBERED_STDERR:]


async def _stop(process: Process, conduct: Conduct) -> None:
    assert process.stdin is not None
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.aclose()
    if await _ended(process):
        conduct.exit_code = process.returncode
    else:
        _signal_group(process, signal.SIGTERM)
        await _ended(process)
    # Also when the server ended by itself: what it started may still run.
    _signal_group(process, getattr(signal, "SIGKILL", signal.SIGTERM))
    await _ended(process)
    _release(process)


async def _ended(process: Process) -> bool:
    """Whether it ends within its time. `Process.wait` would also wait for whoever inherited the pipes."""
    with anyio.move_on_after(SECONDS_TO_LEAVE):
        while process.returncode is None:
            await anyio.sleep(0.01)
    return process.returncode is not None


def _signal_group(process: Process, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, number)


def _release(process: Process) -> None:
    """Close the pipes on our side; a process that left the group may hold the other ends for ever."""
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    if transport is not None:
        with suppress(PermissionError, ProcessLookupError):
            transport.close()
