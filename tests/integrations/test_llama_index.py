"""LlamaIndex itself, with its own double of a model: what prowess promises holds in its agents."""

import asyncio
import importlib
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent, JsonPickleSerializer

from examples.llama_index import run
from examples.office import EXPECTED, POLICY, REQUEST, journal, office
from prowess import Engine, MissingExtra
from prowess.integrations.llama_index import ProwessRetriever

# LlamaIndex looks at every member of an agent, deprecated ones of pydantic included.
pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")
MAIL = {"to": "ann@example.com", "text": "Invoices 17 and 23 are open."}
FIND_MAIL = ("discover_capabilities", {"query": "send an e-mail to a colleague"})
Step = Any  # calls, the last word, or what makes one of them


def agent_of(tools: ProwessRetriever, *steps: Step, seen: list[list[str]] | None = None) -> FunctionAgent:
    """An agent whose model says one thing after the other; what it was given is kept in `seen`."""

    def say(messages: Any, **options: Any) -> ChatMessage:
        if seen is not None:
            seen.append([str(tool.metadata.to_openai_tool()) for tool in options["tools"]])
        done = sum(message.role == "assistant" for message in messages)
        said = steps[done]() if callable(steps[done]) else steps[done]
        if isinstance(said, str):
            return ChatMessage(role="assistant", blocks=[TextBlock(text=said)])
        calls = said if isinstance(said, list) else [said]
        blocks = [
            ToolCallBlock(tool_call_id=f"call_{done}_{at}", tool_name=name, tool_kwargs=arguments)
            for at, (name, arguments) in enumerate(calls)
        ]
        return ChatMessage(role="assistant", blocks=[*blocks])

    llm = MockFunctionCallingLLM(response_generator=say, is_chat_model=True)
    return FunctionAgent(tool_retriever=tools, llm=llm, streaming=False, name="clerk")


async def results(handler: Any, **answer: Any) -> list[Any]:
    """What the calls of a run gave, in their order; a person answers what they are asked."""
    found = dict[str, Any]()
    async for event in handler.stream_events():
        if isinstance(event, InputRequiredEvent):
            handler.ctx.send_event(HumanResponseEvent(approval=event.approval, **answer))
        if isinstance(event, ToolCallResult):
            found[event.tool_id] = event.tool_output  # those that run at once end in any order
    await handler
    return [found[id] for id in sorted(found)]


def chat(agent: Any, text: str = REQUEST, **answer: Any) -> list[Any]:
    async def go() -> list[Any]:
        return await results(agent.run(text), **answer)

    return asyncio.run(go())


def offers(engine: Engine) -> int:
    return len(engine.journal.latest(20, "ada", "offer"))


def test_the_example_leaves_what_every_example_leaves_and_its_offer(tmp_path: Path) -> None:
    with office(tmp_path) as engine:
        assert "Ann has the list" in asyncio.run(run(engine))
        assert journal(engine) == EXPECTED
        assert offers(engine) == 1
        outcomes = engine.journal.latest(10, "ada", "outcome")
        assert len(outcomes) == 3 and all(outcome.data["offer"] for outcome in outcomes)
        (answered,) = engine.journal.latest(10, "ada", "approval.answered")
        assert answered.data["by"] == "the boss"


def test_what_is_denied_between_offer_and_call_reads_like_what_does_not_exist(tmp_path: Path) -> None:
    def deny() -> Step:
        (tmp_path / "policy.yaml").write_text(POLICY.replace('["tool:*"]', '["tool:send_email"]'))
        return [("find_invoices", {"customer": "ACME"}), ("find_nothings", {})]

    with office(tmp_path) as engine:
        tools = ProwessRetriever(engine.conversation("ada"))
        denied, unknown = chat(agent_of(tools, deny, "done"))
        assert denied.is_error and unknown.is_error
        assert denied.content.replace("find_invoices", "find_nothings") == unknown.content
        assert offers(engine) == 1


