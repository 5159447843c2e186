"""The SDK of Anthropic: messages with deferred tools, and the tool runner of its beta."""

import json
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest

from examples import anthropic as example
from examples.office import EXPECTED, LAST, POLICY, REQUEST, STEPS, journal, office
from prowess import ApprovalAnswer
from prowess.integrations.anthropic import aconverse, async_tool_runner, converse, tool_runner
from tests.calling.programs import Workshop, program
from tests.integrations.anthropic_api import ScriptedMessages
from tests.integrations.pages import streaming

OPTIONS: dict[str, Any] = {"model": "claude-x", "max_tokens": 500}


def yes(question: object) -> ApprovalAnswer:
    return ApprovalAnswer(yes=True, by="the boss")


async def yes_later(question: object) -> ApprovalAnswer:
    return yes(question)


def by_messages(api: ScriptedMessages, talk: Any, messages: list[Any], **options: Any) -> None:
    converse(api.client, talk, messages, **OPTIONS, **options)


def by_runner(api: ScriptedMessages, talk: Any, messages: list[Any], **options: Any) -> None:
    tool_runner(api.client, talk, messages, **OPTIONS, **options).until_done()


def by_awaiting(api: ScriptedMessages, talk: Any, messages: list[Any], **options: Any) -> None:
    async def go() -> None:
        await aconverse(api.async_client, talk, messages, **OPTIONS, **options)

    anyio.run(go)


def by_async_runner(api: ScriptedMessages, talk: Any, messages: list[Any], **options: Any) -> None:
    async def go() -> None:
        await async_tool_runner(api.async_client, talk, messages, **OPTIONS, **options).until_done()

    anyio.run(go)


Ways = Callable[..., None]
every_way = pytest.mark.parametrize("go", [by_messages, by_runner, by_awaiting, by_async_runner])
both = pytest.mark.parametrize("go", [by_messages, by_runner])


def asked(request: str = REQUEST) -> list[Any]:
    return [{"role": "user", "content": request}]


def texts(api: ScriptedMessages) -> list[str]:
    return [one["content"][0].get("text", "") for one in api.results]


def test_the_example_leaves_what_every_example_leaves(tmp_path: Path) -> None:
    with office(tmp_path) as engine:
        assert example.run(engine) == LAST
        assert journal(engine) == EXPECTED
        calls = engine.journal.latest(100, "ada", "call")
        known = {entry.data["offer"] for entry in engine.journal.latest(100, "ada", "offer")}
        known |= {entry.data["search"] for entry in engine.journal.latest(100, "ada", "search")}
        assert {entry.data["offer"] for entry in calls} <= known


@every_way
def test_every_way_does_the_same(tmp_path: Path, go: Ways) -> None:
    api = ScriptedMessages(STEPS, LAST)
    with office(tmp_path) as engine:
        approve = yes_later if go in (by_awaiting, by_async_runner) else yes
        go(api, engine.conversation("ada", format="anthropic"), asked(), approve=approve)
        assert journal(engine) == EXPECTED
        assert len(engine.journal.latest(10, "ada", "offer")) == 1
        assert [one.answered_by for one in engine.approvals.list(every=True)] == ["the boss"]
    searched, failed = api.results[1], api.results[3]
    assert {"type": "tool_reference", "tool_name": "send_email"} in searched["content"]
    assert failed["is_error"] and "the printer is on fire" in failed["content"][0]["text"]


def test_every_request_begins_like_the_one_before_and_has_the_same_tools(tmp_path: Path) -> None:
    api = ScriptedMessages(STEPS, LAST)
    with office(tmp_path) as engine:
        talk, messages = engine.conversation("ada", format="anthropic"), asked()
        by_messages(api, talk, messages, approve=yes, system="Be brief.")
        messages += asked("Which suppliers do we have? Count them.")
        by_messages(api, talk, messages, approve=yes, system="Be brief.")
    lists = [[json.dumps(one) for one in request["messages"]] for request in api.requests]
    assert all(after[: len(before)] == before for before, after in pairwise(lists))
    assert len({json.dumps([request["system"], request["tools"]]) for request in api.requests}) == 1
    assert api.requests[0]["system"][0]["text"] == "Be brief."
    assert sum(not tool.get("defer_loading") for tool in api.requests[0]["tools"]) < 20


@both
def test_what_is_denied_between_offer_and_call_reads_as_unknown(tmp_path: Path, go: Ways) -> None:
    def deny() -> None:
        (tmp_path / "policy.yaml").write_text(POLICY.replace("tool:delete_*", "tool:find_*"))

    api = ScriptedMessages(STEPS[:1], before={0: deny})
    with office(tmp_path) as engine:
        go(api, engine.conversation("ada", format="anthropic"), asked())
        (denied,) = texts(api)
        unknown = engine.call("find_receipts", {"customer": "ACME"}, agent="ada").text
    assert "There is no capability" in denied
    assert denied.replace("invoices", "receipts") == unknown


@both
def test_without_an_answer_the_model_is_told_that_a_person_was_asked(tmp_path: Path, go: Ways) -> None:
    api = ScriptedMessages(STEPS[2:3])
    with office(tmp_path) as engine:
        go(api, engine.conversation("ada", format="anthropic"), asked())
        assert "waits for a person" in texts(api)[0]
        assert [question.state for question in engine.approvals.list()] == ["pending"]


@every_way
def test_what_the_sdk_sends_again_is_done_once(tmp_path: Path, go: Ways) -> None:
    made, api = Workshop(), ScriptedMessages([("send_mail", {"to": "ann"})], failing={0, 2})
    with program(tmp_path, workshop=made) as engine:
        go(api, engine.conversation(format="anthropic"), asked("send a mail to Ann"))
        assert made.done == ["mail ann"]
        assert len(engine.journal.latest(10, type="offer")) == 1


def test_a_call_that_the_runner_is_asked_for_again_is_made_once(tmp_path: Path) -> None:
    made, api = Workshop(), ScriptedMessages([("send_mail", {"to": "ann"})] * 2)
    with program(tmp_path, workshop=made) as engine:
        talk = engine.conversation(format="anthropic")
        runner = tool_runner(api.client, talk, asked("send a mail to Ann"), **OPTIONS)
        first = next(runner)
        answers = runner.generate_tool_call_response()
        assert answers and made.done == ["mail ann"]
        runner.append_messages(first, answers)  # what was kept of the answers is forgotten with this
        assert runner.generate_tool_call_response() and made.done == ["mail ann"]
        runner.until_done()
        assert made.done == ["mail ann"] * 2


def test_another_process_goes_on_where_one_ended_and_does_no_call_twice(tmp_path: Path) -> None:
    store, made = f"sqlite:{tmp_path / 'store.db'}", Workshop()
    api = ScriptedMessages([("send_mail", {"to": "ann"})], failing={1, 2, 3})
    messages = asked("send a mail to Ann")
    with program(tmp_path, store, workshop=made) as engine:
        talk = engine.conversation(format="anthropic")
        with pytest.raises(Exception, match="down"):
            by_messages(api, talk, messages)
        kept = talk.dump()
    forgotten = json.loads(json.dumps(messages[:-1]))  # it ended before the answer was kept
    with program(tmp_path, store, workshop=made) as engine:
        by_messages(api, engine.conversation(resume=kept), forgotten)
        assert made.done == ["mail ann"]
        assert len(engine.journal.latest(10, type="offer")) == 1
        assert forgotten[: len(messages)] == messages


@both
def test_a_call_that_was_cut_off_while_it_was_said_is_not_made(tmp_path: Path, go: Ways) -> None:
    made, api = Workshop(), ScriptedMessages([("send_mail", {"to": "ann"})], is_cut=True)
    with program(tmp_path, workshop=made) as engine:
        go(api, engine.conversation(format="anthropic"), asked("send a mail to Ann"))
        assert made.done == [] and len(api.requests) == 1


def test_a_loop_that_was_left_goes_on_with_the_call_that_waits(tmp_path: Path) -> None:
    made, api = Workshop(), ScriptedMessages([("send_mail", {"to": "ann"})])
    with program(tmp_path, workshop=made) as engine:
        talk, messages = engine.conversation(format="anthropic"), asked("send a mail to Ann")
        converse(api.client, talk, messages, **OPTIONS, max_requests=1)
        assert made.done == [] and messages[-1]["role"] == "assistant"
        converse(api.client, talk, messages, **OPTIONS)
        assert made.done == ["mail ann"]


def test_an_answer_is_shown_while_it_is_said_as_the_page_does_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, streamed = ScriptedMessages(STEPS, LAST), ScriptedMessages(STEPS, LAST)
    options = {**OPTIONS, "model": "claude-sonnet-5", "max_tokens": 1000, "approve": yes}
    with office(made(tmp_path / "whole")) as engine:
        converse(whole.client, engine.conversation("ada", format="anthropic"), asked(), **options)
    with office(made(tmp_path / "streamed")) as engine:
        names: dict[str, Any] = {"client": streamed.client, "converse": partial(converse, approve=yes)}
        names |= {"talk": engine.conversation("ada", format="anthropic"), "messages": asked()}
        exec(streaming("anthropic")[0], names)
        assert journal(engine) == EXPECTED
    assert capsys.readouterr().out == LAST
    assert all(request.pop("stream") for request in streamed.requests)
    assert streamed.requests == whole.requests


def test_an_answer_is_streamed_where_everything_is_awaited(tmp_path: Path) -> None:
    made, spoken = Workshop(), list[str]()
    client = ScriptedMessages([("send_mail", {"to": "ann"})], LAST).async_client

    async def streamed(**request: Any) -> Any:
        async with client.messages.stream(**request) as stream:
            spoken.extend([text async for text in stream.text_stream])
            return await stream.get_final_message()

    with program(tmp_path, workshop=made) as engine:
        talk = engine.conversation(format="anthropic")
        messages = asked("send a mail to Ann")
        anyio.run(partial(aconverse, client, talk, messages, create=streamed, **OPTIONS))
    assert made.done == ["mail ann"] and "".join(spoken) == LAST


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder
