"""The gateway as clients start it: a process of its own over real pipes."""

import json
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

import prowess
from tests.support.gateway import OWNER, Person, ask, call, served, text_of, until, workshop, write_config

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(60)]


@asynccontextmanager
async def started(folder: Path, mode: str = "auto") -> AsyncIterator[Client]:
    command, *args = served(write_config(folder, OWNER, workshop()))
    server = StdioServerParameters(command=command, args=args)
    # A client that can be asked, so that calls of the newest revision could be parked.
    async with Client(server, mode=mode, cache=None, **Person().abilities) as client:
        yield client


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
async def test_a_client_of_either_generation_searches_and_calls(
    tmp_path: Path, mode: str, version: str
) -> None:
    heard: list[float] = []

    async def heard_of(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async with started(tmp_path, mode) as client:
        assert client.protocol_version == version
        assert len((await client.list_tools()).tools) == 6
        found = await ask(client, "discover_capabilities", query="engrave a text into brass")
        assert found["capabilities"][0]["id"] == "tool:shop/engrave"
        assert text_of(await call(client, "tool:shop/engrave", with_effects=True, text="hi")) == "hi"
        given = {"id": "tool:shop/count", "arguments": {"count": 3}}
        await client.call_tool("call_read_only", given, progress_callback=heard_of)
        assert heard == [0, 1, 2]
        with anyio.move_on_after(0.3):
            await call(client, "tool:shop/hang")

        async def was_cancelled() -> bool:
            return text_of(await call(client, "tool:shop/was_cancelled")) == "True"

        await until(was_cancelled)


async def test_a_second_start_serves_at_once_what_was_known_before(tmp_path: Path) -> None:
    async with started(tmp_path) as client:
        await client.list_tools()
    async with started(tmp_path) as client:
        assert (await ask(client, "list_capabilities", provider="shop"))["ids"]


MODULE = """
import prowess

@prowess.tool(side_effects=False)
def double(number: int) -> int:
    \"\"\"Twice a number.\"\"\"
    return 2 * number

@prowess.event_handler("message:publish", description="Publish a message to everybody.")
def publish(payload):
    return f"published {payload['text']}"

@prowess.event_handler("state:set")
def keep(key: str, value: str):
    \"\"\"Keep a value.\"\"\"
    return f"{key} is {value}"
"""
LATER = """
@prowess.tool(side_effects=False)
def later() -> str:
    \"\"\"What came later.\"\"\"
    return "later"
"""


async def test_functions_and_handlers_of_modules_that_the_configuration_names_are_called(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine.py").write_text(MODULE)
    file = write_config(tmp_path, OWNER)
    sources = [f'[[source]]\ntype = "{kind}"\nmodule = "mine"\n' for kind in ("functions", "events")]
    file.write_text(file.read_text() + "".join(sources))
    command, *args = served(file)
    async with Client(StdioServerParameters(command=command, args=args), cache=None) as client:
        assert text_of(await call(client, "tool:double", number=21)) == "42"
        published = await call(client, "event:message:publish", with_effects=True, text="hi")
        assert text_of(published) == "published hi"
        kept = await call(client, "event:state:set", with_effects=True, key="plan", value="made")
        assert text_of(kept) == "plan is made"
        (tmp_path / "mine.py").write_text(MODULE.replace("2 * number", "3 * number") + LATER)

        async def was_seen() -> bool:
            return text_of(await call(client, "tool:later")) == "later"

        await until(was_seen)
        assert text_of(await call(client, "tool:double", number=21)) == "63"


def speak(process: subprocess.Popen[bytes], id: int, method: str, **params: object) -> dict[str, object]:
    assert process.stdin and process.stdout
    message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    answer: dict[str, object] = json.loads(process.stdout.readline())
    return answer


def start_by_hand(folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    """A gateway with a server behind it that runs; returns it with that server's process id."""
    process = subprocess.Popen(
        served(write_config(folder, OWNER, workshop())), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    about = {"name": "by hand", "version": "1"}
    speak(process, 1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=about)
    answer = speak(process, 2, "tools/call", name="call_read_only", arguments={"id": "tool:shop/pid"})
    result = answer["result"]
    assert isinstance(result, dict)
    return process, int(result["content"][0]["text"])


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def leave(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin and process.stdout
    process.stdin.close()
    process.wait(8)
    process.stdout.close()


def test_the_tool_list_is_the_same_bytes_after_a_restart_and_after_what_stands_behind_has_changed(
    tmp_path: Path,
) -> None:
    def raw(process: subprocess.Popen[bytes]) -> bytes:
        assert process.stdin and process.stdout
        process.stdin.write(b'{"jsonrpc": "2.0", "id": 7, "method": "tools/list"}\n')
        process.stdin.flush()
        while b'"id":7' not in (line := process.stdout.readline()):  # or it tells of a changed list
            assert line
        return line

    lists = []
    for _ in range(2):
        process, _ = start_by_hand(tmp_path)
        lists.append(raw(process))
        speak(process, 8, "tools/call", name="call_read_only", arguments={"id": "tool:shop/grow"})
        lists.append(raw(process))
        leave(process)
    assert len(set(lists)) == 1 and lists[0].count(b'"name"') == 6


@pytest.mark.parametrize("way", ["closed", signal.SIGTERM, signal.SIGINT])
def test_however_a_client_leaves_nothing_is_left_running(tmp_path: Path, way: object) -> None:
    process, behind = start_by_hand(tmp_path)
    if isinstance(way, signal.Signals):
        process.send_signal(way)
    else:
        assert process.stdin
        process.stdin.close()
    process.wait(8)
    deadline = time.monotonic() + 3
    while not is_gone(behind) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert is_gone(behind)
    for pipe in (process.stdin, process.stdout):
        assert pipe
        pipe.close()


def test_what_was_answered_is_in_the_journal_when_the_gateway_is_killed(tmp_path: Path) -> None:
    process, behind = start_by_hand(tmp_path)
    for number in range(20):
        given = {"id": "tool:shop/echo", "arguments": {"text": str(number)}}
        speak(process, 10 + number, "tools/call", name="call_read_only", arguments=given)
    process.kill()
    process.wait(8)
    for pipe in (process.stdin, process.stdout):
        assert pipe
        pipe.close()
    with prowess.open(str(tmp_path / "store.db"), config=str(tmp_path / "prowess.toml")) as engine:
        assert len(engine.journal.latest(100, "default", "call")) == 21
        engine.journal.verify()
    deadline = time.monotonic() + 5
    while not is_gone(behind) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert is_gone(behind)