def test_a_tool_that_raises_is_a_failure_the_model_reads(tmp_path: Path) -> None:
    with office(tmp_path) as engine:
        tools = ProwessRetriever(engine.conversation("ada"))
        (failed,) = chat(agent_of(tools, ("print_report", {"quarter": "Q3"}), "It burns."))
        assert failed.is_error and "the printer is on fire" in failed.content


def test_what_a_search_finds_is_appended_and_called_at_once(tmp_path: Path) -> None:
    seen: list[list[str]] = []
    with office(tmp_path) as engine:
        tools = ProwessRetriever(engine.conversation("ada"))
        search = ("discover_capabilities", {"query": "count the vehicles"})
        agent = agent_of(tools, search, ("count_vehicle", {"name": "bus"}), "One.", seen=seen)
        assert chat(agent)[-1].content == "count vehicle bus: done"
        chat(agent_of(tools, "Two.", seen=seen), "Export a course.")
        assert offers(engine) == 2
    assert all(after[: len(before)] == before for before, after in pairwise(seen))
    assert "count_vehicle" not in str(seen[0]) and "count_vehicle" in str(seen[1])
    assert "'customer'" in str(seen[0])


def test_in_a_workflow_of_agents_it_is_the_same(tmp_path: Path) -> None:
    with office(tmp_path) as engine:
        tools = ProwessRetriever(engine.conversation("ada"))
        agent = agent_of(tools, FIND_MAIL, ("send_email", MAIL), "Sent.")
        workflow = AgentWorkflow(agents=[agent], root_agent="clerk")
        assert chat(workflow, yes=True, by="kim")[-1].content == "sent to ann@example.com"
        assert journal(engine) == [("tool:send_email", "asked"), ("tool:send_email", "ok")]
        assert offers(engine) == 1


def test_a_no_is_recorded_and_nothing_is_called(tmp_path: Path) -> None:
    with office(tmp_path) as engine:
        tools = ProwessRetriever(engine.conversation("ada"), approver="the desk")
        refused = chat(agent_of(tools, FIND_MAIL, ("send_email", MAIL), "Not sent."), yes=False)[-1]
        assert refused.is_error and "sent to" not in refused.content
        assert ("tool:send_email", "ok") not in journal(engine)
        (answered,) = engine.journal.latest(10, "ada", "approval.answered")
        assert (answered.data["state"], answered.data["by"]) == ("refused", "the desk")


def test_a_run_that_waits_for_a_person_goes_on_in_another_process_with_the_same_offer(tmp_path: Path) -> None:
    steps = (FIND_MAIL, ("send_email", MAIL), "Sent.")
    seen: list[list[str]] = []

    async def begin(tools: ProwessRetriever) -> Any:
        handler = agent_of(tools, *steps, seen=seen).run(REQUEST)
        async for event in handler.stream_events():
            if isinstance(event, InputRequiredEvent):
                kept = handler.ctx.to_dict(serializer=JsonPickleSerializer())
                await handler.cancel_run()
                return event.approval, kept

    async def go_on(tools: ProwessRetriever, approval: str, kept: Any) -> list[Any]:
        agent = agent_of(tools, *steps, seen=seen)
        handler = agent.run(ctx=Context.from_dict(agent, kept, serializer=JsonPickleSerializer()))
        handler.ctx.send_event(HumanResponseEvent(approval=approval, yes=True, by="the boss"))
        return await results(handler)

    with office(tmp_path) as engine:
        tools = ProwessRetriever(engine.conversation("ada"))
        approval, context = asyncio.run(begin(tools))
        talk = tools.talk.dump()
    with office(tmp_path) as engine:
        tools = ProwessRetriever(engine.conversation(resume=talk))
        assert asyncio.run(go_on(tools, approval, context))[-1].content == "sent to ann@example.com"
        assert journal(engine) == [("tool:send_email", "asked"), ("tool:send_email", "ok")]
        assert offers(engine) == 1
    assert seen[-1] == seen[-2]


def test_without_the_framework_the_file_says_which_extra_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llama_index.core.objects", None)
    monkeypatch.delitem(sys.modules, "prowess.integrations.llama_index")
    with pytest.raises(MissingExtra, match=r"pip install .*\[llama-index\]"):
        importlib.import_module("prowess.integrations.llama_index")
