"""Pydantic AI itself, with its own double of a model: what prowess promises holds in its agents."""

import importlib
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.capabilities import HandleDeferredToolCalls, ToolSearch
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.native_tools import SUPPORTED_NATIVE_TOOLS
from pydantic_ai.profiles import ModelProfile

from examples.office import EXPECTED, POLICY, REQUEST, journal, office
from examples.pydantic_ai import run
from prowess import ApprovalAnswer, Engine, MissingExtra
from prowess.integrations.pydantic_ai import ProwessToolset
from tests.calling.programs import Workshop, program

Step = Any  # a call, or the last word
MAIL = {"to": "ann@example.com", "text": "Invoices 17 and 23 are open."}
YES, NO = ApprovalAnswer(yes=True, by="the boss"), ApprovalAnswer(yes=False, by="the boss")


def scripted(*steps: Step | Callable[[], Step], seen: list[AgentInfo] | None = None) -> FunctionModel:
    """A model that says one thing after the other; each request's tools are kept in `seen`."""

    def say(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if seen is not None:
            seen.append(info)
        step = steps[sum(isinstance(message, ModelResponse) for message in messages)]
        said = step() if callable(step) else step
        return ModelResponse([TextPart(said) if isinstance(said, str) else said])

    return FunctionModel(say)


def agent_of(toolset: ProwessToolset, model: FunctionModel) -> Agent[None, Any]:
    search = ToolSearch[None](strategy=toolset.search)
    capabilities = [search] if toolset.talk.defers else []
    return Agent(
        model, toolsets=[toolset], capabilities=capabilities, output_type=[str, DeferredToolRequests]
    )


def answers(messages: Sequence[ModelMessage]) -> list[str]:
    return [
        str(part.content)
        for message in messages
        for part in message.parts
        if part.part_kind in ("tool-return", "retry-prompt")
    ]


def test_the_example_leaves_what_every_example_leaves_and_its_offer(tmp_path: Path) -> None:
    with office(tmp_path) as engine:
        assert "Ann has the list" in run(engine)
        assert journal(engine) == EXPECTED
        (offer,) = engine.journal.latest(10, "ada", "offer")
        outcomes = engine.journal.latest(10, "ada", "outcome")
        assert len(outcomes) == 3 and all(outcome.data["offer"] for outcome in outcomes)
        assert str(outcomes[0].data["offer"]).startswith(str(offer.data["offer"]))
        (answered,) = engine.journal.latest(10, "ada", "approval.answered")
        assert answered.data["by"] == "the boss"


def test_what_is_denied_between_offer_and_call_reads_like_what_does_not_exist(tmp_path: Path) -> None:
    def deny() -> Step:
        (tmp_path / "policy.yaml").write_text(POLICY.replace('["tool:*"]', '["tool:send_email"]'))
        return ToolCallPart("find_invoices", {"customer": "ACME"})

    with office(tmp_path) as engine:
        toolset = ProwessToolset(engine.conversation("ada"))
        model = scripted(deny, ToolCallPart("find_nothing", {}), "done")
        said = answers(agent_of(toolset, model).run_sync(REQUEST).all_messages())
        assert "There is no capability 'find_invoices' here." in said[0]
        assert "Unknown tool name: 'find_nothing'" in said[1] and "delete" not in said[1]


def test_a_tool_that_raises_is_a_failure_the_model_reads(tmp_path: Path) -> None:
    with office(tmp_path) as engine:
        toolset = ProwessToolset(engine.conversation("ada"))
        model = scripted(*[ToolCallPart("print_report", {"quarter": "Q3"})] * 3, "It burns.")
        result = agent_of(toolset, model).run_sync(REQUEST)
        assert result.output == "It burns."
        assert all("the printer is on fire" in said for said in answers(result.all_messages()))


def test_without_deferring_what_a_search_finds_is_appended_and_called_at_once(tmp_path: Path) -> None:
    seen: list[AgentInfo] = []
    with office(tmp_path) as engine:
        toolset = ProwessToolset(engine.conversation("ada"))
        search = ToolCallPart("discover_capabilities", {"query": "count the vehicles"})
        model = scripted(search, ToolCallPart("count_vehicle", {"name": "bus"}), "One.", seen=seen)
        result = agent_of(toolset, model).run_sync(REQUEST)
        assert answers(result.all_messages())[-1] == "count vehicle bus: done"
    lists = [info.function_tools for info in seen]
    assert all(after[: len(before)] == before for before, after in pairwise(lists))
    assert "count_vehicle" not in {tool.name for tool in lists[0]}


def test_with_deferring_a_model_that_knows_tool_search_gets_one_list_for_all_turns(tmp_path: Path) -> None:
    seen: list[AgentInfo] = []
    knowing = ModelProfile(
        supported_native_tools=SUPPORTED_NATIVE_TOOLS, tool_deferral_mode="with_tool_search"
    )
    with office(tmp_path) as engine:
        toolset = ProwessToolset(engine.conversation("ada", defer=True))
        search = ToolCallPart("search_tools", {"queries": ["count the vehicles"]})
        model = scripted(search, ToolCallPart("count_vehicle", {"name": "bus"}), "One.", "Two.", seen=seen)
        model = FunctionModel(model.function, profile=knowing)
        agent = agent_of(toolset, model)
        first = agent.run_sync("Find the invoices of ACME.")
        assert answers(first.all_messages())[-1] == "count vehicle bus: done"
        agent.run_sync("Now export a course.", message_history=first.all_messages())
        assert len(engine.journal.latest(10, "ada", "offer")) == 2
    lists = [[tool.name for tool in info.function_tools] for info in seen]
    assert len(lists[0]) > 200 and lists == [lists[0]] * 4
    assert "search_tools" in str(seen[0].instructions)
    assert "discover_capabilities" not in str(seen[0].instructions)


def test_a_no_is_recorded_and_nothing_is_called(tmp_path: Path) -> None:
    with office(tmp_path) as engine:
        toolset = ProwessToolset(engine.conversation("ada"))
        search = ToolCallPart("discover_capabilities", {"query": "send an e-mail"})
        agent = agent_of(toolset, scripted(search, ToolCallPart("send_email", MAIL), "Not sent."))
        first = agent.run_sync(REQUEST)
        said = toolset.answered(first.output, lambda call: NO)
        last = agent.run_sync(message_history=first.all_messages(), deferred_tool_results=said)
        assert "said no" in answers(last.all_messages())[-1]
        assert journal(engine) == [("tool:send_email", "asked")]
        (answered,) = engine.journal.latest(10, "ada", "approval.answered")
        assert (answered.data["state"], answered.data["by"]) == ("refused", "the boss")


def test_a_yes_that_only_the_framework_knows_of_is_recorded_too(tmp_path: Path) -> None:
    with office(tmp_path) as engine:
        toolset = ProwessToolset(engine.conversation("ada"), approver="the desk")
        search = ToolCallPart("discover_capabilities", {"query": "send an e-mail"})
        model = scripted(search, ToolCallPart("send_email", MAIL), "Sent.")
        inline = HandleDeferredToolCalls[None](lambda ctx, asked: asked.build_results(approve_all=True))
        agent = Agent(model, toolsets=[toolset], capabilities=[inline])
        assert answers(agent.run_sync(REQUEST).all_messages())[-1] == "sent to ann@example.com"
        (answered,) = engine.journal.latest(10, "ada", "approval.answered")
        assert answered.data["by"] == "the desk"


def test_a_run_that_waits_for_a_person_goes_on_in_another_process_with_the_same_offer(tmp_path: Path) -> None:
    search = ToolCallPart("search_tools", {"queries": ["send an e-mail"]})
    steps: tuple[Step, ...] = ("Hello.", search, ToolCallPart("send_email", MAIL, "call-7"), "Sent.")
    seen: list[AgentInfo] = []
    with office(tmp_path) as engine:
        toolset = ProwessToolset(engine.conversation("ada", defer=True))
        agent = agent_of(toolset, scripted(*steps, seen=seen))
        hello = agent.run_sync("Hello, is anybody there?")
        first = agent.run_sync(REQUEST, message_history=hello.all_messages())
        kept, history = toolset.talk.dump(), first.all_messages()
    with office(tmp_path) as engine:
        toolset = ProwessToolset(engine.conversation(resume=kept))
        agent = agent_of(toolset, scripted(*steps, seen=seen))
        said: DeferredToolResults = toolset.answered(first.output, lambda call: YES)
        last = agent.run_sync(message_history=history, deferred_tool_results=said)
        assert last.output == "Sent."
        assert journal(engine) == [("tool:send_email", "asked"), ("tool:send_email", "ok")]
        assert len(engine.journal.latest(10, "ada", "offer")) == 2
    assert [tool.name for tool in seen[-1].function_tools] == [tool.name for tool in seen[-2].function_tools]


def test_a_run_that_is_made_again_makes_no_second_offer_and_no_second_call(tmp_path: Path) -> None:
    def breaks() -> Step:
        raise ConnectionError("the model cannot be reached")

    made = Workshop()
    with program(tmp_path, workshop=made) as engine:
        talk = engine.conversation("default")
        call = ToolCallPart("send_mail", {"to": "ann"}, "call-1")
        with pytest.raises(ConnectionError):
            agent_of(ProwessToolset(talk), scripted(call, breaks)).run_sync("send a mail", run_id="run-1")
        talk = engine.conversation(resume=talk.dump())
        again = agent_of(ProwessToolset(talk), scripted(call, "Sent.")).run_sync(
            "send a mail", run_id="run-1"
        )
        assert again.output == "Sent." and made.done == ["mail ann"]
        assert offers(engine) == 1


def offers(engine: Engine) -> int:
    return len(engine.journal.latest(10, "default", "offer"))


def test_without_the_framework_the_file_says_which_extra_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    monkeypatch.delitem(sys.modules, "prowess.integrations.pydantic_ai")
    with pytest.raises(MissingExtra, match=r"pip install .*\[pydantic-ai\]"):
        importlib.import_module("prowess.integrations.pydantic_ai")
