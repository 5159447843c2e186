"""What servers ask in the middle of a call reaches the client whose call it is, whichever revisions meet."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, MCPError

from prowess.sources.mcp.source import McpSource
from tests.support.gateway import SERVERS, Person, World, call, text_of, world

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(30)]

SERVER = pytest.mark.parametrize("server", ["modern", "older"])
CLIENT = pytest.mark.parametrize("mode", ["auto", "legacy"])


def oracle(way: str) -> McpSource:
    return McpSource(
        name="oracle", command=sys.executable, args=("-S", str(SERVERS / "oracle.py"), way), timeout=20
    )


@asynccontextmanager
async def asking(
    folder: Path, server: str, mode: str, person: Person | None
) -> AsyncIterator[tuple[World, Client]]:
    abilities = person.abilities if person else {}
    async with world(folder, oracle(server)) as here, here.client(mode=mode, **abilities) as client:
        yield here, client


async def told(client: Client, name: str) -> Any:
    result = await call(client, f"tool:oracle/{name}")
    assert not result.is_error, text_of(result)
    return json.loads(text_of(result))


@SERVER
@CLIENT
async def test_a_person_a_model_and_folders_are_asked_by_the_server_behind(
    tmp_path: Path, server: str, mode: str
) -> None:
    person = Person()
    async with asking(tmp_path, server, mode, person) as (here, client):
        assert await told(client, "nothing") == []
        assert await told(client, "person") == [{"action": "accept", "content": {"name": "Ada"}}]
        assert person.asked == ["oracle: Your name?"]
        (sampled,) = await told(client, "model")
        assert (sampled["content"]["text"], sampled["model"]) == ("four", "abacus")
        assert await told(client, "roots") == [{"roots": [{"uri": "file:///home/ada"}]}]
        (paid,) = await told(client, "page")
        assert paid["action"] == "accept"
        assert [entry.data["outcome"] for entry in here.journal("call")][-1] == "ok"


@SERVER
@CLIENT
async def test_a_server_may_ask_again(tmp_path: Path, server: str, mode: str) -> None:
    person = Person()
    async with asking(tmp_path, server, mode, person) as (_, client):
        answers = await told(client, "twice")
        assert [answer["content"]["name"] for answer in answers] == ["Ada", "Ada"]
        assert len(person.asked) == 2


@SERVER
@CLIENT
async def test_a_person_is_asked_by_policy_first_and_then_by_the_server(
    tmp_path: Path, server: str, mode: str
) -> None:
    policy = """
profiles:
  careful: {agents: [default], additional_tools: ["*"], ask: ["tool:oracle/person"]}
