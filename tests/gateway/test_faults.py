"""What one bad server does to the gateway and to the others: nothing."""

import os
import signal
import time
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest
from mcp import Client

from prowess.calling.caller import Caller
from prowess.errors import SourceError
from prowess.sources.mcp.source import McpSource
from tests.support.gateway import ask, call, free_port, listening_server, text_of, until, workshop, world

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(30)]


async def test_a_server_that_is_killed_in_the_middle_of_a_call_fails_that_call_and_comes_back(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, workshop()) as here, here.client() as client:
        died = await call(client, "tool:shop/die")
        assert died.is_error
        assert "the server stopped before it had answered" in text_of(died)
        again = await call(client, "tool:shop/echo", text="here")
        assert text_of(again) == "here"


async def test_a_server_that_was_killed_while_nobody_called_is_started_again_without_an_error(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, workshop()) as here, here.client() as client:
        pid = int(text_of(await call(client, "tool:shop/pid")))
        os.kill(pid, signal.SIGKILL)
        await anyio.sleep(0.2)
        engraved = await call(client, "tool:shop/engrave", with_effects=True, text="for ever")
        assert (engraved.is_error, text_of(engraved)) == (False, "for ever")
        assert int(text_of(await call(client, "tool:shop/pid"))) != pid


async def test_a_call_that_is_never_answered_ends_in_its_time_and_others_go_on(tmp_path: Path) -> None:
    async with (
        world(tmp_path, workshop(), workshop(name="other"), timeout=5.0) as here,
        here.client() as client,
    ):
        started = time.monotonic()
        async with anyio.create_task_group() as tasks:

            async def hang() -> None:
                hung = await call(client, "tool:shop/hang")
                assert "no answer within 5 s" in text_of(hung)

            tasks.start_soon(hang)
            for name in ("shop", "other"):
                assert text_of(await call(client, f"tool:{name}/echo", text="quick")) == "quick"
            assert time.monotonic() - started < 4.5
        assert time.monotonic() - started < 15


async def test_a_server_that_stays_silent_again_and_again_is_started_anew(tmp_path: Path) -> None:
    async with world(tmp_path, workshop(), timeout=0.3) as here, here.client() as client:
        pid = text_of(await call(client, "tool:shop/pid"))
        for _ in range(3):
            await call(client, "tool:shop/hang")

        async def is_another() -> bool:
            return text_of(await call(client, "tool:shop/pid")) not in (pid, "")

        await until(is_another)


async def test_a_result_of_50_megabytes_is_cut_and_the_rest_can_be_read(tmp_path: Path) -> None:
    async with world(tmp_path, workshop()) as here, here.client() as client:
        cut = text_of(await call(client, "tool:shop/long", count=50_000_000))
        assert len(cut) < 101_000
        assert "100000 of 50000000 characters" in cut
        reference = cut.rpartition('reference "')[2].partition('"')[0]
        end = await client.call_tool("read_reference", {"reference": reference, "offset": 49_999_990})
        assert text_of(end) == "x" * 10
        async with here.client("somebody-else") as other:
            assert "There is no" in text_of(await other.call_tool("read_reference", {"reference": reference}))


async def test_a_message_without_end_stops_that_server_alone(tmp_path: Path) -> None:
    async with world(tmp_path, workshop(), workshop(name="other")) as here, here.client() as client:
        flood = await call(client, "tool:shop/long", count=70_000_000)
        assert "the server sent a message without end" in text_of(flood)
        assert text_of(await call(client, "tool:other/echo", text="fine")) == "fine"
        assert text_of(await call(client, "tool:shop/echo", text="back")) == "back"


async def test_nonsense_between_messages_harms_nobody(tmp_path: Path) -> None:
    async with world(tmp_path, workshop()) as here, here.client() as client:
        assert text_of(await call(client, "tool:shop/garble")) == "garble"


async def test_a_server_that_does_not_start_is_reported_and_tried_again_later(tmp_path: Path) -> None:
    broken = workshop(name="broken")
    object.__setattr__(broken, "command", "no-such-command-at-all")
    async with world(tmp_path, broken, workshop()) as here, here.client() as client:
        assert text_of(await call(client, "tool:shop/echo", text="fine")) == "fine"
        problems = here.engine.catalogue.problems()
        assert [problem.source for problem in problems if problem.severity == "error"] == ["broken"]
        server = here.gateway.upstreams.of("broken", Caller("default"))
        assert server is not None
        with pytest.raises(SourceError, match="no command"):  # the first attempt may be long ago
            await server.survey()
        with pytest.raises(SourceError, match="tried again in"):
            await server.survey()


async def test_a_server_that_starts_slowly_keeps_nobody_waiting_who_does_not_need_it(tmp_path: Path) -> None:
    async with world(tmp_path, workshop("late", "late"), workshop(), wait=False) as here:
        for follower in here.gateway._following.followers:
            if follower.names == ("shop",):
                await follower.synced.wait()
        here.gateway._ready = True
        async with here.client() as client:
            started = time.monotonic()
            assert text_of(await call(client, "tool:shop/echo", text="quick")) == "quick"
            assert time.monotonic() - started < 2.5
        await here.gateway.synced(20)
        async with here.client() as client:
            assert text_of(await call(client, "tool:late/echo", text="at last")) == "at last"


