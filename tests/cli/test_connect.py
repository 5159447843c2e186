"""`prowess connect` and `disconnect`: from a client's file to a tool that a real client finds, and back."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from click.testing import CliRunner, Result
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from prowess.cli.main import prowess
from tests.support.gateway import SERVERS, free_port, text_of
from tests.support.processes import running
from tests.support.wire import eventually, listens

Run = Callable[..., Result]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home and a project folder, with nothing of this machine's user in reach."""
    monkeypatch.chdir(tmp_path)
    for name in ("PROWESS_CONFIG", "PROWESS_STORE", "PROWESS_CAPABILITY_DIRS", "XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def run(home: Path) -> Run:
    return lambda *words, **more: CliRunner().invoke(prowess, words, **more)


def workshop(way: str = "") -> dict[str, Any]:
    return {"command": sys.executable, "args": ["-S", str(SERVERS / "workshop.py"), way]}


def cursor(home: Path, **servers: dict[str, Any]) -> Path:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"// mine\n{json.dumps({'mcpServers': servers}, indent=4)}\n")
    return file


def entry(file: Path, keys: tuple[str, ...] = ("mcpServers",)) -> dict[str, Any]:
    data = json.loads("\n".join(line for line in file.read_text().splitlines() if not line.startswith("//")))
    for key in keys:
        data = data[key]
    found: dict[str, Any] = data["prowess"]
    return found


async def found_and_called(parameters: StdioServerParameters, request: str, id: str, **arguments: Any) -> str:
    """What a tool answers that was found by a request."""
    async with Client(stdio_client(parameters)) as client:
        for _ in range(100):
            found = await client.call_tool("discover_capabilities", {"query": request})
            if id in text_of(found):
                break
            await anyio.sleep(0.1)
        assert id in text_of(found)
        return text_of(await client.call_tool("call_read_only", {"id": id, "arguments": arguments}))


@pytest.mark.slow
def test_two_steps_lead_from_a_clients_file_to_a_tool_of_ones_own_and_one_leads_back(
    run: Run, home: Path
) -> None:
    library = {"command": sys.executable, "args": [str(SERVERS / "library.py")]}
    file = cursor(home, shop=workshop(), library=library)
    before = file.read_bytes()

    done = run("connect", "cursor", "--yes")
    assert done.exit_code == 0, done.output
    assert "2 servers in prowess.toml, one entry in" in done.stderr
    written = entry(file)
    parameters = StdioServerParameters(command=written["command"], args=written["args"], cwd="/")
    said = anyio.run(lambda: found_and_called(parameters, "echo a text", "tool:shop/echo", text="hello"))
    assert said == "hello"

    undone = run("disconnect", "cursor", "--yes")
    assert undone.exit_code == 0 and "is as it was" in undone.stderr
    assert file.read_bytes() == before
    assert run("disconnect", "cursor", "--yes").exit_code == 0 and file.read_bytes() == before


ROOMS = {
    "create_booking": "Book a room for a time.",
    "cancel_booking": "Cancel a booking of a room.",
    "list_rooms": "List the rooms of the building with their seats.",
}


@pytest.mark.slow
def test_a_connected_client_sees_first_what_does_it_and_not_what_only_sounds_like_it(
    run: Run, home: Path
) -> None:
    schema = {"type": "object"}
    tools = [{"name": one, "description": says, "inputSchema": schema} for one, says in ROOMS.items()]
    offered = home / "rooms.json"
    offered.write_text(json.dumps({"name": "rooms", "tools": tools}))
    shelf = {"command": sys.executable, "args": ["-S", str(SERVERS / "shelf.py"), str(offered)]}
    file = cursor(home, rooms=shelf)
    assert run("connect", "cursor", "--yes").exit_code == 0
    written = entry(file)
    parameters = StdioServerParameters(command=written["command"], args=written["args"], cwd="/")
    request = "nobody needs the room tomorrow"
    assert anyio.run(first_found, parameters, request) == "tool:rooms/cancel_booking"
    settings = home.parent / "prowess.toml"
    settings.write_text(f"{settings.read_text()}\n[discovery]\nread_closely = false\n")
    assert anyio.run(first_found, parameters, request) != "tool:rooms/cancel_booking"


async def first_found(parameters: StdioServerParameters, request: str) -> str:
    """What a search shows first, once everything is read."""
    async with Client(stdio_client(parameters)) as client:
        for _ in range(100):
            found = json.loads(text_of(await client.call_tool("discover_capabilities", {"query": request})))
            if found["capabilities"] and "still being read" not in str(found):
                break
            await anyio.sleep(0.1)
        first: str = found["capabilities"][0]["id"]
        return first


