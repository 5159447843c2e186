"""A program calls what exists: found, fitting, allowed, done and recorded."""

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import prowess
from prowess import ApprovalAnswer, CallFailed, ConfigError, Denied, InvalidArguments, NotFound, ToolCall
from prowess.sources.files.skills import SkillFolders
from prowess.sources.python.events import Events
from prowess.sources.python.functions import Functions
from prowess.store.opening import open_database
from prowess.tool_names import tool_name
from tests.calling.programs import POLICY, Workshop, kinds, program


def test_a_function_is_called_by_its_name_or_its_id_and_recorded(store_url: str, tmp_path: Path) -> None:
    with program(tmp_path, store_url) as engine:
        first = engine.call("add", {"a": 1})
        assert (first.ending, first.value, first.text, first.is_error) == ("ok", 3, "3", False)
        assert engine.call("tool:add", '{"a": 1, "b": 4}').text == "5"
        assert kinds(engine) == ["decision", "call", "outcome"] * 2
        called, outcome = engine.journal.latest(2)
        assert called.data["capability"] == outcome.data["capability"] == "tool:add"
        assert outcome.data["ok"] and outcome.data["offer"] == ""
        engine.journal.verify()


def test_a_call_with_an_offer_is_recorded_as_its_outcome(store_url: str, tmp_path: Path) -> None:
    with program(tmp_path, store_url) as engine:
        offer = engine.offer("send a mail to Ann")
        name = tool_name("tool:send_mail")
        assert offer.tool_ids[name] == "tool:send_mail"
        result = engine.call(name, {"to": "ann"}, offer=offer)
        assert result.offer == offer.id
        trace = [entry.type for entry in engine.trace(offer.id).entries]
        assert trace == ["offer", "call", "outcome"]
        with pytest.raises(NotFound, match="belongs to the agent that was offered it"):
            engine.call(name, {"to": "ann"}, offer=offer, agent="ada")


def test_an_asynchronous_function_runs_where_it_is_awaited_and_in_a_loop_of_ours_elsewhere(
    tmp_path: Path,
) -> None:
    made = Workshop()
    with program(tmp_path, workshop=made) as engine:
        assert engine.call("later", {"text": "one"}).text == "one"

        async def here() -> str:
            return (await engine.acall("later", {"text": "two"})).text

        assert asyncio.run(here()) == "two"
    assert made.done == ["later one prowess-calls", f"later two {threading.current_thread().name}"]


def test_a_program_that_calls_nothing_starts_no_thread(tmp_path: Path) -> None:
    with program(tmp_path) as engine:
        engine.find("add numbers")
        assert "prowess-calls" not in {thread.name for thread in threading.enumerate()}
        engine.call("add", {"a": 1})
        assert "prowess-calls" in {thread.name for thread in threading.enumerate()}
    assert "prowess-calls" not in {thread.name for thread in threading.enumerate()}


def test_functions_that_one_function_made_are_told_apart_by_their_names(tmp_path: Path) -> None:
    def made(name: str) -> Any:
        def work(thing: str) -> str:
            return f"{name} {thing}"

        work.__name__ = name
        return prowess.tool(name=f"{name}_it", side_effects=False)(work) if name == "lock" else work

    def heard(event: str) -> Any:
        @prowess.event_handler(event)
        def handle(payload: dict[str, Any]) -> str:
            return event

        return handle

    functions = Functions(name="made", functions=tuple(made(name) for name in ("open", "close", "lock")))
    events = Events(name="heard", handlers=(heard("door:open"), heard("door:close")))
    with program(tmp_path, sources=[functions, events]) as engine:
        assert engine.call("tool:close", {"thing": "door"}).text == "close door"
        assert engine.call("tool:lock_it", {"thing": "door"}).text == "lock door"
        assert engine.call("event:door:close", {}).text == "door:close"


def test_events_are_handled_with_their_payload_or_by_named_parameters(tmp_path: Path) -> None:
    made = Workshop()
    with program(tmp_path, workshop=made) as engine:
        assert engine.call("event__note__file", {"text": "tea"}).text == "filed"
        assert engine.call("event:note:move", {"title": "tea", "folder": "shop"}).text == "in shop"
        missing = engine.call("event:note:move", {"folder": "shop"})
        assert missing.ending == "misfit" and "'title' is a required property" in missing.text
    assert made.done == ["filed tea", "moved tea to shop"]


