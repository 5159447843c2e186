"""A client is told at the beginning which servers are behind the gateway, those that it may use alone."""

from pathlib import Path

import pytest

from prowess.gateway.greeting import INSTRUCTIONS
from tests.support.gateway import library, served, shelf, workshop, world, write_config
from tests.support.wire import Message, Pipes, eventually

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

POLICY = """
profiles:
  reader: {agents: [default], additional_tools: ["tool:library/*"]}
  smith: {agents: [smith], additional_tools: ["tool:shop/*"]}
  nobody: {agents: [nobody]}
"""


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_each_client_is_told_of_the_servers_it_may_use(tmp_path: Path, mode: str) -> None:
    async with world(tmp_path, workshop(), library(), policy=POLICY, embedder=None) as here:
        async with here.client(mode=mode) as reader:
            assert reader.instructions == (
                f"{INSTRUCTIONS} Behind it:\n- library (2): Find a book, Lend Book"
            )
        async with here.client("smith", mode=mode) as smith:
            assert smith.instructions and "- shop (" in smith.instructions
            assert "library" not in smith.instructions
        async with here.client("nobody", mode=mode) as nobody:
            assert nobody.instructions == INSTRUCTIONS


@pytest.mark.anyio
async def test_many_servers_are_told_within_what_clients_read(tmp_path: Path) -> None:
    tool = {"name": "look_up", "description": "Look up.", "inputSchema": {"type": "object"}}
    shelves = [shelf(tmp_path, f"a-name-that-is-{'very-' * 8}long-{n}", tools=[tool]) for n in range(24)]
    policy = 'profiles: {owner: {agents: [default], additional_tools: ["*"]}}'
    async with world(tmp_path, *shelves, policy=policy, embedder=None) as here, here.client() as client:
        told = client.instructions or ""
        assert len(told) < 2000
        assert told.splitlines()[-1].endswith("more; list_capabilities names them")


def first_answer(file: Path, home: Path) -> Message:
    with Pipes(served(file), env=environment(home)) as client:
        about = {"name": "test", "version": "1"}
        asked = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
        result: Message = client.answer(client.ask("initialize", **asked), 60)["result"]
        return result


def environment(home: Path) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "HOME": str(home)}


def test_the_first_answer_of_a_start_names_what_the_start_before_it_found(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    file = write_config(tmp_path, POLICY, library())
    assert first_answer(file, home)["instructions"] == INSTRUCTIONS
    kept = home / ".local" / "state" / "prowess" / "introductions"
    with Pipes(served(file), env=environment(home)) as client:
        client.begin()
        eventually(lambda: list(kept.glob("*.json")), 60)
    assert "- library (2)" in first_answer(file, home)["instructions"]
    # Whoever may use less now is not told what was there before.
    (tmp_path / "policy.yaml").write_text(POLICY.replace("tool:library/*", "tool:shop/*"))
    assert first_answer(file, home)["instructions"] == INSTRUCTIONS
