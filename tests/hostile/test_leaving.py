"""What is recorded of servers when a client leaves, or another process could not start them."""

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import prowess
from prowess.sources.mcp.source import McpSource
from tests.support.gateway import OWNER, make_engine, world, write_config
from tests.support.wire import eventually, gateway, told, tool

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
