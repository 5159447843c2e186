"""Haystack: real agents, with a component that says what a script says."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ChatRole, ToolCall
from haystack.hooks.human_in_the_loop import ConfirmationUIResult
from haystack.hooks.human_in_the_loop.types import ConfirmationUI
from haystack.tools import Tool

from examples import haystack_ai as example
from examples.office import EXPECTED, LAST, POLICY, REQUEST, STEPS, journal, office
from prowess.integrations.haystack_ai import HaystackToolset
from tests.calling.programs import Workshop, program


@component
class ScriptedGenerator:
    def __init__(self, *steps: tuple[str, dict[str, Any]], before: Callable[[], object] = str) -> None:
        self.steps, self.before = steps, before
        self.requests: list[list[Tool]] = []
        self.messages: list[list[ChatMessage]] = []

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: list[Tool]) -> dict[str, list[ChatMessage]]:
        self.requests.append(tools)
        self.messages.append(list(messages))
        self.before()
        done = len(self.requests) - 1
        calls = [ToolCall(name, given, id="call_0") for name, given in self.steps[done : done + 1]]
        return {"replies": [ChatMessage.from_assistant(None if calls else LAST, tool_calls=calls)]}

    @property
    def listed(self) -> list[list[str]]:
        return [
            [json.dumps([one.name, one.description, one.parameters]) for one in each]
            for each in self.requests
        ]

    @property
    def names(self) -> list[list[str]]:
        return [[tool.name for tool in each] for each in self.requests]


@dataclass
class Person(ConfirmationUI):
    says: list[ConfirmationUIResult]
    asked: list[str] = field(default_factory=list)

    def get_user_confirmation(
        self, tool_name: str, tool_description: str, tool_params: dict[str, Any]
    ) -> ConfirmationUIResult:
        self.asked.append(tool_name)
        return self.says.pop()


def agent_of(tools: HaystackToolset, model: ScriptedGenerator) -> Agent:
    return Agent(chat_generator=model, tools=tools, hooks=tools.hooks)


def said(text: str = REQUEST) -> list[ChatMessage]:
    return [ChatMessage.from_user(text)]


def answers(messages: Sequence[ChatMessage]) -> list[str]:
    return [str(one.tool_call_result.result) for one in messages if one.is_from(ChatRole.TOOL)]


def test_the_example_leaves_what_every_example_leaves(tmp_path: Path) -> None:
    with office(tmp_path) as engine:
        assert example.run(engine) == LAST
        assert journal(engine) == EXPECTED
        known = {entry.data["offer"] for entry in engine.journal.latest(100, "ada", "offer")}
        known |= {entry.data["search"] for entry in engine.journal.latest(100, "ada", "search")}
        assert {entry.data["offer"] for entry in engine.journal.latest(100, "ada", "call")} <= known
        (question,) = engine.approvals.list(every=True)
        assert (question.state, question.answered_by) == ("used", "the boss")


def test_every_request_begins_like_the_one_before(tmp_path: Path) -> None:
    model = ScriptedGenerator(*STEPS[:2])
    with office(tmp_path) as engine:
        agent = agent_of(HaystackToolset(engine.conversation("ada")), model)
        messages = agent.run(messages=said())["messages"]
        agent.run(messages=[*messages, *said("Which suppliers do we have? Count them.")])
    assert len(model.requests) == 4 and len(model.requests[-1]) > len(model.requests[0])
    assert all(after[: len(before)] == before for before, after in pairwise(model.listed))
    assert all(after[: len(before)] == before for before, after in pairwise(model.messages))


def test_what_a_search_finds_is_there_in_the_same_run(tmp_path: Path) -> None:
    model = ScriptedGenerator(STEPS[1])
    with office(tmp_path) as engine:
        agent_of(HaystackToolset(engine.conversation("ada")), model).run(messages=said("Hello!"))
    assert "send_email" not in model.names[0] and "send_email" in model.names[1]


def test_what_is_denied_between_offer_and_call_reads_as_unknown(tmp_path: Path) -> None:
    def deny() -> None:
        (tmp_path / "policy.yaml").write_text(POLICY.replace("tool:delete_*", "tool:find_*"))

    model = ScriptedGenerator(STEPS[0], before=deny)
    with office(tmp_path) as engine:
        result = agent_of(HaystackToolset(engine.conversation("ada")), model).run(messages=said())
        (answer,) = answers(result["messages"])
        unknown = engine.call("find_receipts", {"customer": "ACME"}, agent="ada").text
        assert answer.endswith(unknown.replace("receipts", "invoices"))


def test_what_raises_is_an_error_that_the_model_reads(tmp_path: Path) -> None:
    model = ScriptedGenerator(STEPS[3])
    with office(tmp_path) as engine:
        result = agent_of(HaystackToolset(engine.conversation("ada")), model).run(messages=said())
    (answer,) = [one.tool_call_result for one in result["messages"] if one.is_from(ChatRole.TOOL)]
    assert answer.error and "the printer is on fire" in answer.result
    assert result["last_message"].text == LAST


def test_a_no_is_recorded_and_nothing_is_called(tmp_path: Path) -> None:
    model, person = ScriptedGenerator(*STEPS[1:3]), Person([ConfirmationUIResult("reject", "not today")])
    with office(tmp_path) as engine:
        agent_of(HaystackToolset(engine.conversation("ada"), ui=person), model).run(messages=said())
        (question,) = engine.approvals.list(every=True)
        assert (question.state, question.note) == ("refused", "not today")
        assert ("tool:send_email", "ok") not in journal(engine)
    assert person.asked == ["send_email"]


def test_what_a_person_changes_is_what_is_sent(tmp_path: Path) -> None:
    better = {"to": "bob@example.com", "text": "Invoices 17 and 23 are open."}
    model = ScriptedGenerator(*STEPS[1:3])
    person = Person([ConfirmationUIResult("modify", new_tool_params=better)])
    with office(tmp_path) as engine:
        result = agent_of(HaystackToolset(engine.conversation("ada"), ui=person), model).run(messages=said())
        assert answers(result["messages"])[-1] == "sent to bob@example.com"


def test_without_somebody_to_ask_the_question_waits_and_the_model_is_told(tmp_path: Path) -> None:
    model = ScriptedGenerator(*STEPS[1:3])
    with office(tmp_path) as engine:
        result = agent_of(HaystackToolset(engine.conversation("ada")), model).run(messages=said())
        assert [question.state for question in engine.approvals.list()] == ["pending"]
        assert "person" in answers(result["messages"])[-1]


def test_another_process_goes_on_with_the_conversation(tmp_path: Path) -> None:
    first, second = ScriptedGenerator(STEPS[1]), ScriptedGenerator(STEPS[2])
    with office(tmp_path) as engine:
        talk = engine.conversation("ada")
        messages = agent_of(HaystackToolset(talk), first).run(messages=said())["messages"]
        kept, written = talk.dump(), [message.to_dict() for message in messages]
    person = Person([ConfirmationUIResult("confirm")])
    with office(tmp_path) as engine:
        tools = HaystackToolset(engine.conversation(resume=kept), ui=person)
        history = [ChatMessage.from_dict(one) for one in json.loads(json.dumps(written))]
        agent_of(tools, second).run(messages=[*history, *said("Send it, please.")])
        assert journal(engine) == EXPECTED[1:3]
    assert second.listed[0][: len(first.listed[-1])] == first.listed[-1]


def test_a_run_that_comes_again_makes_no_second_offer_and_no_second_call(tmp_path: Path) -> None:
    made = Workshop()
    with program(tmp_path, workshop=made) as engine:
        tools = HaystackToolset(engine.conversation())
        for _ in range(2):  # as a pipeline does that tries its component again
            agent_of(tools, ScriptedGenerator(("send_mail", {"to": "ann"}))).run(messages=said("mail to Ann"))
        assert made.done == ["mail ann"]
        assert len(engine.journal.latest(10, type="offer")) == 1
