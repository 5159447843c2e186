"""What passes through beside calls: how tools look, pages, completion, subscriptions, logs, changed lists."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.session import IncomingMessage
from mcp.shared.subscriptions import ResourceUpdated, ToolsListChanged
from mcp_types import (
    LoggingMessageNotificationParams,
    PromptReference,
    ResourceTemplateReference,
    ResourceUpdatedNotification,
    ToolListChangedNotification,
)

from prowess.sources.mcp.source import McpSource
from tests.support.gateway import SERVERS, World, call, library, text_of, until, world

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.timeout(60),
    # What exists in the older revisions alone is called here as older clients do.
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]

CANVAS = "studio://canvas"
PAGE = "ui://studio/easel.html"
POLICY = """
profiles:
  painter:
    agents: [default]
    additional_tools: ["*"]
    pinned: ["tool:studio/show_easel"]
  visitor:
    agents: [visitor]
    additional_tools: ["tool:library/*"]
  careful:
    agents: [careful]
    additional_tools: ["*"]
    ask: ["prompt:studio/*"]
"""
SKETCH = PromptReference(type="ref/prompt", name="studio/sketch")


def studio() -> McpSource:
    return McpSource(name="studio", command=sys.executable, args=(str(SERVERS / "studio.py"),))


@asynccontextmanager
async def painting(folder: Path, **more: Any) -> AsyncIterator[World]:
    async with world(folder, studio(), library(), policy=POLICY, embedder=None, **more) as here:
        yield here


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_pinned_tool_looks_as_its_server_has_it(tmp_path: Path, mode: str) -> None:
    async with painting(tmp_path) as here, here.client(mode=mode) as client:
        (easel,) = [tool for tool in (await client.list_tools()).tools if tool.name == "studio__show_easel"]
        assert easel.output_schema == {
            "type": "object",
            "properties": {"colour": {"type": "string"}},
            "required": ["colour"],
        }
        assert easel.meta == {"ui": {"resourceUri": PAGE}, "studio/room": 4}
        assert easel.icons and easel.icons[0].src == "https://studio.example/icon.png"
        assert easel.annotations and easel.annotations.read_only_hint and easel.annotations.idempotent_hint
        (prompt,) = (await client.list_prompts()).prompts[-1:]
        assert prompt.icons and prompt.icons[0].sizes == ["48x48"]


async def test_a_long_result_keeps_the_structure_that_its_schema_promises(tmp_path: Path) -> None:
    async with painting(tmp_path, max_result_characters=100) as here, here.client() as client:
        await client.list_tools()  # from now on the client refuses answers without the structure
        result = await client.call_tool("studio__show_easel", {})
        assert result.structured_content == {"colour": "red"}
        assert "100 of 16000 characters" in text_of(result)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_page_of_an_app_is_there_and_calls_its_servers_tools(tmp_path: Path, mode: str) -> None:
    """As a host does: the tool names a page, the page is read, and what it calls has its server's name."""
    async with painting(tmp_path) as here, here.client(mode=mode) as client:
        if mode == "auto":
            assert "io.modelcontextprotocol/ui" in (client.server_capabilities.extensions or {})
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        uri = (tools["studio__show_easel"].meta or {})["ui"]["resourceUri"]
        listed = {str(one.uri): one for one in (await client.list_resources()).resources}
        assert listed[uri].mime_type == "text/html;profile=mcp-app"
        assert (listed[uri].meta or {})["ui"] == {"prefersBorder": True}
        (page,) = (await client.read_resource(uri)).contents
        assert page.mime_type == "text/html;profile=mcp-app"
        assert (page.meta or {})["ui"]["csp"]["connectDomains"] == ["https://studio.example"]
        assert text_of(await client.call_tool("paint", {})).startswith("painted")
        async with here.client("visitor") as visitor:
            assert "There is no capability" in text_of(await visitor.call_tool("paint", {}))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_arguments_are_completed_by_the_server_for_those_who_may_use_it(
    tmp_path: Path, mode: str
) -> None:
    async with painting(tmp_path) as here:
        async with here.client(mode=mode) as client:
            found = await client.complete(SKETCH, {"name": "colour", "value": "r"})
            assert found.completion.values == ["red", "rose"]
            paint = ResourceTemplateReference(type="ref/resource", uri="studio://paint/{colour}")
            found = await client.complete(paint, {"name": "colour", "value": "b"})
            assert found.completion.values == ["blue"]
        for agent in ("visitor", "careful"):
            async with here.client(agent, mode=mode) as client:
                found = await client.complete(SKETCH, {"name": "colour", "value": "r"})
                assert found.completion.values == []


