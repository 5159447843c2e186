"""What is recorded of servers when a client leaves, or another process could not start them."""

import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import prowess
from prowess.gateway import refresh
from prowess.sources.mcp.source import McpSource
from tests.support.gateway import OWNER, call, make_engine, text_of, until, world, write_config
from tests.support.wire import eventually, gateway, told, tool

ABOUT = {"name": "test", "version": "1"}
MY_TOOLS = """
import beside_the_gateway
from prowess import tool

@tool(side_effects=False)
def count_words(text: str) -> int:
    \"\"\"Counts the words of a text.\"\"\"
    return 42
"""
FUNCTIONS = """
[[source]]
type = "functions"
name = "mine"
module = "my_tools"
"""

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(60)]


def hang_up(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.close()


def terminate(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)


@pytest.mark.parametrize("leave", [hang_up, terminate])
def test_a_client_that_leaves_while_a_server_still_answers_marks_nothing_down(
    tmp_path: Path, store_url: str, leave: Callable[[subprocess.Popen[str]], None]
) -> None:
    asked = tmp_path / "asked"
    slow = told(tmp_path, "crm", {"tools": [tool("find")], "waits": str(asked)})
    file = write_config(tmp_path, OWNER, slow)
    with gateway(file, store=store_url) as here:
        here.begin()
        eventually(asked.exists)
        leave(here.process)
        here.process.wait(20)
    with prowess.open(store_url, config=str(file)) as engine:
        assert [provider.down for provider in engine.providers.list() if provider.down] == []
        assert engine.catalogue.problems() == ()


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.2, 0.5, 0.9, 1.4, 2.0])
def test_a_client_that_leaves_at_whatever_moment_marks_nothing_down(
    tmp_path: Path, store_url: str, seconds: float
) -> None:
    slow = told(tmp_path, "crm", {"tools": [tool("find")], "waits": str(tmp_path / "asked")})
    gone = told(tmp_path, "shop", {"tools": [tool("buy")]})
    file = write_config(tmp_path, OWNER, slow, gone)
    with gateway(file, store=store_url) as here:
        assert here.process.stdin is not None
        here.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=ABOUT)
        with suppress(subprocess.TimeoutExpired):
            here.process.wait(seconds)
        here.process.stdin.close()
        here.process.wait(20)
    with prowess.open(store_url, config=str(file)) as engine:
        assert [provider.down for provider in engine.providers.list() if provider.down] == []
        assert engine.catalogue.problems() == ()


def test_a_script_outside_the_folder_calls_nothing_down_that_a_gateway_has(
    tmp_path: Path, store_url: str
) -> None:
    (tmp_path / "my_tools.py").write_text(MY_TOOLS)
    file = write_config(tmp_path, OWNER)
    file.write_text(file.read_text() + FUNCTIONS)
    script = "import prowess, sys; print(prowess.open(sys.argv[1], config=sys.argv[2]).sync().problems)"
    place = tmp_path / "only for the gateway"
    place.mkdir()
    (place / "beside_the_gateway.py").write_text("")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYTHONPATH", str(place))
        started = gateway(file, store=store_url)
    with started as here:
        here.begin()
        assert "42" in here.text(here.call("tool:count_words", {"text": "any"}))
        said = subprocess.run(
            [sys.executable, "-c", script, store_url, str(file)],
            cwd="/", capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        assert "No module named 'beside_the_gateway'" in said
        assert "42" in here.text(here.call("tool:count_words", {"text": "any"}))
        found = here.text(here.ask("tools/call", name="discover_capabilities", arguments={"query": "count"}))
        assert "count_words" in found and "unavailable" not in found and "servers_down" not in found
        # Nor for whoever looks from a process of their own.
        with prowess.open(store_url, config=str(file)) as engine:
            assert [provider.down for provider in engine.providers.list() if provider.down] == []
            assert engine.catalogue.problems() == ()


async def test_a_server_that_answers_a_call_is_not_called_down_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh, "FIRST_RETRY", 600.0)  # so that only the call can have told
    with make_engine(tmp_path, [told(tmp_path, "crm", {"tools": [tool("find")]})], OWNER) as before:
        before.sync()
    crm = told(tmp_path, "crm", {"tools": [tool("find")], "refuses_once": ["tools/list"]})
    async with world(tmp_path, crm) as here, here.client() as client:
        assert here.engine.catalogue.get("tool:crm/find").unavailable
        assert "called" in text_of(await call(client, "tool:crm/find"))

        async def is_up() -> bool:
            return not here.engine.catalogue.get("tool:crm/find").unavailable

        await until(is_up, 20)


async def test_a_server_that_another_process_cannot_start_is_up_where_it_runs(
    tmp_path: Path, store_url: str
) -> None:
    good = told(tmp_path, "crm", {"tools": [tool("find")]})
    async with world(tmp_path, good, store=store_url) as here:
        elsewhere = McpSource(name="crm", command="no-such-program-here")
        with make_engine(tmp_path, [elsewhere], OWNER, store=store_url) as other:
            assert other.sync().problems
            assert "no-such-program" in other.catalogue.get("tool:crm/find").unavailable[0]
        assert here.engine.catalogue.get("tool:crm/find").unavailable == ()
        assert [provider.down for provider in here.engine.providers.list()] == [""]
