"""The reference servers of npm and PyPI behind one gateway, and an agent that has the meta-tools alone."""

import base64
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

from prowess.sources.mcp.source import McpSource
from tests.support.gateway import Person, World, ask, call, free_port, text_of, until, world
from tests.support.npm import node, npm
from tests.support.places import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(180)]

CACHE = ROOT / ".pytest_cache" / "npm"
PACKAGES = {name: f"@modelcontextprotocol/server-{name}" for name in ("everything", "filesystem", "memory")}
VERSION = "2026.8.31"


@pytest.fixture(scope="session")
def servers() -> Path:
    """The npm servers, installed once into an ignored folder; test processes wait for one another."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = CACHE / f"installed-{VERSION}"
        if not done.exists():
            wanted = [f"{package}@{VERSION}" for package in PACKAGES.values()]
            quiet = ["--no-audit", "--no-fund", "--silent", "--ignore-scripts", "--no-save"]
            npm("install", *quiet, "--prefix", str(CACHE), *wanted)
            done.touch()
    return CACHE / "node_modules"


def npm_server(servers: Path, name: str, *arguments: str, **more: Any) -> McpSource:
    script = servers / PACKAGES[name] / "dist" / "index.js"
    return McpSource(name=name, command=node(), args=(str(script), *arguments), **more)


def pypi_server(name: str, *arguments: str) -> McpSource:
    return McpSource(name=name, command=sys.executable, args=("-m", f"mcp_server_{name}", *arguments))


# --- all of them together ------------------------------------------------------------------------


@asynccontextmanager
async def six_servers(folder: Path, servers: Path) -> AsyncIterator[tuple[World, Client]]:
    (folder / "notes").mkdir()
    (folder / "notes" / "tea.txt").write_text("green tea, 80 degrees\n")
    subprocess.run(["git", "init", "-q", str(folder / "repository")], check=True)
    (folder / "repository" / "new.txt").write_text("x\n")
    memory = {"MEMORY_FILE_PATH": str(folder / "memory.jsonl")}
    sources = (
        npm_server(servers, "filesystem", str(folder / "notes")),
        npm_server(servers, "memory", env=memory),
        npm_server(servers, "everything", "stdio"),
        *(pypi_server(name) for name in ("fetch", "git", "time")),
    )
    async with world(folder, *sources, embedder=None) as here, here.client() as client:

        async def all_are_there() -> bool:
            rows = (await ask(client, "list_capabilities"))["providers"]
            return {row["provider"] for row in rows} >= {source.name for source in sources}

        await until(all_are_there, 60)
        yield here, client


async def solve(client: Client, task: str, **facts: Any) -> str:
    """What an agent does: search, take the first hit, fill in its arguments by name, call what it says."""
    hit = (await ask(client, "discover_capabilities", query=task, kind="tool"))["capabilities"][0]
    known = hit["arguments"]["properties"] if "arguments" in hit else hit["parameters"]
    given = {name: value for name, value in facts.items() if name in known}
    result = await client.call_tool(hit["use"], {"id": hit["id"], "arguments": given})
    assert not result.is_error, f"{task}: {hit['id']}: {text_of(result)}"
    return text_of(result)


async def test_an_agent_solves_tasks_on_six_servers_with_the_meta_tools_alone(
    tmp_path: Path, servers: Path
) -> None:
    async with six_servers(tmp_path, servers) as (here, client):
        assert len((await client.list_tools()).tools) == 6
        notes = str(tmp_path / "notes")
        assert "80 degrees" in await solve(client, "read a text file", path=f"{notes}/tea.txt")
        await solve(
            client, "write a new file with content", path=f"{notes}/coffee.txt", content="black, 92 degrees"
        )
        assert (tmp_path / "notes" / "coffee.txt").read_text() == "black, 92 degrees"
        assert "coffee.txt" in await solve(client, "list the files in a directory", path=notes)
        entity = {"name": "Ada", "entityType": "person", "observations": ["likes green tea"]}
        await solve(client, "create entities in the knowledge graph", entities=[entity])
        assert "likes green tea" in await solve(client, "search nodes in the knowledge graph", query="Ada")
        status = await solve(client, "git status of the working tree", repo_path=str(tmp_path / "repository"))
        assert "new.txt" in status
        noon = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
        assert "21:00" in await solve(client, "convert a time between timezones", **noon)
        assert "7" in await solve(client, "add two numbers and return the sum", a=3, b=4)
        outcomes = [entry.data["outcome"] for entry in here.journal("call")]
        assert outcomes == ["ok"] * len(outcomes) and len(outcomes) == 8
        here.engine.journal.verify()


# --- everything passes unchanged -------------------------------------------------------------------

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("echo", {"message": "grüß dich"}),
    ("get-sum", {"a": 1.5, "b": 2}),
    ("get-tiny-image", {}),
    ("get-annotated-message", {"messageType": "error", "includeImage": True}),
    ("get-structured-content", {"location": "Chicago"}),
    ("get-resource-links", {"count": 3}),
    ("get-resource-reference", {"resourceType": "Blob", "resourceId": 2}),
)


def plain(result: types.CallToolResult) -> Any:
    """A result without the moment it was made at, which some of these tell."""
    whole = result.model_dump(by_alias=True, mode="json", exclude_none=True, exclude={"meta", "result_type"})
    for block in whole["content"]:
        block.get("resource", {}).pop("blob", None)
    return whole


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_every_kind_of_content_arrives_as_the_server_sent_it(
    tmp_path: Path, servers: Path, mode: str
) -> None:
    source = npm_server(servers, "everything", "stdio")
    direct = StdioServerParameters(command=source.command, args=list(source.args))
    async with (
        world(tmp_path, source, embedder=None) as here,
        here.client(mode=mode) as client,
        Client(direct, mode="legacy") as alone,
    ):
        for name, arguments in CALLS:
            through = await call(client, f"tool:everything/{name}", **arguments)
            itself = await alone.call_tool(name, arguments)
            assert plain(through) == plain(itself), name
        blob = through.content[1]
        assert isinstance(blob, types.EmbeddedResource)
        assert isinstance(blob.resource, types.BlobResourceContents)
        assert base64.b64decode(blob.resource.blob)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_progress_questions_resources_and_prompts_of_everything_pass_through(
    tmp_path: Path, servers: Path, mode: str
) -> None:
    person = Person()
    heard: list[tuple[float, float | None]] = []

    async def heard_of(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total))

    async with (
        world(tmp_path, npm_server(servers, "everything", "stdio"), embedder=None) as here,
        here.client(mode=mode, **person.abilities) as client,
    ):
        given = {"id": "tool:everything/trigger-long-running-operation"}
        slow = {**given, "arguments": {"duration": 0.4, "steps": 4}}
        done = await client.call_tool("call_read_only", slow, progress_callback=heard_of)
        assert "completed" in text_of(done)
        # Within one process the SDK's client of the newest revision asks for progress without a token.
        assert heard == ([(1, 4), (2, 4), (3, 4), (4, 4)] if mode == "legacy" else [])
        asked = await call(client, "tool:everything/trigger-elicitation-request", with_effects=True)
        assert "Ada" in text_of(asked) and person.asked[0].startswith("everything: ")
        sampled = await call(
            client, "tool:everything/trigger-sampling-request", with_effects=True, prompt="two and two?"
        )
        assert "four" in text_of(sampled)
        (page,) = (await client.read_resource("demo://resource/static/document/features.md")).contents
        assert isinstance(page, types.TextResourceContents) and len(page.text) > 100
        (made,) = (await client.read_resource("demo://resource/dynamic/text/7")).contents
        assert isinstance(made, types.TextResourceContents) and "7" in made.text
        prompt = await client.get_prompt("everything/args-prompt", {"city": "Oslo", "state": "Norway"})
        assert "Oslo" in json.dumps([m.model_dump(mode="json") for m in prompt.messages])


async def test_a_long_operation_of_everything_that_the_client_cancels_ends(
    tmp_path: Path, servers: Path
) -> None:
    async with (
        world(tmp_path, npm_server(servers, "everything", "stdio"), embedder=None) as here,
        here.client(mode="legacy") as client,
    ):
        with anyio.move_on_after(0.5):
            await call(client, "tool:everything/trigger-long-running-operation", duration=60, steps=60)
        echoed = await call(client, "tool:everything/echo", message="still here")
        assert "still here" in text_of(echoed)

        async def cancelled() -> bool:
            return "cancelled" in [entry.data["outcome"] for entry in here.journal("call")]

        await until(cancelled)


@asynccontextmanager
async def everything_over_http(servers: Path) -> AsyncIterator[McpSource]:
    port = free_port()
    script = str(servers / PACKAGES["everything"] / "dist" / "index.js")
    process = subprocess.Popen(
        [node(), script, "streamableHttp"],
        env={**os.environ, "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    async def answers() -> bool:
        with suppress(OSError):
            async with await anyio.connect_tcp("127.0.0.1", port):
                return True
        return False

    try:
        await until(answers, 30)
        yield McpSource(name="everything", url=f"http://127.0.0.1:{port}/mcp")
    finally:
        process.kill()
        process.wait(10)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_over_http_two_people_are_asked_at_once_each_about_their_own_call(
    tmp_path: Path, servers: Path, mode: str
) -> None:
    people = [Person("Ada"), Person("Bob")]
    for person in people:
        person.may_answer = anyio.Event()
    async with (
        everything_over_http(servers) as source,
        world(tmp_path, source, embedder=None) as here,
        anyio.create_task_group() as tasks,
    ):

        async def be_asked(person: Person) -> None:
            async with here.client(mode=mode, **person.abilities) as client:
                asked = await call(client, "tool:everything/trigger-elicitation-request", with_effects=True)
                assert person.name in text_of(asked)

        for person in people:
            tasks.start_soon(be_asked, person)
        with anyio.fail_after(30):
            for person in people:
                await person.came.wait()
        for person in people:
            person.may_answer.set()
