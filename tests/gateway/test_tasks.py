"""Tasks: calls that take long. Servers answer them with a handle, and clients may ask for one."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult

import prowess
from prowess.sources.mcp.source import McpSource
from tests.gateway.test_npm import npm_server, servers  # noqa: F401 - a fixture
from tests.support.gateway import SERVERS, Person, call, served, text_of, until, world, write_config
from tests.support.npm import locked_modules, node

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(90)]

POLICY = """
profiles:
  founder:
    agents: [default]
    additional_tools: ["*"]
    pinned: ["tool:foundry/cast", "tool:foundry/polish", "tool:foundry/log"]
  guest:
    agents: [guest]
    additional_tools: ["tool:foundry/log"]
"""


def foundry(way: str) -> McpSource:
    return McpSource(name="foundry", command=sys.executable, args=(str(SERVERS / "foundry.py"), way))


async def seen(client: Client) -> str:
    return text_of(await call(client, "tool:foundry/log", with_effects=True))


async def sent(client: Client, method: str, **params: Any) -> dict[str, Any]:
    # A handle is no result of a call to the SDK, which knows tasks by their types alone.
    answer = await client.session._dispatcher.send_raw_request(method, params)
    return dict(answer)


async def begun(client: Client, name: str, **arguments: Any) -> str:
    answer = await sent(client, "tools/call", name=name, arguments=arguments, task={"ttl": 60_000})
    assert answer["task"]["status"] == "working"
    return str(answer["task"]["taskId"])


async def ended(client: Client, task: str) -> dict[str, Any]:
    state: dict[str, Any] = {}

    async def is_over() -> bool:
        state.update(await sent(client, "tasks/get", taskId=task))
        return state["status"] in ("completed", "failed", "cancelled")

    await until(is_over)
    return state


# --- a server that makes tasks, and a client that knows nothing of them ---------------------------


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("way", ["older", "newest"])
async def test_a_tool_that_works_by_tasks_answers_a_call_through_the_meta_tools_with_its_result(
    tmp_path: Path, way: str, mode: str
) -> None:
    reports: list[str | None] = []

    async def report(progress: float, total: float | None, message: str | None) -> None:
        reports.append(message)

    async with world(tmp_path, foundry(way), policy=POLICY) as here, here.client(mode=mode) as client:
        given = {"id": "tool:foundry/cast", "arguments": {"what": "Ada"}}
        made = await client.call_tool("call_with_effects", given, progress_callback=report)
        assert text_of(made) == "a bell for Ada" and not made.is_error
        if mode == "legacy":  # between two ends of one process clients of the newest revision hear of none
            assert [message for message in reports if message and message.startswith("step")]
        assert await seen(client) == "cast as a task"
        cracked = await call(client, "tool:foundry/cast", with_effects=True, what="Bob", way="fail")
        assert cracked.is_error
        calls = [entry for entry in here.journal("call") if entry.data["capability"] == "tool:foundry/cast"]
        assert [entry.data["outcome"] for entry in calls] == ["ok", "failed"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("way", ["older", "newest"])
async def test_what_a_task_asks_reaches_the_person_at_the_client(tmp_path: Path, way: str, mode: str) -> None:
    person = Person("Cleo")
    async with (
        world(tmp_path, foundry(way), policy=POLICY) as here,
        here.client(mode=mode, **person.abilities) as client,
    ):
        made = await call(client, "tool:foundry/cast", with_effects=True, what="Ada", way="ask")
        assert text_of(made) == "a bell for Cleo"
        assert person.asked == ["foundry: For whom?"]


@pytest.mark.parametrize("way", ["older", "newest"])
async def test_a_call_that_its_client_gives_up_cancels_the_task_behind(tmp_path: Path, way: str) -> None:
    async with world(tmp_path, foundry(way), policy=POLICY) as here, here.client() as client:

        async def has_begun() -> bool:
            return "cast as a task" in await seen(client)

        async def is_cancelled() -> bool:
            return "cancelled" in await seen(client)

        async with anyio.create_task_group() as tasks:

            async def hang() -> None:
                await call(client, "tool:foundry/cast", with_effects=True, what="Ada", way="hang")

            tasks.start_soon(hang)
            await until(has_begun)
            tasks.cancel_scope.cancel()
        await until(is_cancelled)


async def test_a_task_that_takes_too_long_is_cancelled_and_said_so(tmp_path: Path) -> None:
    async with (
        world(tmp_path, foundry("newest"), policy=POLICY, timeout=0.5, max_timeout=0.6) as here,
        here.client() as client,
    ):
        late = await call(client, "tool:foundry/cast", with_effects=True, what="Ada", way="hang")
        assert late.is_error and "took more than 0.6 s" in text_of(late)
        assert "cancelled" in await seen(client)


async def test_a_real_server_whose_tool_takes_only_tasks_is_called_and_asks_back(
    tmp_path: Path,
    servers: Path,  # noqa: F811
) -> None:
    person = Person()

    async def choose(context: object, params: ElicitRequestParams) -> ElicitResult:
        person.asked.append(params.message)
        return ElicitResult(action="accept", content={"interpretation": "academic"})

    async with (
        world(tmp_path, npm_server(servers, "everything")) as here,
        here.client(mode="legacy", elicitation_callback=choose) as client,
    ):
        id, arguments = "tool:everything/simulate-research-query", {"topic": "bells", "ambiguous": True}
        report = await call(client, id, with_effects=True, **arguments)
        assert not report.is_error, text_of(report)
        assert "bells" in text_of(report)
        (asked,) = person.asked
        assert asked.startswith("everything: ") and "multiple interpretations" in asked


# --- a client that makes its calls as tasks ------------------------------------------------------


async def test_a_client_may_make_a_call_as_a_task_and_fetch_its_result_later(tmp_path: Path) -> None:
    async with world(tmp_path, foundry("older"), policy=POLICY) as here, here.client(mode="legacy") as client:
        assert client.server_capabilities.tasks is not None
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        support = {name: tool.execution.task_support for name, tool in tools.items() if tool.execution}
        assert support == {"foundry__cast": "optional", "foundry__polish": "optional"}
        task = await begun(client, "foundry__polish", what="Ada")
        assert task in [one["taskId"] for one in (await sent(client, "tasks/list"))["tasks"]]
        answer = await sent(client, "tasks/result", taskId=task)
        assert answer["_meta"] == {"io.modelcontextprotocol/related-task": {"taskId": task}}
        assert text_of(CallToolResult.model_validate(answer)) == "a bell for Ada"
        assert (await ended(client, task))["status"] == "completed"
        failed = await begun(client, "foundry__cast", what="Bob", way="fail")
        assert (await ended(client, failed))["status"] == "failed"
        # It may take long, so the server makes a task of it as well; and it is a call like any other.
        assert await seen(client) == "polish as a task; cast as a task"
        calls = [entry.data["capability"] for entry in here.journal("call")]
        assert {"tool:foundry/polish", "tool:foundry/cast"} <= set(calls)


def test_the_typescript_sdk_makes_a_call_as_a_task(tmp_path: Path) -> None:
    file = write_config(tmp_path, POLICY, foundry("older"))
    with prowess.open(config=str(file)) as engine:
        engine.sync()
    script = str(SERVERS / "typescript_tasks.mjs")
    command = [node(), script, str(locked_modules()), *served(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=80, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    saw = json.loads(done.stdout)
    assert saw["told"][0] == "taskCreated" and saw["told"][-2:] == ["result", "a bell for Ada"]
    assert saw["support"]["foundry__cast"] == "optional" and saw["kept"] == ["completed"]


async def test_what_a_task_of_a_client_asks_is_put_to_it_while_it_waits_for_the_result(
    tmp_path: Path,
) -> None:
    person = Person("Cleo")
    async with (
        world(tmp_path, foundry("older"), policy=POLICY) as here,
        here.client(mode="legacy", **person.abilities) as client,
    ):
        task = await begun(client, "foundry__cast", what="Ada", way="ask")

        async def waits() -> bool:
            return bool((await sent(client, "tasks/get", taskId=task))["status"] == "input_required")

        await until(waits)
        assert person.asked == []
        answer = await sent(client, "tasks/result", taskId=task)
        assert text_of(CallToolResult.model_validate(answer)) == "a bell for Cleo"
        assert person.asked == ["foundry: For whom?"]


async def test_a_task_that_is_cancelled_ends_behind_as_well_and_stays_so(tmp_path: Path) -> None:
    async with world(tmp_path, foundry("older"), policy=POLICY) as here, here.client(mode="legacy") as client:
        task = await begun(client, "foundry__cast", what="Ada", way="hang")

        async def has_begun() -> bool:
            return "cast as a task" in await seen(client)

        async def is_cancelled() -> bool:
            return "cancelled" in await seen(client)

        await until(has_begun)
        assert (await sent(client, "tasks/cancel", taskId=task))["status"] == "cancelled"
        await until(is_cancelled)
        with pytest.raises(MCPError, match="cancelled"):
            await sent(client, "tasks/result", taskId=task)
        with pytest.raises(MCPError, match="cancelled already"):
            await sent(client, "tasks/cancel", taskId=task)


async def test_tasks_are_for_who_may_call_and_belong_to_who_began_them(tmp_path: Path) -> None:
    async with (
        world(tmp_path, foundry("older"), policy=POLICY) as here,
        here.client(mode="legacy") as client,
        here.client("guest", mode="legacy") as guest,
        here.client() as newest,
    ):
        task = await begun(client, "foundry__cast", what="Ada")
        assert (await sent(guest, "tasks/list"))["tasks"] == []
        for method in ("tasks/get", "tasks/result", "tasks/cancel"):
            with pytest.raises(MCPError, match="no such task"):
                await sent(guest, method, taskId=task)
        refusals = []
        for name in ("foundry__cast", "foundry__nothing", "foundry__log", "call_with_effects"):
            with pytest.raises(MCPError) as refused:
                await begun(guest, name)
            refusals.append(refused.value.error.message.replace(name, "NAME"))
        # What is denied is answered like what does not exist.
        assert len(set(refusals)) == 1
        with pytest.raises(MCPError, match="not found"):
            await sent(newest, "tasks/get", taskId=task)
        await ended(client, task)


async def test_a_client_has_so_many_tasks_at_once_and_those_that_ended_make_room(tmp_path: Path) -> None:
    async with world(tmp_path, foundry("older"), policy=POLICY) as here, here.client(mode="legacy") as client:
        tasks = [await begun(client, "foundry__cast", what="Ada", way="hang") for _ in range(64)]
        with pytest.raises(MCPError, match="Too many tasks are running"):
            await begun(client, "foundry__cast", what="Ada")
        await sent(client, "tasks/cancel", taskId=tasks[7])
        await begun(client, "foundry__cast", what="Ada")
        kept = [one["taskId"] for one in (await sent(client, "tasks/list"))["tasks"]]
        assert len(kept) == 64 and tasks[7] not in kept
