"""LangChain and LangGraph themselves, with their own doubles: what prowess promises holds in their agents."""

import asyncio
import importlib
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRetryMiddleware
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from examples.langchain import run
from examples.office import EXPECTED, POLICY, REQUEST, journal, office
from prowess import Engine, MissingExtra
from prowess.integrations.langchain import ProwessMiddleware
from tests.calling.programs import Workshop, program

THREAD: Any = {"configurable": {"thread_id": "1"}}
MAIL = {"to": "ann@example.com", "text": "Invoices 17 and 23 are open."}
YES = {"yes": True, "by": "the boss"}
Step = Any  # calls, the last word, or what makes one of them


class Scripted(GenericFakeChatModel):
    """Says one thing after the other, and keeps what it was given."""

    seen: list[Any]
    given: list[Any]

    def bind_tools(self, tools: Any, **options: Any) -> "Scripted":
        self.seen.append([tool["function"]["name"] for tool in tools])
        return self

    def _generate(self, messages: Any, *rest: Any, **options: Any) -> Any:
        self.given.append(messages)
        return super()._generate(messages, *rest, **options)


def scripted(*steps: Step) -> Scripted:
    def say() -> Iterator[AIMessage | str]:
        for number, step in enumerate(steps):
            said = step() if callable(step) else step
            if isinstance(said, str):
                yield said
                continue
            calls = said if isinstance(said, list) else [said]
            numbered = [
                {"name": name, "args": args, "id": f"call_{number}_{at}"}
                for at, (name, args) in enumerate(calls)
            ]
            yield AIMessage("", tool_calls=numbered)

    return Scripted(messages=say(), seen=[], given=[])


def agent_of(engine: Engine, model: Any, saver: Any = None, agent: str = "ada", **options: Any) -> Any:
    middleware = [*options.pop("middleware", ()), ProwessMiddleware(engine, agent, **options)]
    return create_agent(model, middleware=middleware, checkpointer=saver or InMemorySaver())


def ask(agent: Any, text: str = REQUEST, thread: Any = THREAD) -> Any:
    return agent.invoke({"messages": [("user", text)]}, thread)


def answers(state: Any) -> list[ToolMessage]:
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


def offers(engine: Engine, agent: str = "ada") -> int:
    return len(engine.journal.latest(20, agent, "offer"))


def test_the_example_leaves_what_every_example_leaves_and_its_offer(tmp_path: Path) -> None:
    with office(tmp_path) as engine:
        assert "Ann has the list" in run(engine)
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
        denied, unknown = answers(ask(agent_of(engine, scripted(deny, "done"))))
        assert denied.status == unknown.status == "error"
        assert denied.text.replace("find_invoices", "find_nothings") == unknown.text


def test_a_tool_that_raises_is_a_failure_the_model_reads(tmp_path: Path) -> None:
    with office(tmp_path) as engine:
        state = ask(agent_of(engine, scripted(("print_report", {"quarter": "Q3"}), "It burns.")))
        (failed,) = answers(state)
        assert failed.status == "error" and "the printer is on fire" in failed.text
        assert state["messages"][-1].text == "It burns."


def test_what_searches_find_is_appended_and_called_at_once_and_the_prompt_only_grows(tmp_path: Path) -> None:
    searches = [
        ("discover_capabilities", {"query": "count the vehicles"}),
        ("discover_capabilities", {"query": "list the holidays"}),
    ]
    calls = [("count_vehicle", {"name": "bus"}), ("list_holiday", {"name": "May"})]
    model = scripted(searches, calls, "One.", ("find_invoices", {"customer": "ACME"}), "Two.")
    with office(tmp_path) as engine:
        agent = agent_of(engine, model)
        state = ask(agent)
        assert {one.text for one in answers(state)[-2:]} == {
            "count vehicle bus: done",
            "list holiday May: done",
        }
        ask(agent, "Find the invoices of ACME.")
        assert offers(engine) == 2
    assert {"count_vehicle", "list_holiday"} <= set(model.seen[1])
    assert all(after[: len(before)] == before for before, after in pairwise(model.seen))
    written = [[(one.type, one.content) for one in messages] for messages in model.given]
    assert all(after[: len(before)] == before for before, after in pairwise(written))
    assert "Tools that fit" in str(written[0][-1]) and "categories" in str(written[0][0])


