"""The SDK of OpenAI: chat completions and Responses, over a transport that plays the model."""

import json
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest
from openai.lib.streaming.chat import ChatCompletionStreamState

from examples import openai as example
from examples.office import EXPECTED, LAST, POLICY, REQUEST, STEPS, journal, office
from prowess import ApprovalAnswer, ConfigError
from prowess.integrations.openai import acomplete, arespond, complete, respond
from tests.calling.programs import Workshop, program
from tests.integrations.openai_api import ScriptedAPI
from tests.integrations.pages import streaming

LOOPS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "openai": (complete, acomplete),
    "responses": (respond, arespond),
}
both = pytest.mark.parametrize("format", LOOPS)


def yes(question: object) -> ApprovalAnswer:
    return ApprovalAnswer(yes=True, by="the boss")


def asked(request: str = REQUEST) -> list[Any]:
    return [{"role": "user", "content": request}]


def outputs(messages: list[Any]) -> list[str]:
    """What the model was answered, as text."""
    texts = (
        one.get("output", one.get("content")) for one in messages if "call_id" in one or "tool_call_id" in one
    )
    return [text for text in texts if isinstance(text, str)]


def test_the_example_leaves_what_every_example_leaves(tmp_path: Path) -> None:
    with office(tmp_path) as engine:
        assert example.run(engine) == LAST
        assert journal(engine) == EXPECTED
        calls = engine.journal.latest(100, "ada", "call")
        known = {entry.data["offer"] for entry in engine.journal.latest(100, "ada", "offer")}
        known |= {entry.data["search"] for entry in engine.journal.latest(100, "ada", "search")}
        assert {entry.data["offer"] for entry in calls} <= known
        (answer,) = engine.approvals.list(every=True)
        assert (answer.state, answer.answered_by) == ("used", "the boss")


@both
@pytest.mark.parametrize("is_async", [False, True])
def test_both_interfaces_do_the_same_awaited_or_not(tmp_path: Path, format: str, is_async: bool) -> None:
    api = ScriptedAPI(STEPS, LAST)
    with office(tmp_path) as engine:
        talk, messages = engine.conversation("ada", format=format), asked()
        loop, aloop = LOOPS[format]
        if is_async:

            async def go() -> None:
                await aloop(api.async_client, talk, messages, model="gpt-5", approve=yes)

            anyio.run(go)
        else:
            loop(api.client, talk, messages, model="gpt-5", approve=yes)
        assert journal(engine) == EXPECTED
        assert (
            outputs(messages)[-1].startswith("Error:") and "the printer is on fire" in outputs(messages)[-1]
        )


@both
def test_every_request_begins_like_the_one_before(tmp_path: Path, format: str) -> None:
    api = ScriptedAPI(STEPS, LAST)
    with office(tmp_path) as engine:
        talk, messages = engine.conversation("ada", format=format), asked()
        LOOPS[format][0](api.client, talk, messages, model="gpt-5", approve=yes)
        messages += asked("Which suppliers do we have? Count them.")
        LOOPS[format][0](api.client, talk, messages, model="gpt-5", approve=yes)
    for part in ("tools", "messages" if format == "openai" else "input"):
        lists = [[json.dumps(one) for one in request[part]] for request in api.requests]
        assert all(after[: len(before)] == before for before, after in pairwise(lists)), part
    assert len(api.requests) == len(STEPS) + 2


def test_what_a_search_finds_is_in_the_next_request(tmp_path: Path) -> None:
    api = ScriptedAPI(STEPS, LAST)
    with office(tmp_path) as engine:
        complete(api.client, engine.conversation("ada", format="openai"), asked("Hello!"), model="gpt-5")
    names = [[tool["function"]["name"] for tool in request["tools"]] for request in api.requests]
    assert "send_email" not in names[1] and "send_email" in names[2]


@both
def test_what_is_denied_between_offer_and_call_reads_as_unknown(tmp_path: Path, format: str) -> None:
    def deny() -> None:
        (tmp_path / "policy.yaml").write_text(POLICY.replace("tool:delete_*", "tool:find_*"))

    steps = [STEPS[0], ("find_receipts", {"customer": "ACME"})]
    api = ScriptedAPI(steps, before={0: deny})
    with office(tmp_path) as engine:
        messages = asked()
        LOOPS[format][0](api.client, engine.conversation("ada", format=format), messages, model="gpt-5")
        denied, unknown = outputs(messages)
    assert "There is no capability" in denied
    assert denied.replace("invoices", "receipts") == unknown


def test_without_an_answer_the_model_is_told_that_a_person_was_asked(tmp_path: Path) -> None:
    api = ScriptedAPI(STEPS[2:3])
    with office(tmp_path) as engine:
        messages = asked()
        complete(api.client, engine.conversation("ada", format="openai"), messages, model="gpt-5")
        assert "waits for a person" in outputs(messages)[0]
        assert [question.state for question in engine.approvals.list()] == ["pending"]


