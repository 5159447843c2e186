"""The Agents SDK of OpenAI: an agent with the tools of a conversation, and its ScriptedModel."""

import asyncio
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from agents import RunConfig, Runner, RunState, function_tool
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

import prowess
from examples import openai_agents as example
from examples.office import EXPECTED, LAST, POLICY, REQUEST, STEPS, journal, office
from prowess import ConfigError
from prowess.integrations.openai_agents import ProwessAgent
from tests.calling.programs import POLICY as WORKSHOP_POLICY
from tests.calling.programs import Workshop, program

ASKS = WORKSHOP_POLICY.replace('["*"]', '["*"], ask: ["tool:send_mail"]')
SEND = ("send_mail", {"to": "ann"})


def scripted(*steps: tuple[str, dict[str, Any]]) -> ScriptedModel:
    calls = [[function_call(name, given, call_id=f"call_{n}")] for n, (name, given) in enumerate(steps)]
    return ScriptedModel([*calls, [assistant_message("Done.")]])


def an_agent(engine: prowess.Engine, model: ScriptedModel, who: str = "ada", kept: str = "") -> ProwessAgent:
    talk = engine.conversation(who, format="openai", resume=kept)
    return ProwessAgent(name="Ada", model=model, talk=talk, approves="the boss")


def run(agent: ProwessAgent, said: Any, **options: Any) -> Any:
    config: RunConfig = agent.run_config(tracing_disabled=True, **options)
    return asyncio.run(Runner.run(agent, said, run_config=config))


def outputs(model: ScriptedModel) -> list[str]:
    """What the model had been answered before its last request."""
    return [one["output"] for one in model.calls[-1].input if one.get("type") == "function_call_output"]


def tools_of(model: ScriptedModel) -> list[list[str]]:
    return [[tool.name for tool in call.tools] for call in model.calls]


def begins_like(lists: Sequence[list[Any]]) -> bool:
    return all(after[: len(before)] == before for before, after in pairwise(lists))


def test_the_example_leaves_what_every_example_leaves(tmp_path: Path) -> None:
    with office(tmp_path) as engine:
        assert asyncio.run(example.run(engine)) == LAST
        assert journal(engine) == EXPECTED
        (offer,) = engine.journal.latest(100, "ada", "offer")
        (search,) = engine.journal.latest(100, "ada", "search")
        calls = engine.journal.latest(100, "ada", "call")
        assert {entry.data["offer"] for entry in calls} <= {offer.data["offer"], search.data["search"]}
        (answer,) = engine.approvals.list(every=True)
        assert (answer.state, answer.answered_by) == ("used", "the boss")


def test_found_tools_appear_in_the_run_and_every_request_begins_like_the_one_before(tmp_path: Path) -> None:
    model = scripted(*STEPS[:2], STEPS[0])
    with office(tmp_path) as engine:
        agent = an_agent(engine, model)
        agent.tools = [
            function_tool(lambda: "12:00", name_override="clock", description_override="The time.")
        ]
        result = run(agent, "Hello!")
        model.enqueue([assistant_message(LAST)])
        run(agent, [*result.to_input_list(), {"role": "user", "content": REQUEST}])
    names = tools_of(model)
    assert "send_email" not in names[1] and "send_email" in names[2]
    assert begins_like(names) and names[0][0] == "clock"
    assert begins_like([[json.dumps(item) for item in call.input] for call in model.calls])
    assert any(item.get("role") == "developer" for item in model.calls[-1].input)
    assert len({call.system_instructions for call in model.calls}) == 1


def test_a_tool_that_raises_is_an_answer_and_not_the_end_of_the_run(tmp_path: Path) -> None:
    model = scripted(("fails", {"why": "the printer is on fire"}))
    with program(tmp_path) as engine:
        assert run(an_agent(engine, model, "default"), "fail, and say why").final_output == "Done."
    assert outputs(model)[0].startswith("Error:") and "the printer is on fire" in outputs(model)[0]