@pytest.mark.slow
def test_two_clients_share_one_process(run: Run, home: Path) -> None:
    bind = f"127.0.0.1:{free_port()}"
    first = cursor(home, shop=workshop())
    second = home / ".gemini" / "settings.json"
    second.parent.mkdir()
    second.write_text(json.dumps({"mcpServers": {"shop": workshop()}}))
    for client in ("cursor", "gemini"):
        done = run("connect", client, "--http", bind, "--yes", "--no-sync")
        assert done.exit_code == 0 and f"prowess serve mcp --http {bind}" in done.stderr
    assert Path("prowess.toml").read_text().count("[[source]]") == 2  # manifests, and the server once

    async def answers(url: str) -> str:
        async with Client(streamable_http_client(url)) as client:
            await client.call_tool("discover_capabilities", {"query": "echo a text"})
            call = {"id": "tool:shop/echo", "arguments": {"text": url}}
            return text_of(await client.call_tool("call_read_only", call))

    async def both(*urls: str) -> None:
        async with anyio.create_task_group() as group:
            for url in urls:
                group.start_soon(check, url)

    async def check(url: str) -> None:
        assert await answers(url) == url

    assert run("sync").exit_code == 0
    with running([sys.executable, "-m", "prowess", "serve", "mcp", "--http", bind]):
        eventually(lambda: listens(int(bind.rpartition(":")[2])))
        anyio.run(both, entry(first)["url"], entry(second)["httpUrl"])
        again = run("import", str(second))
        assert "is prowess itself" in again.stderr
    assert run("disconnect", "gemini", "--yes").exit_code == 0
    assert json.loads(second.read_text()) == {"mcpServers": {"shop": workshop()}}


def test_the_difference_is_shown_without_secrets_and_nothing_is_written_unless_one_agrees(
    run: Run, home: Path
) -> None:
    secret = "hunter-Xk39fjQ0z77"
    file = cursor(home, shop=workshop() | {"env": {"SHOP_TOKEN": secret}})
    before = file.read_text()
    for words, said in ((("--dry-run",), ""), ((), "n\n"), ((), "")):
        shown = run("connect", "cursor", *words, input=said)
        assert '-        "shop": {' in shown.stdout and '+        "prowess": {' in shown.stdout
        assert "+[[source]]" in shown.stdout and secret not in shown.output
        assert file.read_text() == before and not Path("prowess.toml").exists()
    agreed = run("connect", "cursor", "--no-sync", input="y\n")
    assert agreed.exit_code == 0 and secret not in agreed.output
    assert secret not in Path("prowess.toml").read_text()
    assert entry(file)["env"] == {"SHOP_TOKEN": secret}
    given_back = run("disconnect", "cursor", "--yes")
    assert '+        "shop": {' in given_back.stdout and secret not in given_back.output
    assert file.read_text() == before


def test_connecting_twice_changes_nothing_the_second_time(run: Run, home: Path) -> None:
    file = cursor(home, shop=workshop())
    run("connect", "cursor", "--yes", "--no-sync")
    once, config = file.read_bytes(), Path("prowess.toml").read_bytes()
    again = run("connect", "cursor", "--yes", "--no-sync")
    assert again.exit_code == 0 and "Cursor is connected" in again.stderr and again.stdout == ""
    assert (file.read_bytes(), Path("prowess.toml").read_bytes()) == (once, config)


def test_a_second_client_gets_its_own_entry_and_only_what_is_new_is_taken_over(run: Run, home: Path) -> None:
    cursor(home, shop=workshop(), time={"command": "time", "args": ["--zone", "UTC"]})
    run("connect", "cursor", "--yes", "--no-sync")
    windsurf = home / ".codeium" / "windsurf" / "mcp_config.json"
    windsurf.parent.mkdir(parents=True)
    windsurf.write_text(json.dumps({"mcpServers": {"shop": workshop(), "time": {"command": "time"}}}))
    run("connect", "windsurf", "--yes", "--no-sync")
    text = Path("prowess.toml").read_text()
    assert [line for line in text.splitlines() if line.startswith("name")] == [
        'name = "manifests"',
        'name = "shop"',
        'name = "time"',
        'name = "time-windsurf"',
    ]


def test_a_new_project_gets_a_policy_and_an_old_one_keeps_its_own(run: Run, home: Path) -> None:
    cursor(home, shop=workshop())
    run("connect", "cursor", "--yes", "--no-sync")
    assert "owner" in Path("policy.yaml").read_text()
    assert run("doctor").exit_code == 0, run("doctor").output
    Path("policy.yaml").write_text("# mine\n")
    run("disconnect", "cursor", "--yes")
    run("connect", "cursor", "--yes", "--no-sync")
    assert Path("policy.yaml").read_text() == "# mine\n"