async def test_an_older_client_hears_of_a_resource_until_it_wants_no_more(tmp_path: Path) -> None:
    heard: list[str] = []

    async def hear(message: IncomingMessage) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            heard.append(str(message.params.uri))

    async with painting(tmp_path) as here, here.client(mode="legacy", message_handler=hear) as client:

        async def it_is_heard() -> bool:
            await call(client, "tool:studio/paint", with_effects=True)
            return bool(heard)

        await client.subscribe_resource(CANVAS)
        await until(it_is_heard)
        assert set(heard) == {CANVAS}
        await client.unsubscribe_resource(CANVAS)
        heard.clear()
        await call(client, "tool:studio/paint", with_effects=True)
        await client.send_ping()
        assert heard == []
        async with here.client("visitor", mode="legacy") as visitor:
            with pytest.raises(Exception, match="There is no resource"):
                await visitor.subscribe_resource(CANVAS)


async def test_a_client_of_the_newest_revision_hears_of_a_resource_it_may_read(tmp_path: Path) -> None:
    async with (
        painting(tmp_path) as here,
        here.client() as client,
        here.client("visitor") as visitor,
        visitor.listen(resource_subscriptions=[CANVAS]) as nothing,
        client.listen(resource_subscriptions=[CANVAS, "studio://no"]) as events,
    ):
        assert not nothing.honored.resource_subscriptions
        assert events.honored.resource_subscriptions == [CANVAS]
        got = anyio.Event()

        async def wait_for_it() -> None:
            assert await anext(aiter(events)) == ResourceUpdated(uri=CANVAS)
            got.set()

        async def it_is_heard() -> bool:
            await call(client, "tool:studio/paint", with_effects=True)
            return got.is_set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait_for_it)
            await until(it_is_heard)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_what_a_server_logs_in_a_call_reaches_the_one_who_calls(tmp_path: Path, mode: str) -> None:
    heard: list[tuple[str, str | None, Any]] = []

    async def log(message: LoggingMessageNotificationParams) -> None:
        heard.append((message.level, message.logger, message.data))

    level: dict[str, Any] = {"log_level": "info"} if mode == "auto" else {}
    async with (
        painting(tmp_path) as here,
        here.client(mode=mode, logging_callback=log, **level) as client,
        here.client("visitor", mode=mode, logging_callback=log, **level),
    ):
        if mode == "legacy":
            await client.set_logging_level("info")

        async def it_is_heard() -> bool:
            await call(client, "tool:studio/paint", with_effects=True)
            return bool(heard)

        await until(it_is_heard)
        assert set(heard) == {("warning", "studio/brush", "paint is wet (warning)")}


class Told:
    """A client, and how often it was told that its tools changed."""

    def __init__(self) -> None:
        self.times = 0
        self.listens = anyio.Event()

    async def hear(self, message: IncomingMessage) -> None:
        self.times += isinstance(message, ToolListChangedNotification)

    async def listen(self, client: Client) -> None:
        """As each revision has it; the message handler hears both."""
        if client.protocol_version < "2026":
            self.listens.set()
            return
        async with client.listen(tools_list_changed=True) as events:
            self.listens.set()
            async for event in events:
                assert event == ToolsListChanged()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_is_told_exactly_when_its_own_list_has_changed(tmp_path: Path, mode: str) -> None:
    """A policy that pins something tells the one it pins it for; what no list names tells nobody."""
    painter, visitor = Told(), Told()
    async with (
        painting(tmp_path) as here,
        here.client(mode=mode, message_handler=painter.hear) as first,
        here.client("visitor", mode=mode, message_handler=visitor.hear) as second,
        anyio.create_task_group() as tasks,
    ):
        for told, client in ((painter, first), (visitor, second)):
            await client.list_tools()
            tasks.start_soon(told.listen, client)
            await told.listens.wait()
        (tmp_path / "policy.yaml").write_text(POLICY.replace("library/*", "library/find_book"))
        await here.gateway.bus.look()
        pinning = '"tool:library/*"]\n    pinned: ["tool:library/find_book"]'
        (tmp_path / "policy.yaml").write_text(POLICY.replace('"tool:library/*"]', pinning))

        async def the_visitor_is_told() -> bool:
            return visitor.times > 0

        await until(the_visitor_is_told)
        await here.gateway.bus.look()
        names = [tool.name for tool in (await second.list_tools()).tools]
        assert names[-1] == "library__find_book"
        assert (painter.times, visitor.times) == (0, 1)
        tasks.cancel_scope.cancel()