async def test_5000_tools_are_searched_listed_and_called_and_the_tool_list_stays_six(tmp_path: Path) -> None:
    async with world(tmp_path, workshop("many")) as here, here.client() as client:
        assert len((await client.list_tools()).tools) == 6
        found = await ask(client, "discover_capabilities", query="thing number 4321")
        assert found["capabilities"][0]["id"] == "tool:shop/tool_4321"
        page = await ask(client, "list_capabilities", provider="shop")
        assert len(page["ids"]) == 100
        following = await ask(client, "list_capabilities", provider="shop", after=page["next"])
        assert following["ids"][0] == "tool:shop/tool_0100"
        assert text_of(await call(client, "tool:shop/tool_4321", text="yes")) == "yes"


async def test_unicode_and_duplicate_names_are_called_by_their_ids_and_pinned_under_safe_names(
    tmp_path: Path,
) -> None:
    policy = """
profiles:
  owner:
    agents: [default]
    additional_tools: ["*"]
    pinned: ["tool:shop/*"]
"""
    async with world(tmp_path, workshop("odd"), policy=policy) as here, here.client() as client:
        assert text_of(await call(client, "tool:shop/工具")) == "工具"
        names = [tool.name for tool in (await client.list_tools()).tools][6:]
        assert len(names) == len(set(names)) == 6
        assert all(len(name) <= 48 and name.isascii() for name in names)
        said = {text_of(await client.call_tool(name, {})) for name in names}
        assert said == {"größe-messen", "工具", "same", "Same", "a b", "x" * 120}


async def test_no_process_outlives_the_gateway(tmp_path: Path) -> None:
    async with world(tmp_path, workshop(), workshop(name="other")) as here, here.client() as client:
        pids = [int(text_of(await call(client, f"tool:{name}/pid"))) for name in ("shop", "other")]
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


# --- over HTTP -------------------------------------------------------------------------------------


async def test_a_server_over_http_that_goes_and_comes_back_is_called_again(tmp_path: Path) -> None:
    port = free_port()
    source = McpSource(name="library", url=f"http://127.0.0.1:{port}/mcp", timeout=5)
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(AsyncExitStack())
        await first.enter_async_context(listening_server("library.py", port))
        here = await stack.enter_async_context(world(tmp_path, source, workshop(), timeout=5.0))
        client = await stack.enter_async_context(here.client())
        assert text_of(await call(client, "tool:library/find_book", title="Emma")) == "Emma (0)"
        await first.aclose()
        assert (await call(client, "tool:library/find_book", title="Emma")).is_error
        assert text_of(await call(client, "tool:shop/echo", text="fine")) == "fine"
        await stack.enter_async_context(listening_server("library.py", port))

        async def works_again() -> bool:
            return text_of(await call(client, "tool:library/find_book", title="Emma")) == "Emma (0)"

        await until(works_again, 10)


async def test_a_server_that_was_down_at_the_start_is_found_once_it_is_up(tmp_path: Path) -> None:
    port = free_port()
    source = McpSource(name="library", url=f"http://127.0.0.1:{port}/mcp", timeout=5)
    async with world(tmp_path, source, poll=0) as here, here.client() as client:
        assert (await ask(client, "list_capabilities"))["total"] == 0
        async with listening_server("library.py", port):

            async def is_there() -> bool:
                return bool((await ask(client, "list_capabilities"))["total"])

            await until(is_there, 25)


# --- in the long run --------------------------------------------------------------------------------


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def children() -> int:
    """Processes that we started and that still run."""
    lists = Path("/proc/self/task").glob("*/children")
    return sum(len(one.read_text().split()) for one in lists)


async def mixed_calls(client: Client) -> int:
    """Good calls, failures, refusals and crashes in turn, eight at a time; returns how many."""

    async def some(worker: int) -> None:
        for turn in range(12):
            match (worker + turn) % 4:
                case 0:
                    await call(client, "tool:shop/complain")
                case 1:
                    await call(client, "tool:shop/nothing")
                case 2 if worker == 2 and turn % 6 == 0:
                    await call(client, "tool:shop/die")
                case _:
                    await call(client, "tool:shop/echo", text="x" * 2000)

    async with anyio.create_task_group() as tasks:
        for worker in range(8):
            tasks.start_soon(some, worker)
    await call(client, "tool:shop/echo", text="done")
    return 8 * 12 + 1


async def test_many_mixed_calls_leave_no_process_descriptor_or_entry_behind(tmp_path: Path) -> None:
    async with world(tmp_path, workshop(), timeout=2.0) as here, here.client(mode="legacy") as client:
        made = await mixed_calls(client)
        before, running = descriptors(), children()
        for _ in range(3):
            made += await mixed_calls(client)
        assert len(here.journal("call")) == made
        here.engine.journal.verify()
        with anyio.fail_after(10):
            while children() != running:
                await anyio.sleep(0.02)
        # The store may have opened another connection, which has three.
        assert descriptors() <= before + 9