def test_the_file_of_a_project_is_chosen_by_scope_and_where_it_is_the_only_one(run: Run, home: Path) -> None:
    project = Path(".vscode/mcp.json")
    project.parent.mkdir()
    project.write_text(json.dumps({"servers": {"files": {"command": "x", "args": ["${workspaceFolder}"]}}}))
    assert str(project.absolute()) in run("connect", "vscode", "--yes", "--no-sync").stderr
    assert f'args = ["{Path.cwd()}"]' in Path("prowess.toml").read_text()
    run("connect", "vscode", "--scope", "user", "--yes", "--no-sync")
    own = home / ".config" / "Code" / "User" / "mcp.json"
    assert entry(own, ("servers",))["type"] == "stdio"
    assert "no servers for one project" in run("connect", "windsurf", "--scope", "project").stderr


def test_a_file_that_cannot_be_understood_is_left_and_the_entry_is_printed(run: Run, home: Path) -> None:
    file = home / "broken.json"
    file.write_text("{ broken")
    result = run("connect", "claude-code", "--file", str(file))
    assert result.exit_code == 1 and "left as it is" in result.stderr and "by hand" in result.stderr
    assert f"command: {sys.executable}" in result.stdout and file.read_text() == "{ broken"
    assert not Path("prowess.toml").exists()


def test_the_way_back_names_the_file_that_was_named(run: Run, home: Path) -> None:
    file = home / "my servers.json"
    file.write_text('{"mcpServers": {"crm": {"command": "crm"}}}')
    said = run("connect", "cursor", "--file", str(file), "--yes", "--no-sync").stderr
    assert f"to give it back: prowess disconnect cursor --file '{file}'" in said
    assert run("disconnect", "cursor", "--file", str(file), "--yes").exit_code == 0
    assert "crm" in file.read_text()


def test_a_client_nobody_knows_is_named_with_the_nearest(run: Run) -> None:
    assert "did you mean 'windsurf'?" in run("connect", "windsurfer").stderr


def test_claude_desktop_cannot_be_given_an_address(run: Run) -> None:
    result = run("connect", "claude-desktop", "--http", "127.0.0.1:8800")
    assert result.exit_code == 1 and "takes no address" in result.stderr


def test_without_the_extra_the_command_that_installs_it_is_named(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    result = run("connect", "cursor")
    assert result.exit_code == 1 and "[gateway]" in result.stderr and "pip install" in result.stderr


@pytest.mark.slow
def test_where_the_programs_of_servers_are_missing_the_sync_says_so_and_the_client_is_connected(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cursor(home, files={"command": "npx", "args": ["-y", "files"]}, time={"command": "uvx", "args": ["time"]})
    monkeypatch.setenv("PATH", str(home))
    done = run("connect", "cursor", "--yes")
    assert done.exit_code == 0, done.output
    said = run("doctor").output
    assert "there is no command 'npx'; install Node.js, which brings it, or correct `command`" in said
    assert "there is no command 'uvx'; install uv, which brings it, or correct `command`" in said


WRITES = {"connect": 4, "disconnect": 2}
"""How many times a file is put in its place or taken away."""
KILLED = """
import os, signal, sys
left = int(sys.argv.pop(1))
replace, unlink = os.replace, os.unlink

def counted(change):
    def changed(*args, **kwargs):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return change(*args, **kwargs)
    return changed

os.replace, os.unlink = counted(replace), counted(unlink)
from prowess.cli.main import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("command", ["connect", "disconnect"])
def test_a_kill_in_the_middle_leaves_one_whole_state_and_the_next_time_finishes(
    run: Run, home: Path, command: str, number: int
) -> None:
    file = cursor(home, shop=workshop())
    before = file.read_bytes()
    run("connect", "cursor", "--yes", "--no-sync")
    connected = file.read_bytes()
    if command == "connect":
        run("disconnect", "cursor", "--yes")
        Path("prowess.toml").unlink()
        Path("policy.yaml").unlink()
    words = [command, "cursor", "--yes", *(["--no-sync"] if command == "connect" else [])]
    ended = subprocess.run([sys.executable, "-c", KILLED, str(number), *words], env=os.environ, check=False)
    assert (ended.returncode == -signal.SIGKILL) == (number < WRITES[command])
    assert file.read_bytes() in (before, connected)
    run("connect", "cursor", "--yes", "--no-sync")
    assert file.read_bytes() == connected
    run("disconnect", "cursor", "--yes")
    assert file.read_bytes() == before