"""
    person = Person()
    async with (
        world(tmp_path, oracle(server), policy=policy, approvals="client") as here,
        here.client(mode=mode, **person.abilities) as client,
    ):
        assert await told(client, "person") == [{"action": "accept", "content": {"name": "Ada"}}]
        assert len(person.asked) == 2
        assert "wants to use tool:oracle/person" in person.asked[0]
        assert person.asked[1] == "oracle: Your name?"


@SERVER
@CLIENT
async def test_a_person_who_declines_is_told_on_as_having_declined(
    tmp_path: Path, server: str, mode: str
) -> None:
    async with asking(tmp_path, server, mode, Person(action="decline")) as (_, client):
        assert [answer["action"] for answer in await told(client, "person")] == ["decline"]


@SERVER
@CLIENT
@pytest.mark.parametrize(("name", "what"), [("person", "elicitation"), ("model", "sampling")])
async def test_a_client_that_cannot_be_asked_is_named_as_the_reason(
    tmp_path: Path, server: str, mode: str, name: str, what: str
) -> None:
    async with asking(tmp_path, server, mode, None) as (_, client):
        said = text_of(await call(client, f"tool:oracle/{name}"))
        assert f"the client does not support {what}" in said


@CLIENT
async def test_where_two_clients_call_at_once_neither_is_asked_what_the_other_should_be(
    tmp_path: Path, mode: str
) -> None:
    ada, bob = Person(), Person("Bob")
    ada.may_answer = anyio.Event()
    async with (
        world(tmp_path, oracle("older")) as here,
        here.client(mode=mode, **ada.abilities) as one,
        here.client(mode=mode, **bob.abilities) as other,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(told, one, "person")
        await ada.came.wait()
        said = text_of(await call(other, "tool:oracle/person"))
        assert "whom it asks cannot be told" in said
        assert bob.asked == []
        ada.may_answer.set()


async def test_two_clients_of_the_newest_revision_are_asked_each_for_their_own(tmp_path: Path) -> None:
    people = [Person("Ada"), Person("Bob")]
    async with world(tmp_path, oracle("modern")) as here:

        async def one(person: Person) -> None:
            async with here.client(**person.abilities) as client:
                for _ in range(5):
                    (answer,) = await told(client, "person")
                    assert answer["content"]["name"] == person.name

        async with anyio.create_task_group() as tasks:
            for person in people:
                tasks.start_soon(one, person)


@CLIENT
async def test_what_is_asked_while_a_person_thinks_is_asked_too(tmp_path: Path, mode: str) -> None:
    person = Person()
    person.may_answer = anyio.Event()
    async with asking(tmp_path, "older", mode, person) as (_, client), anyio.create_task_group() as tasks:

        async def answer_late() -> None:
            await person.came.wait()
            await anyio.sleep(0.6)  # by now the server has asked the second thing
            person.may_answer.set()

        tasks.start_soon(answer_late)
        named, sampled = await told(client, "meanwhile")
        assert (named["content"]["name"], sampled["content"]["text"]) == ("Ada", "four")
        assert len(person.asked) == 1


async def test_a_call_that_ends_while_its_client_is_away_keeps_its_result_for_them(tmp_path: Path) -> None:
    async with asking(tmp_path, "older", "auto", Person()) as (here, client):
        asked = await first_question(client, "hasty")
        await anyio.sleep(0.6)  # by now the server has answered
        done = await client.session.call_tool(
            "call_read_only", {"id": "tool:oracle/hasty"}, request_state=asked.request_state
        )
        assert json.loads(text_of(done)) == ["done"]
        assert here.gateway.parking.waiting == 0


async def first_question(client: Client, name: str = "person") -> types.InputRequiredResult:
    asked = await client.session.call_tool(
        "call_read_only", {"id": f"tool:oracle/{name}"}, allow_input_required=True
    )
    assert isinstance(asked, types.InputRequiredResult)
    return asked


async def test_an_open_question_can_be_answered_by_the_agent_whose_call_it_is_alone(tmp_path: Path) -> None:
    policy = 'profiles: {owner: {agents: [default, other], additional_tools: ["*"]}}'
    person = Person()
    async with (
        world(tmp_path, oracle("older"), policy=policy) as here,
        here.client(**person.abilities) as client,
        here.client("other", **person.abilities) as thief,
    ):
        asked = await first_question(client)
        (key,) = asked.input_requests or {}
        answer = {key: types.ElicitResult(action="accept", content={"name": "Eve"})}
        given: dict[str, Any] = {"input_responses": answer, "request_state": asked.request_state}
        with pytest.raises(MCPError, match="not what this server gave"):
            await thief.session.call_tool("call_read_only", {"id": "tool:oracle/person"}, **given)
        for _ in range(2):
            result = await client.session.call_tool("call_read_only", {"id": "tool:oracle/person"}, **given)
        assert "no longer open" in text_of(result), "an answer counts once"


async def test_calls_that_wait_for_answers_are_bounded_and_keep_no_other_waiting(
    tmp_path: Path,
) -> None:
    async with asking(tmp_path, "older", "auto", Person()) as (here, client):
        for _ in range(70):
            await first_question(client)
        assert here.gateway.parking.waiting == 64
        assert await told(client, "person") == [{"action": "accept", "content": {"name": "Ada"}}]
