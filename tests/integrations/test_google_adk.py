"""Google ADK: real runners and sessions, with a model that says what a script says."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner, Runner
from google.adk.sessions.base_session_service import BaseSessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai.types import Content, FunctionCall, FunctionResponse, Part
from pydantic import Field

from examples import google_adk as example
from examples.office import EXPECTED, LAST, POLICY, REQUEST, STEPS, journal, office
from prowess import ConfigError, Engine
from prowess.integrations.google_adk import AdkToolset
from tests.calling.programs import Workshop, program

Step = tuple[str, dict[str, Any]]


class ScriptedGemini(BaseLlm):
    steps: list[Step] = Field(default_factory=list)
    ids: list[str] = Field(default_factory=list)
    before: Callable[[int], None] = lambda done: None
    requests: list[list[str]] = Field(default_factory=list)
    texts: list[str] = Field(default_factory=list)

    async def generate_content_async(
        self, request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        said = [tool.model_dump_json() for tool in request.config.tools[0].function_declarations]
        self.requests.append(said)
        self.texts.append("\n".join(part.text or "" for each in request.contents for part in each.parts))
        done = len(self.requests) - 1
        self.before(done)
        part = Part(text=LAST)
        if done < len(self.steps):
            name, arguments = self.steps[done]
            id = self.ids[done] if self.ids else None
            part = Part(function_call=FunctionCall(id=id, name=name, args=arguments))
        yield LlmResponse(content=Content(role="model", parts=[part]))


class Chat:
    """One session of one agent, as a user's program holds it."""

    def __init__(
        self,
        engine: Engine,
        model: ScriptedGemini,
        sessions: BaseSessionService | None = None,
        agent: str = "ada",
    ) -> None:
        tools = AdkToolset(engine, agent)
        ada = LlmAgent(name="ada", model=model, tools=[tools], before_agent_callback=tools.enter)
        self.runner = InMemoryRunner(agent=ada)
        if sessions is not None:
            self.runner = Runner(agent=ada, app_name="office", session_service=sessions)
        self.runner.auto_create_session = True
        self.asked: list[FunctionCall] = []
        self.answers: list[dict[str, Any]] = []

    def say(self, *parts: Part) -> None:
        asyncio.run(self._say(parts))

    def answer(self, confirmed: bool) -> None:
        (asked,) = self.asked
        response = FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": confirmed})
        self.say(Part(function_response=response))

    async def _say(self, parts: Sequence[Part]) -> None:
        message = Content(role="user", parts=list(parts))
        async for event in self.runner.run_async(user_id="boss", session_id="1", new_message=message):
            calls = event.get_function_calls()
            self.asked += [call for call in calls if call.name == "adk_request_confirmation"]
            self.answers += [answer.response for answer in event.get_function_responses()]


def names(request: Sequence[str]) -> list[str]:
    return [json.loads(tool)["name"] for tool in request]


def test_the_example_leaves_what_every_example_leaves(tmp_path: Path) -> None:
    with office(tmp_path) as engine:
        assert asyncio.run(example.run(engine)) == LAST
        assert journal(engine) == EXPECTED
        known = {entry.data["offer"] for entry in engine.journal.latest(100, "ada", "offer")}
        known |= {entry.data["search"] for entry in engine.journal.latest(100, "ada", "search")}
        assert {entry.data["offer"] for entry in engine.journal.latest(100, "ada", "call")} <= known
        (question,) = engine.approvals.list(every=True)
        assert (question.state, question.answered_by) == ("used", "boss")


def test_every_request_begins_with_the_tools_of_the_one_before(tmp_path: Path) -> None:
    model = ScriptedGemini(model="x", steps=list(STEPS[:2]))
    with office(tmp_path) as engine:
        chat = Chat(engine, model)
        chat.say(Part(text=REQUEST))
        chat.say(Part(text="Which suppliers do we have? Count them."))
        assert len(engine.journal.latest(10, "ada", "offer")) == 2
    assert all(after[: len(before)] == before for before, after in pairwise(model.requests))
    assert len(model.requests) == 4 and len(model.requests[-1]) > len(model.requests[0])


def test_what_a_search_finds_is_there_in_the_same_run(tmp_path: Path) -> None:
    model = ScriptedGemini(model="x", steps=[STEPS[1], ("send_email", {"to": "ann"})])
    with office(tmp_path) as engine:
        chat = Chat(engine, model)
        chat.say(Part(text="Hello!"))
    assert "send_email" not in names(model.requests[0]) and "send_email" in names(model.requests[1])
    assert "text" in chat.answers[-1]["error"]


def test_what_was_found_for_the_turn_stands_behind_what_the_user_says(tmp_path: Path) -> None:
    model = ScriptedGemini(model="x", steps=list(STEPS[:1]))
    with office(tmp_path) as engine:
        Chat(engine, model).say(Part(text=REQUEST))
    for text in model.texts:
        assert text.index(REQUEST) < text.index("Tools that fit")


def test_what_is_denied_between_offer_and_call_reads_as_unknown(tmp_path: Path) -> None:
    def deny(done: int) -> None:
        (tmp_path / "policy.yaml").write_text(POLICY.replace("tool:delete_*", "tool:find_*"))

    model = ScriptedGemini(model="x", steps=[STEPS[0]], before=deny)
    with office(tmp_path) as engine:
        chat = Chat(engine, model)
        chat.say(Part(text=REQUEST))
        unknown = engine.call("find_receipts", {"customer": "ACME"}, agent="ada").text
        assert chat.answers[0]["error"] == unknown.replace("receipts", "invoices")


def test_what_raises_is_an_error_that_the_model_reads(tmp_path: Path) -> None:
    model = ScriptedGemini(model="x", steps=[STEPS[3]])
    with office(tmp_path) as engine:
        chat = Chat(engine, model)
        chat.say(Part(text=REQUEST))
    assert "the printer is on fire" in chat.answers[0]["error"]
    assert len(model.requests) == 2


def test_a_no_is_recorded_and_nothing_is_called(tmp_path: Path) -> None:
    model = ScriptedGemini(model="x", steps=[STEPS[1], STEPS[2]])
    with office(tmp_path) as engine:
        chat = Chat(engine, model)
        chat.say(Part(text=REQUEST))
        chat.answer(confirmed=False)
        (question,) = engine.approvals.list(every=True)
        assert (question.state, question.answered_by) == ("refused", "boss")
        assert ("tool:send_email", "ok") not in journal(engine)
        assert "error" in chat.answers[-1]


def test_another_process_goes_on_with_the_session_and_its_question(tmp_path: Path) -> None:
    sessions = str(tmp_path / "sessions.db")
    first = ScriptedGemini(model="x", steps=[STEPS[1], STEPS[2]])
    with office(tmp_path) as engine:
        chat = Chat(engine, first, SqliteSessionService(sessions))
        chat.say(Part(text=REQUEST))
        asked = chat.asked
    second = ScriptedGemini(model="x")
    with office(tmp_path) as engine:
        chat = Chat(engine, second, SqliteSessionService(sessions))
        chat.asked = asked
        chat.answer(confirmed=True)
        assert chat.answers == [{"result": "sent to ann@example.com"}]
        assert journal(engine) == EXPECTED[1:3]
        assert len(engine.journal.latest(10, "ada", "offer")) == 1
    assert second.requests[0][: len(first.requests[-1])] == first.requests[-1]


def test_a_call_that_comes_again_is_made_once(tmp_path: Path) -> None:
    mail = ("send_mail", {"to": "ann"})
    model, made = ScriptedGemini(model="x", steps=[mail, mail], ids=["call_1", "call_1"]), Workshop()
    with program(tmp_path, workshop=made) as engine:
        chat = Chat(engine, model, agent="default")
        chat.say(Part(text="send a mail to Ann"))
        assert made.done == ["mail ann"]
        assert chat.answers[0] == chat.answers[1]


def test_an_agent_that_does_not_say_when_a_turn_begins_is_told(tmp_path: Path) -> None:
    model = ScriptedGemini(model="x")
    with office(tmp_path) as engine:
        chat = Chat(engine, model)
        chat.runner.agent.before_agent_callback = None
        with pytest.raises(ConfigError, match=r"before_agent_callback=tools\.enter"):
            chat.say(Part(text=REQUEST))


def test_without_a_session_the_toolset_lists_what_is_allowed(tmp_path: Path) -> None:
    with office(tmp_path) as engine:
        listed = asyncio.run(AdkToolset(engine, "ada").get_tools())
        assert {tool.name for tool in listed} == {tool["name"] for tool in engine.definitions("ada")}