def test_a_skill_is_read_and_what_the_host_must_do_says_so(tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "tea"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: tea\ndescription: Make tea.\n---\nBoil water first.\n")
    folder = SkillFolders(name="skills", paths=(str(tmp_path / "skills"),))
    with program(tmp_path, sources=[folder]) as engine:
        assert "Boil water first." in engine.call("skill__tea").text
        told = engine.call("channel:discord", {"text": "hello"})
        assert told.ending == "failed" and "the host program must act" in told.text
        with pytest.raises(CallFailed, match="carry it out in your own program"):
            told.raise_for_error()


def test_an_unknown_name_suggests_the_nearest_one_that_may_be_known(tmp_path: Path) -> None:
    with program(tmp_path) as engine:
        unknown = engine.call("send_mial", {})
        assert unknown.ending == "denied" and "Did you mean 'send_mail'?" in unknown.text
        with pytest.raises(NotFound):
            unknown.raise_for_error()
        hidden = engine.call("send_mail", {}, agent="ada")
        nowhere = engine.call("send_male", {}, agent="ada")
        assert hidden.text.replace("send_mail", "X") == nowhere.text.replace("send_male", "X")
        with pytest.raises(Denied, match="ada may not use tool:send_mail") as refused:
            hidden.raise_for_error()
        assert refused.value.decision.reason


def test_arguments_that_do_not_fit_are_said_so_that_a_model_can_mend_them(tmp_path: Path) -> None:
    made = Workshop()
    with program(tmp_path, workshop=made) as engine:
        wrong = engine.call("add", {"a": "one", "c": 1})
        assert wrong.ending == "misfit" and made.done == []
        assert "unknown 'c'; known: a, b" in wrong.text and "'one' is not of type 'integer'" in wrong.text
        with pytest.raises(InvalidArguments) as refused:
            wrong.raise_for_error()
        assert len(refused.value.faults) == 2
        assert engine.call("add", "[1]").text == "arguments must be an object"


def test_what_a_function_raises_is_the_models_to_read_and_the_programs_to_catch(tmp_path: Path) -> None:
    with program(tmp_path) as engine:
        result = engine.call("fails", {"why": "no paper"})
        assert result.ending == "failed" and "ValueError: no paper" in result.text
        with pytest.raises(CallFailed) as failed:
            result.raise_for_error()
        assert isinstance(failed.value.__cause__, ValueError)
        (outcome,) = engine.journal.latest(10, "default", "outcome")
        assert not outcome.data["ok"] and "paper" not in str(outcome.data), "nothing that was given is kept"


def test_a_call_that_hangs_is_given_up_in_time(tmp_path: Path) -> None:
    with program(tmp_path, timeout=0.2) as engine:
        result = engine.call("hangs")
        assert result.ending == "failed" and "no answer within 0.2 s" in result.text


def test_a_call_that_is_cancelled_is_in_the_journal(tmp_path: Path) -> None:
    with program(tmp_path) as engine:

        async def given_up() -> None:
            async with asyncio.timeout(0.2):
                await engine.acall("hangs")

        with pytest.raises(TimeoutError):
            asyncio.run(given_up())
        (called,) = engine.journal.latest(10, "default", "call")
        assert called.data["outcome"] == "cancelled"


def test_a_result_that_is_too_long_is_cut_and_the_rest_can_be_read_by_the_same_agent_alone(
    tmp_path: Path,
) -> None:
    with program(tmp_path, max_result_characters=1000) as engine:
        result = engine.call("huge", {"megabytes": 20})
        assert len(result.text) < 1200
        reference = result.text.partition('reference "')[2].partition('"')[0]
        asked = {"reference": reference, "offset": 1000}
        rest = engine.call("read_reference", asked)
        assert rest.text.startswith("x" * 1000) and "go on at offset 2000" in rest.text
        assert engine.call("read_reference", asked, agent="ada").ending == "failed"


def test_a_result_of_a_hundred_megabytes_is_cut_and_cannot_be_kept(tmp_path: Path) -> None:
    with program(tmp_path) as engine:
        result = engine.call("huge", {"megabytes": 100})
        assert result.ending == "ok" and len(result.text) < 110_000
        assert "the rest is too long to be kept" in result.text


def test_only_the_fields_that_are_asked_for_come_back(tmp_path: Path) -> None:
    with program(tmp_path) as engine:
        result = engine.call("send_mail", {"to": "ann"}, fields=["to.name", "items.b"])
        assert result.value == {"to": {"name": "ann"}, "items": [{"b": 2}]}
        assert result.text == '{"to":{"name":"ann"},"items":[{"b":2}]}'
        missing = engine.call("send_mail", {"to": "ann"}, fields=["id", "colour"])
        assert set(missing.value) == {"id"} and "not in the result: colour; its fields: id" in missing.text


def test_a_person_is_asked_and_their_yes_is_for_this_call_alone(store_url: str, tmp_path: Path) -> None:
    made = Workshop()
    policy = POLICY.replace('["tool:add"]', '["tool:send_mail"], ask: ["tool:send_mail"]')
    with program(tmp_path, store_url, workshop=made, policy=policy) as engine:
        asked = engine.call("send_mail", {"to": "bob"}, agent="ada")
        assert asked.ending == "asked" and asked.approval and made.done == []
        assert "approval answer" not in asked.text
        with pytest.raises(prowess.ApprovalNeeded):
            asked.raise_for_error()
        engine.approvals.answer(asked.approval, ApprovalAnswer(yes=True, by="ann"))
        assert engine.call("send_mail", {"to": "eve"}, agent="ada").ending == "asked"
        assert engine.call("send_mail", {"to": "bob"}, agent="ada").ending == "ok"
        assert engine.call("send_mail", {"to": "bob"}, agent="ada").ending == "asked"
    assert made.done == ["mail bob"]


def test_a_call_that_is_begun_anew_finds_the_question_it_waits_for(store_url: str, tmp_path: Path) -> None:
    policy = POLICY.replace('additional_tools: ["*"]', 'additional_tools: ["*"], ask: ["tool:send_mail"]')
    with program(tmp_path, store_url, policy=policy) as engine:
        asked = engine.call("send_mail", {"to": "ann"}).approval
        found = [
            engine.approvals.waiting("default", name, {"to": "ann"})
            for name in ("send_mail", "tool:send_mail")
        ]
        assert [one.id for one in found if one] == [asked, asked]
        assert engine.approvals.waiting("default", "send_mail", {"to": "bob"}) is None
        assert engine.approvals.waiting("ada", "send_mail", {"to": "ann"}) is None
        engine.approvals.answer(asked, ApprovalAnswer(yes=True, by="kim"))
        assert engine.approvals.waiting("default", "send_mail", {"to": "ann"}) is None


def test_what_is_withdrawn_between_offer_and_call_is_not_called(store_url: str, tmp_path: Path) -> None:
    made = Workshop()
    with program(tmp_path, store_url, workshop=made) as engine:
        offer = engine.offer("send a mail")
        place = engine.catalogue.get("tool:send_mail").provider
        engine.providers.deactivate(place, reason="it is Sunday")
        off = engine.call("send_mail", {"to": "ann"}, offer=offer)
        assert off.ending == "denied"
        engine.providers.activate(place)
        (tmp_path / "policy.yaml").write_text(POLICY.replace('["*"]', '["tool:add"]'))
        assert engine.call("send_mail", {"to": "ann"}, offer=offer).ending == "denied"
    assert made.done == []


def test_several_calls_at_once_give_their_results_in_order(tmp_path: Path) -> None:
    with program(tmp_path) as engine:
        wanted = [ToolCall(name="add", arguments={"a": n}) for n in range(20)]
        results = engine.call_many([*wanted, ToolCall(name="nowhere")])
        assert [result.text for result in results[:20]] == [str(n + 2) for n in range(20)]
        assert results[20].ending == "denied"


def test_a_model_that_searches_finds_names_it_can_call_and_the_call_answers_its_search(
    tmp_path: Path,
) -> None:
    with program(tmp_path) as engine:
        found = engine.call("discover_capabilities", {"query": "send a mail"})
        name = found.value["capabilities"][0]["name"]
        assert name == "send_mail" and engine.call(name, {"to": "ann"}).ending == "ok"
        (search,) = engine.journal.latest(10, "default", "search")
        trace = [entry.type for entry in engine.trace(search.data["search"]).entries]
        assert trace == ["search", "call", "outcome"]
        assert engine.call("discover_capabilities", {}).ending == "misfit"


def test_a_call_is_refused_cleanly_while_another_process_holds_the_store(
    store_url: str, tmp_path: Path
) -> None:
    made = Workshop()
    with program(tmp_path, store_url, workshop=made, patience=0.3) as engine:
        assert engine.call("send_mail", {"to": "ann"}).ending == "ok"
        other = open_database(store_url, tmp_path)
        with other.writing() as transaction:
            transaction.run("UPDATE journal_head SET hash = hash WHERE workspace = :workspace")
            held = engine.call("send_mail", {"to": "bob"})
        other.close()
        assert held.ending == "unavailable" and "this call was not made" in held.text
        until = time.monotonic() + 20
        while (again := engine.call("send_mail", {"to": "eve"})).ending != "ok":
            assert time.monotonic() < until, again.text
            time.sleep(0.05)  # every refusal is one more entry that waits to be written
        engine.journal.verify()
    assert made.done == ["mail ann", "mail eve"]


def test_a_misspelt_option_of_a_call_is_named(tmp_path: Path) -> None:
    with program(tmp_path) as engine, pytest.raises(ConfigError, match="did you mean 'key'"):
        engine.call("add", {"a": 1}, keys="x")  # type: ignore[call-arg]


def test_what_policy_would_say_is_recorded_nowhere(tmp_path: Path) -> None:
    with program(tmp_path) as engine:
        assert engine.decide("default", "tool:send_mail").verdict == "allow"
        assert engine.decide("ada", "tool:send_mail").verdict == "deny"
        assert engine.decide("default", "send_mail").verdict == "allow"  # its name as a tool
        assert engine.decide("default", "tool:nowhere").verdict == "deny"
        assert kinds(engine) == kinds(engine, "ada") == []
