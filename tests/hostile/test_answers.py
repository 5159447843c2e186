"""Answers of servers that are too large, or broken."""

import json
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

import anyio
import pytest

from prowess.sources.mcp.source import McpSource
from tests.support.gateway import OWNER, call, served, shelf, text_of, workshop, world, write_config
from tests.support.wire import Answer, HttpServer, Pipes, memory, result, told, tool

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(120)]

MIB = 1024 * 1024


def squeezed(body: Iterable[bytes], bits: int) -> Iterator[bytes]:
    squeeze = zlib.compressobj(wbits=bits)
    for piece in body:
        yield squeeze.compress(piece)
    yield squeeze.flush()


ENCODINGS: dict[str, Callable[[Iterable[bytes]], Iterable[bytes]]] = {
    "gzip": lambda body: squeezed(body, 31),
    "deflate": lambda body: squeezed(body, -15),
    "gzip, gzip": lambda body: squeezed(squeezed(body, 31), 31),
    "": iter,
}
How = Callable[[str, str, int], Callable[[object], Answer]]


def long(id: object, text: str, times: int) -> Iterator[bytes]:
    before, _, after = result(id, "TEXT").partition(b"TEXT")
    yield before
    for _ in range(times):
        yield text.encode()
    yield after


def plain(coding: str, text: str, times: int = 1) -> Callable[[object], Answer]:
    headers = {"content-encoding": coding} if coding else {}
    return lambda id: ("application/json", headers, b"".join(ENCODINGS[coding](long(id, text, times))))


def streamed(coding: str, text: str, times: int = 1) -> Callable[[object], Answer]:
    headers = {"content-encoding": coding} if coding else {}

    def answer(id: object) -> Answer:
        event = chain((b"event: message\ndata: ",), long(id, text, times), (b"\n\n",))
        return "text/event-stream", headers, b"".join(ENCODINGS[coding](event))

    return answer


@pytest.mark.parametrize("coding", ENCODINGS)
@pytest.mark.parametrize("how", [plain, streamed])
async def test_an_answer_that_is_small_until_it_is_decoded_is_stopped_at_the_limit(
    tmp_path: Path, how: How, coding: str
) -> None:
    bomb, small = how(coding, "x" * MIB, 100 if coding else 80), how(coding, "small", 1)
    with HttpServer({"bomb": bomb, "small": small}) as server:
        source = McpSource(name="web", url=server.url)
        async with world(tmp_path, source) as here, here.client() as client:
            assert text_of(await call(client, "tool:web/small")) == "small"
            peak = before = memory()

            async def watch() -> None:
                nonlocal peak
                while True:
                    peak = max(peak, memory())
                    await anyio.sleep(0.02)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(watch)
                answer = await call(client, "tool:web/bomb")
                tasks.cancel_scope.cancel()
            why = "the server's answer cannot be read: it is longer than 64 MiB"
            endless = "the server sent a message without end and was stopped"
            assert answer.is_error and (endless if how is streamed else why) in text_of(answer)
            assert peak - before < 500 * MIB
            assert text_of(await call(client, "tool:web/small")) == "small"


BROKEN = {
    "half a character": (r"cut \ud83d", "cut \ufffd"),
    "the other half": (r"\ude00 cut", "\ufffd cut"),
    "halves in the wrong order": (r"\ude00\ud83d", "\ufffd\ufffd"),
    "a whole one": (r"\ud83d\ude00", "\U0001f600"),
    "no escape at all": (r"\\ud83d", r"\ud83d"),
}


@pytest.mark.parametrize("way", BROKEN)
async def test_half_a_character_in_a_result_costs_that_character(tmp_path: Path, way: str) -> None:
    text, shown = BROKEN[way]
    raw = {"cut": result("@", text).decode().replace('"@"', "ID")}
    pipes = told(tmp_path, "pipes", {"tools": [tool("cut")], "raw": raw})
    with HttpServer({"cut": plain("", text), "streamed": streamed("gzip", text)}) as server:
        web = McpSource(name="web", url=server.url)
        async with world(tmp_path, pipes, web) as here, here.client() as client:
            for id in ("tool:pipes/cut", "tool:web/cut", "tool:web/streamed"):
                assert text_of(await call(client, id)) == shown


def test_half_a_character_of_a_client_over_pipes_costs_that_character(tmp_path: Path) -> None:
    with Pipes(served(write_config(tmp_path, OWNER, workshop()))) as client:
        client.begin()
        assert client.text(client.call("tool:shop/echo", {"text": "cut \ud83d"}), 60) == "cut \ufffd"
        assert client.text(client.call("tool:shop/echo", {"text": "whole \U0001f600"})) == "whole \U0001f600"


UNREADABLE = {
    "cut_off": '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a',
    "no_object": '{"jsonrpc":"2.0","id":ID,"result":"done"}',
    "deep": '{"jsonrpc":"2.0","id":ID,"result":{"a":' + "[" * 5000 + "]" * 5000 + "}}",
}


@pytest.mark.parametrize("way", UNREADABLE)
async def test_an_answer_that_cannot_be_read_ends_its_call_at_once(tmp_path: Path, way: str) -> None:
    pipes = told(tmp_path, "pipes", {"tools": [tool(way)], "raw": UNREADABLE})

    def broken(id: object) -> Answer:
        return "application/json", {}, UNREADABLE[way].replace("ID", json.dumps(id)).encode()

    with HttpServer({way: broken}) as server:
        web = McpSource(name="web", url=server.url)
        async with world(tmp_path, pipes, web, timeout=30.0) as here, here.client() as client:
            for id in (f"tool:pipes/{way}", f"tool:web/{way}"):
                started = time.monotonic()
                answer = await call(client, id)
                assert time.monotonic() - started < 10
                assert answer.is_error and "the server's answer cannot be read" in text_of(answer)


async def test_half_a_character_in_one_tool_costs_no_tool(tmp_path: Path, store_url: str) -> None:
    tools = [tool("fine"), {**tool("cut"), "description": "Cuts \ud83d things."}, tool("also_fine")]
    pipes = told(tmp_path, "pipes", {"tools": tools})
    async with world(tmp_path, pipes, store=store_url) as here:
        described = {one.name: one.description for one in here.engine.catalogue.list()}
        assert described == {
            "fine": "Looks up a record.",
            "cut": "Cuts \ufffd things.",
            "also_fine": "Looks up a record.",
        }


async def test_the_rest_of_a_result_is_kept_only_up_to_what_is_kept_of_all(tmp_path: Path) -> None:
    # One character of another kind makes each of them take four bytes.
    texts = {"wide": "x" * 20_000_000 + "\U0001f600", "narrow": "x" * 20_000_000}
    answers = {name: {"content": [{"type": "text", "text": text}]} for name, text in texts.items()}
    pipes = told(tmp_path, "pipes", {"tools": [tool("wide"), tool("narrow")], "answers": answers})
    async with world(tmp_path, pipes) as here, here.client() as client:
        assert "go on with read_reference" in text_of(await call(client, "tool:pipes/narrow"))[-200:]
        assert "the rest is too long to be kept" in text_of(await call(client, "tool:pipes/wide"))[-200:]


async def test_half_a_character_in_arguments_ends_no_server(tmp_path: Path) -> None:
    tools = [{"name": "look", "description": "Look.", "inputSchema": {"type": "object"}}]
    async with world(tmp_path, shelf(tmp_path, "srv", tools=tools)) as here, here.client() as client:
        for name in ("x", "\\ud83d"):
            given = f'{{"{name}": "cut \\ud83d", "y": 1}}'
            request = {"id": "tool:srv/look", "arguments": given}
            said = text_of(await client.call_tool("call_with_effects", request))
            assert said.startswith("given") and "cut \ufffd" in said and '"y": 1' in said