def test_what_is_denied_between_offer_and_call_reads_as_unknown(tmp_path: Path) -> None:
    def deny(call: Any) -> Any:
        (tmp_path / "policy.yaml").write_text(POLICY.replace("tool:delete_*", "tool:find_*"))
        return ModelStep(output=[function_call(*STEPS[0], call_id="call_0")])

    model = ScriptedModel([ModelStep(responder=deny), [assistant_message("Done.")]])
    with office(tmp_path) as engine:
        run(an_agent(engine, model), REQUEST)
        unknown = engine.call("find_receipts", {"customer": "ACME"}, agent="ada").text
    (denied,) = outputs(model)
    assert "There is no capability" in denied
    assert denied.replace("invoices", "receipts").removeprefix("Error: ") == unknown


def test_a_name_that_is_not_in_the_list_does_not_end_the_run(tmp_path: Path) -> None:
    model = scripted(("delete_customer", {"name": "ACME"}))
    with office(tmp_path) as engine:
        assert run(an_agent(engine, model), REQUEST).final_output == "Done."
    assert "delete_customer" in outputs(model)[0]


def test_a_no_at_the_interruption_is_recorded_and_nothing_is_called(tmp_path: Path) -> None:
    made, model = Workshop(), scripted(SEND)
    with program(tmp_path, workshop=made, policy=ASKS) as engine:
        agent = an_agent(engine, model, "default")
        result = run(agent, "send a mail to Ann")
        state = result.to_state()
        state.reject(result.interruptions[0])
        assert run(agent, state).final_output == "Done."
        (answer,) = engine.approvals.list(every=True)
        assert (answer.state, answer.answered_by) == ("refused", "the boss")
    assert made.done == []


def test_what_a_person_has_approved_elsewhere_is_done_without_an_interruption(tmp_path: Path) -> None:
    made, model = Workshop(), scripted(SEND)
    with program(tmp_path, workshop=made, policy=ASKS) as engine:
        asked = engine.call(*SEND)
        engine.approvals.answer(asked.approval, prowess.ApprovalAnswer(yes=True, by="kim"))
        assert run(an_agent(engine, model, "default"), "send a mail to Ann").final_output == "Done."
    assert made.done == ["mail ann"]


def test_an_approval_for_the_whole_run_answers_its_further_questions(tmp_path: Path) -> None:
    made, model = Workshop(), scripted(SEND, ("send_mail", {"to": "bob"}))
    with program(tmp_path, workshop=made, policy=ASKS) as engine:
        agent = an_agent(engine, model, "default")
        result = run(agent, "send a mail to Ann")
        state = result.to_state()
        state.approve(result.interruptions[0], always_approve=True)
        assert run(agent, state).final_output == "Done."
        assert [one.state for one in engine.approvals.list(every=True)] == ["used", "used"]
    assert made.done == ["mail ann", "mail bob"]


def test_what_waits_for_a_person_goes_on_in_another_process_and_is_done_once(tmp_path: Path) -> None:
    store, made = f"sqlite:{tmp_path / 'store.db'}", Workshop()
    with program(tmp_path, store, workshop=made, policy=ASKS) as engine:
        agent = an_agent(engine, scripted(SEND), "default")
        waiting = run(agent, "send a mail to Ann").to_state().to_string()
        kept = agent.talk.dump() if agent.talk else ""
    for _ in range(2):  # whoever resumes it may be cut off, and resume it again
        with program(tmp_path, store, workshop=made, policy=ASKS) as engine:
            agent = an_agent(engine, scripted(), kept=kept)
            state = asyncio.run(RunState.from_string(agent, waiting))
            state.approve(state.get_interruptions()[0])
            assert run(agent, state).final_output == "Done."
            assert made.done == ["mail ann"]
            assert len(engine.journal.latest(10, type="offer")) == 1
            assert [one.answered_by for one in engine.approvals.list(every=True)] == ["the boss"]


def test_an_agent_without_a_conversation_says_what_it_needs() -> None:
    with pytest.raises(ConfigError, match="has no conversation"):
        asyncio.run(ProwessAgent(name="Ada").get_system_prompt(None))  # type: ignore[arg-type]
