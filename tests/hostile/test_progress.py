"""Servers that report progress without end, and clients that do not read it."""

import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.gateway import OWNER, free_port, served, text_of, world, write_config
from tests.support.wire import begun, eventually, gateway, listens, memory, post, request, sent, told, tool

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(90)]

MIB = 1024 * 1024
SECONDS_OF_FLOOD = 6.0


async def test_a_call_that_reports_progress_without_end_is_given_up(tmp_path: Path) -> None:
    endless = told(tmp_path, "endless", {"tools": [tool("work")], "endless": {"work": 10}})
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async with (
        world(tmp_path, endless, timeout=1.0, max_timeout=3.0) as here,
        here.client(mode="legacy") as client,
    ):
        given = {"id": "tool:endless/work", "arguments": {}}
        started = time.monotonic()
        answer = await client.call_tool("call_read_only", given, progress_callback=hear)
        took = time.monotonic() - started
    assert answer.is_error and "no answer within 3 s" in text_of(answer)
    assert 2.5 < took < 15
    assert heard == sorted(heard) and len(heard) > 10


def grown(pid: int) -> int:
    """The most that a process grows by within some time."""
    before = most = memory(pid)
    until = time.monotonic() + SECONDS_OF_FLOOD
    while time.monotonic() < until:
        most = max(most, memory(pid))
        time.sleep(0.05)
    return most - before


@pytest.mark.parametrize("length", [1000, MIB])
def test_a_client_over_pipes_that_does_not_read_fills_no_memory(tmp_path: Path, length: int) -> None:
    endless = told(tmp_path, "endless", {"tools": [tool("work")], "endless": {"work": length}})
    good = told(tmp_path, "good", {"tools": [tool("echo")]})
    with gateway(write_config(tmp_path, OWNER, endless, good)) as here:
        here.begin()
        here.text(here.ask("tools/call", name="discover_capabilities", arguments={"query": "look up"}), 40)
        here.text(here.call("tool:good/echo", {}))
        here.stop_reading()
        here.call("tool:endless/work", {}, _meta={"progressToken": "t"})
        assert grown(here.process.pid) < 120 * MIB


@pytest.mark.parametrize("length", [1000, MIB])
def test_a_client_over_http_that_does_not_read_fills_no_memory(tmp_path: Path, length: int) -> None:
    content = {"tools": [tool("work"), tool("echo")], "endless": {"work": length}}
    endless, good = told(tmp_path, "endless", content), told(tmp_path, "good", {"tools": [tool("echo")]})
    port = free_port()
    command = served(write_config(tmp_path, OWNER, endless, good), "--http", f"127.0.0.1:{port}")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            eventually(lambda: listens(port))
            session = begun(port)
            searched = {"name": "discover_capabilities", "arguments": {"query": "look up"}}
            post(port, {"id": 3, "method": "tools/call", "params": searched}, session)
            post(port, request("tool:good/echo"), session)
            flood = request("tool:endless/work", _meta={"progressToken": "t"})
            with closing(sent(port, flood, session)):
                assert grown(process.pid) < 120 * MIB
                started = time.monotonic()
                post(port, request("tool:good/echo"), begun(port))
                assert time.monotonic() - started < 5
        finally:
            process.kill()