def test_each_thread_has_a_conversation_of_its_own(tmp_path: Path) -> None:
    model = scripted(("discover_capabilities", {"query": "count the vehicles"}), "One.", "Two.")
    with office(tmp_path) as engine:
        agent = agent_of(engine, model)
        state = ask(agent)
        ask(agent, "Lock a room.", {"configurable": {"thread_id": "2"}})
        assert "count_vehicle" in model.seen[1] and "count_vehicle" not in model.seen[2]
        assert "prowess" not in state


def test_a_no_is_recorded_and_nothing_is_called(tmp_path: Path) -> None:
    with office(tmp_path) as engine:
        agent = agent_of(engine, scripted(("send_email", MAIL), "Not sent."), approver="the desk")
        (interrupt,) = ask(agent)["__interrupt__"]
        assert (interrupt.value["tool"], interrupt.value["arguments"]) == ("send_email", MAIL)
        (refused,) = answers(agent.invoke(Command(resume=False), THREAD))
        assert refused.status == "error" and "sent to" not in refused.text
        assert ("tool:send_email", "ok") not in journal(engine)
        (answered,) = engine.journal.latest(10, "ada", "approval.answered")
        assert (answered.data["state"], answered.data["by"]) == ("refused", "the desk")


def test_a_thread_that_waits_for_a_person_goes_on_in_another_process_with_the_same_offer(
    tmp_path: Path,
) -> None:
    saver = InMemorySaver()
    search = ("discover_capabilities", {"query": "send an e-mail"})
    first, second = scripted(search, ("send_email", MAIL)), scripted("Sent.")
    with office(tmp_path) as engine:
        assert "__interrupt__" in ask(agent_of(engine, first, saver))
    with office(tmp_path) as engine:
        state = agent_of(engine, second, saver).invoke(Command(resume=YES), THREAD)
        assert answers(state)[-1].text == "sent to ann@example.com"
        assert journal(engine) == [("tool:send_email", "asked"), ("tool:send_email", "ok")]
        assert offers(engine) == 1
    assert second.seen[0] == first.seen[-1] and "send_email" in second.seen[0]


def test_a_model_that_is_asked_again_makes_no_second_offer_and_a_step_done_again_no_second_call(
    tmp_path: Path,
) -> None:
    class Unreachable(Scripted):
        """Cannot be reached the first time."""

        def _generate(self, *arguments: Any, **options: Any) -> Any:
            self.given.append("tried")
            if len(self.given) == 1:
                raise ConnectionError("the model cannot be reached")
            return super()._generate(*arguments, **options)

    def breaks() -> Step:
        raise RuntimeError("the process is killed")

    made, saver = Workshop(), InMemorySaver()
    with program(tmp_path, workshop=made) as engine:
        retry: Any = ModelRetryMiddleware(
            max_retries=2, initial_delay=0, on_failure="error", retry_on=(ConnectionError,)
        )
        script = scripted(("send_mail", {"to": "ann"}), breaks)
        model = Unreachable(messages=script.messages, seen=[], given=[])
        agent = agent_of(engine, model, saver, "default", middleware=[retry])
        with pytest.raises(RuntimeError):
            ask(agent, "send a mail to Ann")
        before = next(step for step in agent.get_state_history(THREAD) if step.next == ("tools",))
        again = agent_of(engine, scripted("Sent."), saver, "default")
        state = again.invoke(None, before.config)
        assert answers(state)[-1].status == "success" and made.done == ["mail ann"]
        assert offers(engine, "default") == 1


def test_asynchronously_it_is_the_same(tmp_path: Path) -> None:
    with office(tmp_path) as engine:
        steps = ("discover_capabilities", {"query": "e-mail"}), ("send_email", MAIL), "Sent."
        agent = agent_of(engine, scripted(*steps))

        async def chat() -> Any:
            asked = await agent.ainvoke({"messages": [HumanMessage(REQUEST)]}, THREAD)
            assert "__interrupt__" in asked
            return await agent.ainvoke(Command(resume=YES), THREAD)

        assert answers(asyncio.run(chat()))[-1].text == "sent to ann@example.com"
        assert journal(engine) == [("tool:send_email", "asked"), ("tool:send_email", "ok")]
        assert offers(engine) == 1


def test_without_the_framework_the_file_says_which_extra_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain.agents.middleware", None)
    monkeypatch.delitem(sys.modules, "prowess.integrations.langchain")
    with pytest.raises(MissingExtra, match=r"pip install .*\[langchain\]"):
        importlib.import_module("prowess.integrations.langchain")