@both
@pytest.mark.parametrize("is_async", [False, True])
def test_what_somebody_answers_elsewhere_meanwhile_holds(tmp_path: Path, format: str, is_async: bool) -> None:
    api = ScriptedAPI(STEPS[2:3])
    with office(tmp_path) as engine:

        def slow(question: Any) -> ApprovalAnswer:
            engine.approvals.answer(question.id, ApprovalAnswer(yes=False, by="kim"))
            return yes(question)

        talk = engine.conversation("ada", format=format)
        if is_async:
            anyio.run(partial(LOOPS[format][1], api.async_client, talk, asked(), model="m", approve=slow))
        else:
            LOOPS[format][0](api.client, talk, asked(), model="m", approve=slow)
        assert [one.answered_by for one in engine.approvals.list(every=True)] == ["kim"]
        assert ("tool:send_email", "ok") not in journal(engine)


def test_a_no_is_recorded_and_nothing_is_called(tmp_path: Path) -> None:
    api = ScriptedAPI(STEPS[2:3])
    with office(tmp_path) as engine:
        talk, no = engine.conversation("ada", format="openai"), ApprovalAnswer(yes=False, by="the boss")
        complete(api.client, talk, asked(), model="gpt-5", approve=lambda question: no)
        assert [question.state for question in engine.approvals.list(every=True)] == ["refused"]
        assert ("tool:send_email", "ok") not in journal(engine)


@both
def test_what_the_sdk_sends_again_is_done_once(tmp_path: Path, format: str) -> None:
    made, api = Workshop(), ScriptedAPI([("send_mail", {"to": "ann"})], failing={0, 2})
    with program(tmp_path, workshop=made) as engine:
        talk = engine.conversation(format=format)
        LOOPS[format][0](api.client, talk, asked("send a mail to Ann"), model="gpt-5")
        assert made.done == ["mail ann"]
        assert len(engine.journal.latest(10, type="offer")) == 1


@both
def test_another_process_goes_on_where_one_ended_and_does_no_call_twice(tmp_path: Path, format: str) -> None:
    store, made = f"sqlite:{tmp_path / 'store.db'}", Workshop()
    api = ScriptedAPI([("send_mail", {"to": "ann"})], failing={1, 2, 3})
    messages = asked("send a mail to Ann")
    with program(tmp_path, store, workshop=made) as engine:
        talk = engine.conversation(format=format)
        with pytest.raises(Exception, match="down"):
            LOOPS[format][0](api.client, talk, messages, model="gpt-5")
        kept = talk.dump()
    forgotten = json.loads(json.dumps(messages[:-1]))  # it ended before the answer was kept
    with program(tmp_path, store, workshop=made) as engine:
        talk = engine.conversation(resume=kept)
        LOOPS[format][0](api.client, talk, forgotten, model="gpt-5")
        assert made.done == ["mail ann"]
        assert len(engine.journal.latest(10, type="offer")) == 1
        assert outputs(forgotten) == outputs(messages)


def test_a_model_that_never_stops_calling_is_left(tmp_path: Path) -> None:
    api = ScriptedAPI([("add", {"a": 1})] * 9)
    with program(tmp_path) as engine:
        talk, messages = engine.conversation(format="openai"), asked("add two numbers")
        said = complete(api.client, talk, messages, model="gpt-5", max_requests=3)
        assert said.choices[0].message.tool_calls and len(api.requests) == 3


def test_a_conversation_of_another_format_is_refused(tmp_path: Path) -> None:
    with program(tmp_path) as engine, pytest.raises(ConfigError, match="not 'openai'"):
        complete(ScriptedAPI([]).client, engine.conversation(format="gemini"), asked(), model="gpt-5")


@both
def test_an_answer_is_shown_while_it_is_said_as_the_page_does_it(
    tmp_path: Path, format: str, capsys: pytest.CaptureFixture[str]
) -> None:
    loop, (whole, streamed) = LOOPS[format][0], (ScriptedAPI(STEPS, LAST), ScriptedAPI(STEPS, LAST))
    with office(made(tmp_path / "whole")) as engine:
        loop(whole.client, engine.conversation("ada", format=format), asked(), model="gpt-5", approve=yes)
    with office(made(tmp_path / "streamed")) as engine:
        names: dict[str, Any] = {loop.__name__: partial(loop, approve=yes), "client": streamed.client}
        names |= {"talk": engine.conversation("ada", format=format), "messages": asked(), "items": asked()}
        names["ChatCompletionStreamState"] = ChatCompletionStreamState
        exec(streaming("openai")[list(LOOPS).index(format)], names)
        assert journal(engine) == EXPECTED
    assert capsys.readouterr().out == LAST
    assert all(request.pop("stream") for request in streamed.requests)
    assert streamed.requests == whole.requests


def test_an_answer_is_streamed_where_everything_is_awaited(tmp_path: Path) -> None:
    made, spoken = Workshop(), list[str]()
    client = ScriptedAPI([("send_mail", {"to": "ann"})], LAST).async_client

    async def streamed(**request: Any) -> Any:
        state: ChatCompletionStreamState[Any] = ChatCompletionStreamState()
        async for chunk in await client.chat.completions.create(**request, stream=True):
            state.handle_chunk(chunk)
            spoken.extend(choice.delta.content or "" for choice in chunk.choices)
        return state.get_final_completion()

    with program(tmp_path, workshop=made) as engine:
        talk, messages = engine.conversation(format="openai"), asked("send a mail to Ann")
        anyio.run(partial(acomplete, client, talk, messages, create=streamed, model="gpt-5"))
    assert made.done == ["mail ann"] and "".join(spoken) == LAST


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder
