"""A store that others hold: a clean refusal before a call, and every call that was made in the journal."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from prowess.calling.call_end import CallRequest
from prowess.calling.caller import Caller
from prowess.calling.client import Client, ClientAnswer
from prowess.calling.results import Answer
from prowess.errors import StoreBusy
from prowess.gateway.refresh import AT_ONCE, LONGEST_RETRY, QUIET, Pace
from prowess.sources.mcp.source import McpSource
from prowess.store.opening import open_database
from prowess.types import Capability
from tests.support.gateway import SERVERS, World, call, text_of, until, workshop, world

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(60)]


@contextmanager
def held(store_url: str, folder: Path) -> Iterator[None]:
    """The store, while another process writes to it and does not come to an end."""
    database = open_database(store_url, folder)
    with database.writing() as transaction:
        transaction.run("UPDATE journal_head SET hash = hash")
        yield
    database.close()


def nobody(*asked: object) -> Any:
    return ClientAnswer()


async def written(here: World, outcome: str, count: int) -> None:
    async def is_there() -> bool:
        return [entry.data["outcome"] for entry in here.journal("call")].count(outcome) == count

    await until(is_there, 20)


async def test_a_call_is_refused_cleanly_while_the_store_is_held(store_url: str, tmp_path: Path) -> None:
    async with world(tmp_path, workshop(), store=store_url, patience=0.3) as here, here.client() as client:
        assert text_of(await call(client, "tool:shop/engrave", with_effects=True, text="one")) == "one"
        with held(store_url, tmp_path):
            for said in ("two", "three"):
                refused = await call(client, "tool:shop/engrave", with_effects=True, text=said)
                assert refused.is_error and "this call was not made" in text_of(refused)
                assert str(tmp_path) not in text_of(refused) and "locked" not in text_of(refused)
        await written(here, "unavailable", 2)
        assert text_of(await call(client, "tool:shop/engrave", with_effects=True, text="four")) == "four"
        assert [e.data["outcome"] for e in here.journal("call")] == ["ok", "unavailable", "unavailable", "ok"]
        here.engine.journal.verify()


async def test_a_call_that_was_made_is_in_the_journal_however_long_the_store_was_held(
    store_url: str, tmp_path: Path
) -> None:
    async with world(tmp_path, workshop(), store=store_url, patience=0.3) as here, here.client() as client:
        await call(client, "tool:shop/engrave", with_effects=True, text="one")
        busy = ExitStack()

        async def do(capability: Capability, arguments: Mapping[str, Any]) -> Answer:
            busy.enter_context(held(store_url, tmp_path))
            return {"content": [{"type": "text", "text": "made"}]}

        request = CallRequest(name="tool:shop/engrave", arguments={"text": "two"}, way="call_with_effects")
        answer = await here.gateway.calls.call(request, Client(Caller("default"), nobody), do)
        assert answer["content"][0]["text"] == "made"
        assert [entry.data["outcome"] for entry in here.journal("call")] == ["ok"]
        busy.close()
        await written(here, "ok", 2)


async def test_what_waits_when_the_gateway_ends_is_written_once_the_store_is_free(
    store_url: str, tmp_path: Path
) -> None:
    busy = ExitStack()

    async def do(capability: Capability, arguments: Mapping[str, Any]) -> Answer:
        busy.enter_context(held(store_url, tmp_path))
        return {"content": [{"type": "text", "text": "made"}]}

    async with world(tmp_path, workshop(), store=store_url, patience=0.3) as here:
        async with here.client() as client:
            await call(client, "tool:shop/engrave", with_effects=True, text="one")
        request = CallRequest(name="tool:shop/engrave", arguments={"text": "two"}, way="call_with_effects")
        await here.gateway.calls.call(request, Client(Caller("default"), nobody), do)
        busy.close()
    database = open_database(store_url, tmp_path)
    with database.reading() as transaction:
        assert transaction.one("SELECT COUNT(*) FROM journal WHERE type = 'call'") == (2,)
    database.close()


def test_giving_up_names_no_place(store_url: str, tmp_path: Path) -> None:
    first, second = open_database(store_url, tmp_path), open_database(store_url, tmp_path, patience=0.1)
    with first.writing() as one:
        one.run("UPDATE catalogue_version SET version = version")
        with pytest.raises(StoreBusy) as raised, second.writing() as other:
            other.run("UPDATE catalogue_version SET version = version")
    assert str(tmp_path) not in str(raised.value) and "the store is busy" in str(raised.value)
    first.close()
    second.close()


def test_a_server_that_always_says_it_changed_is_read_less_and_less_often() -> None:
    now = 0.0
    pace = Pace(lambda: now)
    waits = []
    for _ in range(AT_ONCE + 10):
        waits.append(pace.pause())
        now += waits[-1] + 0.01
    assert waits[:AT_ONCE] == [0] * AT_ONCE
    assert waits[AT_ONCE] == pytest.approx(1, abs=0.1) and waits[AT_ONCE + 1] == pytest.approx(2, abs=0.1)
    assert waits[-1] == pytest.approx(LONGEST_RETRY, abs=0.1)
    now += QUIET + 1
    assert pace.pause() == 0


async def test_a_server_that_goes_on_saying_it_changed_is_read_a_few_times_only(tmp_path: Path) -> None:
    chatter = McpSource(
        name="chatter", command=sys.executable, args=("-S", str(SERVERS / "chatter.py"), str(tmp_path))
    )
    async with world(tmp_path, chatter):

        async def has_said_enough() -> bool:
            said = tmp_path / "said"
            return said.exists() and int(said.read_text() or 0) >= 300

        await until(has_said_enough, 40)
    assert int((tmp_path / "listed").read_text()) <= AT_ONCE + 4
