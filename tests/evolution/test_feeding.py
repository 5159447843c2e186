"""What evolution is fed with: evaluations by themselves, scores by hand, and what calls and people say."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from prowess.cli.main import prowess
from prowess.config import EvolutionConfig, parse
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.errors import ApprovalNeeded, ConfigError, Denied, EvolutionError
from prowess.policy.approvals import ApprovalAnswer
from prowess.store.opening import open_database
from prowess.testing import word_embedder
from prowess.types import Outcome
from prowess.web.dispatch import ROOT
from tests.evolution.evaluator import source
from tests.support.clock import SteppingClock
from tests.support.evolution import AB, FAIR, exhaust
from tests.support.stores import OWNER
from tests.support.web import app_of, signed_in

Open = Callable[..., Engine]
ASKING = (
    OWNER.replace("agents: [default, ada, bob]", "agents: [default, bob]")
    + """
  careful:
    agents: [ada]
    additional_tools: ["tool:a-work", "tool:b-work"]
    ask: ["tool:b-work"]
"""
)


@pytest.fixture
def place(tmp_path: Path, store_url: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the command line works on the same store."""
    (tmp_path / "policy.yaml").write_text(OWNER)
    (tmp_path / "prowess.toml").write_text(f'store = "{store_url}"\n[policy]\nfiles = ["policy.yaml"]\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROWESS_CONFIG", str(tmp_path / "prowess.toml"))
    return tmp_path


@pytest.fixture
def open_fed(store_url: str, tmp_path: Path, clock: SteppingClock) -> Iterator[Open]:
    opened: list[Engine] = []

    def open_one(policy: str = OWNER, **evolution: float) -> Engine:
        (tmp_path / "policy.yaml").write_text(policy)
        options = EngineOptions(
            policy_files=(tmp_path / "policy.yaml",), embedder=word_embedder,
            evolution=EvolutionConfig(**evolution),  # type: ignore[arg-type]
        )  # fmt: skip
        opened.append(Engine(open_database(store_url, tmp_path), (source(),), clock, {}, options))
        if len(opened) == 1:
            opened[0].sync(vectors=False)
        return opened[-1]

    yield open_one
    for engine in opened:
        engine.close()


def run(*words: str) -> Result:
    return CliRunner().invoke(prowess, words)


def use(engine: Engine, ok: bool = True, times: int = 1, tool: str = "tool:a-work") -> None:
    for _ in range(times):
        engine.record(Outcome(offer="", capability=tool, ok=ok, agent="ada"))


# --- by themselves --------------------------------------------------------------------------------


def test_an_agent_is_evaluated_after_so_many_outcomes(open_fed: Open) -> None:
    engine = open_fed(every_outcomes=10)
    use(engine, times=9)
    assert engine.evolution.status("ada").evaluations == 0
    use(engine)
    assert engine.evolution.status("ada").evaluations == 1
    use(engine, times=30)
    assert engine.evolution.status("ada").evaluations == 4
    assert engine.evolution.status("bob").evaluations == 0


def test_an_agent_is_evaluated_once_so_many_minutes_have_passed(open_fed: Open, clock: SteppingClock) -> None:
    engine = open_fed(every_minutes=60)
    use(engine, times=5)
    assert engine.evolution.status("ada").evaluations == 0
    clock.now += timedelta(hours=1)
    assert len(engine.evolution.evaluate_due()) == 1
    clock.now += timedelta(hours=1)
    assert engine.evolution.evaluate_due() == (), "nothing happened since"
    use(engine)
    assert engine.evolution.status("ada").evaluations == 2


def test_an_agent_is_evaluated_by_what_came_later_also_after_a_clock_that_was_ahead_is_set_right(
    open_fed: Open, clock: SteppingClock, caplog: pytest.LogCaptureFixture
) -> None:
    engine = open_fed(every_outcomes=10)
    clock.now += timedelta(hours=1)
    use(engine, times=10)
    clock.now -= timedelta(hours=1)
    use(engine, times=9)
    engine.evolution.contribute("ada", "cognitive", 0.9)
    assert engine.evolution.status("ada").evaluations == 2
    assert "was not evaluated" not in caplog.text
    assert engine.evolution.fitness("ada")[-1].scores.cognitive == 0.9
    engine.evolution.report_violation("ada", "it sold the office")
    assert engine.evolution.fitness("ada")[-1].scores.safety == 0
    engine.journal.verify()


def test_minutes_go_on_after_a_clock_that_was_ahead_is_set_right(
    open_fed: Open, clock: SteppingClock
) -> None:
    engine = open_fed(every_minutes=5)
    use(engine)
    clock.now += timedelta(hours=1)
    assert len(engine.evolution.evaluate_due()) == 1
    clock.now -= timedelta(hours=1)
    use(engine)
    assert engine.evolution.status("ada").evaluations == 2
    use(engine)
    assert engine.evolution.status("ada").evaluations == 2, "it counts from now on"


def test_a_generation_from_before_positions_were_noted_is_told_by_its_time(open_fed: Open) -> None:
    engine = open_fed(every_outcomes=10)
    use(engine, times=10)
    with engine.internals.database.writing() as transaction:
        transaction.run("UPDATE evolution_generation SET counted = -1 WHERE workspace = :workspace")
    use(engine, ok=False, times=10)
    behavioral = [one.scores.behavioral for one in engine.evolution.fitness("ada")]
    assert behavioral[1] < behavioral[0]
    with pytest.raises(EvolutionError, match="nothing has happened"):
        open_fed().evolution.evaluate("eve")


def test_nothing_is_evaluated_by_itself_unless_the_configuration_says_so(open_fed: Open) -> None:
    engine = open_fed()
    use(engine, times=50)
    assert engine.evolution.status("ada").evaluations == 0 and engine.evolution.evaluate_due() == ()


def test_of_several_processes_one_evaluates(open_fed: Open) -> None:
    engines = [open_fed(every_outcomes=10) for _ in range(4)]
    for number in range(40):
        use(engines[number % 4])
    assert engines[0].evolution.status("ada").evaluations == 4


def test_outcomes_that_come_at_once_are_never_evaluated_twice(open_fed: Open) -> None:
    engines = [open_fed(every_outcomes=10) for _ in range(4)]
    threads = [threading.Thread(target=use, args=(engine, True, 10)) for engine in engines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= engines[0].evolution.status("ada").evaluations <= 4
    assert len(engines[0].journal.latest(100, "ada", "outcome")) == 40
    engines[0].journal.verify()


def test_of_several_processes_that_see_the_time_has_come_one_evaluates(
    open_fed: Open, clock: SteppingClock
) -> None:
    engines = [open_fed(every_minutes=60) for _ in range(3)]
    use(engines[0])
    clock.now += timedelta(hours=2)
    done = [len(engine.evolution.evaluate_due()) for engine in engines]
    assert sorted(done) == [0, 0, 1]


def test_an_evaluation_by_hand_begins_the_count_anew(open_fed: Open) -> None:
    engine = open_fed(every_outcomes=10)
    use(engine, times=8)
    engine.evolution.evaluate("ada")
    use(engine, times=9)
    assert engine.evolution.status("ada").evaluations == 1
    use(engine)
    assert engine.evolution.status("ada").evaluations == 2


def test_the_section_is_read_and_its_slips_are_named() -> None:
    read = parse("[evolution]\nevery_outcomes = 20\nevery_minutes = 1.5\n").evolution
    assert (read.every_outcomes, read.every_minutes) == (20, 1.5)
    with pytest.raises(ConfigError, match="unknown key 'every_outcome'") as refused:
        parse("[evolution]\nevery_outcome = 20\n")
    assert "every_outcomes" in refused.value.remedy


# --- by hand --------------------------------------------------------------------------------------


def test_one_axis_is_given_by_hand_and_the_journal_says_the_others(open_fed: Open, place: Path) -> None:
    engine = open_fed()
    for ok in (True, True, True, False):
        engine.record(Outcome(offer="", capability="tool:a-work", ok=ok))
    done = run("evolve", "evaluate", "--score", "cognitive=0.9")
    assert done.exit_code == 0 and "default: Evolution; generation 1" in done.stderr
    found = engine.evolution.status("default").scores
    assert found and found.cognitive == 0.9 and found.behavioral == pytest.approx(0.825)
    client = signed_in(app_of(engine))
    said = {"scores": {"autonomy": "L4"}}
    assert client.post(f"{ROOT}/evolution/evaluate", json=said).status_code == 200
    found = engine.evolution.status("default").scores
    assert found and (found.level, found.cognitive) == ("L4", 0.9), "what nobody speaks of stays"


@pytest.mark.parametrize(
    ("score", "complaint"),
    [("cognitive=7", "from 0 to 1"), ("autonomy=L9", "L0 to L5"), ("cognitiv=0.5", "'cognitive'"),
     ("safety", "AXIS=VALUE")],
)  # fmt: skip
def test_a_score_that_is_none_is_refused_with_what_would_be_one(
    open_fed: Open, place: Path, score: str, complaint: str
) -> None:
    engine = open_fed()
    for words in (("evaluate", "--score", score), ("contribute", score)):
        refused = run("evolve", *words)
        assert refused.exit_code == 1 and complaint in refused.stderr
    assert engine.evolution.status("default").evaluations == 0


def test_scores_in_a_file_are_read_by_the_command(open_fed: Open, place: Path) -> None:
    engine = open_fed()
    (place / "scores.json").write_text('{"cognitive": 0.6, "behavioral": 0.7, "autonomy": 0.4}')
    assert run("evolve", "evaluate", "--scores", "scores.json").exit_code == 0
    found = engine.evolution.status("default").scores
    assert found and (found.cognitive, found.behavioral, found.level) == (0.6, 0.7, "L2")
    (place / "scores.json").write_text("{")
    refused = run("evolve", "evaluate", "--scores", "scores.json")
    assert refused.exit_code == 1 and "give a file with an object" in refused.stderr


def test_a_transition_is_ordered_by_command(open_fed: Open, place: Path) -> None:
    engine = open_fed()
    engine.evolution.evaluate("default", FAIR)
    done = run("evolve", "trigger", "CapabilityGain", "--reason", "a new model")
    assert done.exit_code == 0 and "CapabilityGain; generation 2" in done.stderr
    (told,) = engine.journal.latest(type="evolution.triggered")
    assert told.data["reason"] == "a new model" and told.data["by"]
    refused = run("evolve", "trigger", "CapabilityGian", "--reason", "a new model")
    assert refused.exit_code == 1 and "did you mean 'CapabilityGain'" in refused.stderr


def test_what_programs_say_of_an_axis_counts_as_its_mean_until_they_say_otherwise(
    open_fed: Open,
) -> None:
    engine = open_fed()
    engine.evolution.contribute("default", "cognitive", 0.8, "judge")
    engine.evolution.contribute("default", "cognitive", 0.6, "judge")
    engine.evolution.contribute("default", "autonomy", "L2", "judge")
    client = signed_in(app_of(engine))
    said = {"scores": {"meta_learning": 0.4}, "source": "bench"}
    assert client.post(f"{ROOT}/evolution/scores", json=said).status_code == 200
    assert client.post(f"{ROOT}/evolution/scores", json={"scores": {"safety": 2}}).status_code == 422
    engine.evolution.evaluate("default")
    found = engine.evolution.status("default").scores
    assert found and found.cognitive == pytest.approx(0.7)
    assert (found.level, found.meta_learning) == ("L2", 0.4)
    engine.record(Outcome(offer="", capability="tool:a-work", ok=True))
    engine.evolution.evaluate("default")
    after = engine.evolution.status("default").scores
    assert after and after.cognitive == found.cognitive, "silence is no decline"


def test_a_score_is_contributed_by_command(open_fed: Open, place: Path) -> None:
    engine = open_fed()
    assert run("evolve", "contribute", "cognitive=0.6", "autonomy=L2", "--source", "judge").exit_code == 0
    engine.evolution.evaluate("default")
    found = engine.evolution.status("default").scores
    assert found and (found.cognitive, found.level) == (0.6, "L2")
    assert [entry.data["by"] for entry in engine.journal.latest(type="evolution.score")] == ["judge"] * 2


# --- what calls and people say --------------------------------------------------------------------


def test_a_failed_call_is_not_answered(open_fed: Open) -> None:
    engine = open_fed()
    use(engine, ok=False, times=4)
    engine.evolution.evaluate("ada")
    found = engine.evolution.status("ada").scores
    assert found and found.behavioral == pytest.approx(0.3)


def test_total_failure_shows_within_twenty_calls(open_fed: Open) -> None:
    engine = open_fed()
    use(engine, times=200)
    for _ in range(15):
        use(engine, times=2)
        engine.evolution.evaluate("ada")
    before = engine.evolution.status("ada").fitness or 0.0
    use(engine, ok=False, times=10)
    said = engine.evolution.evaluate("ada")
    assert before - said.fitness > 0.1 and said.trigger == "Regression"


def test_one_tool_of_three_that_breaks_is_seen_within_thirty_calls(open_fed: Open) -> None:
    engine = open_fed(every_outcomes=5)
    tools = ["tool:a-work", "tool:b-work", "tool:c-work"]
    for number in range(150):
        use(engine, tool=tools[number % 3])
    before = engine.evolution.status("ada").fitness or 0.0
    for number in range(30):
        use(engine, ok=number % 3 != 0, tool=tools[number % 3])
    told = [entry.type for entry in engine.journal.latest(agent="ada", type="Evolution*")]
    assert before - (engine.evolution.fitness("ada")[-1].fitness) > 0.08
    assert "EvolutionWarning" in told or "EvolutionRollback" in told or told.count("EvolutionGeneration") > 1


def test_one_failure_of_two_calls_right_after_a_change_is_no_fall(open_fed: Open) -> None:
    engine = open_fed()
    engine.providers.deactivate("C", "ada")
    for _ in range(15):
        use(engine, times=2)
        engine.evolution.evaluate("ada")
    engine.providers.activate("C", "ada")
    use(engine)
    assert engine.evolution.evaluate("ada").trigger == "CapabilityGain"
    for ok in (True, False):
        use(engine, ok=ok)
    assert engine.evolution.evaluate("ada").trigger is None
    found = engine.evolution.status("ada").scores
    assert found and found.behavioral == pytest.approx(0.4 * 0.95 + 0.3 + 0.3 * 0.95)


def test_a_tool_that_works_again_is_forgiven(open_fed: Open) -> None:
    engine = open_fed()
    use(engine, times=60)
    engine.evolution.evaluate("ada")
    use(engine, ok=False, times=10)
    use(engine, times=30)
    engine.evolution.evaluate("ada")
    found = engine.evolution.status("ada").scores
    assert found and found.behavioral > 0.8


def test_denials_and_refusals_lower_safety_and_never_amount_to_a_breach_by_denial_alone(
    open_fed: Open,
) -> None:
    engine = open_fed(policy=ASKING)
    for _ in range(30):
        with pytest.raises(Denied):
            engine.check("ada", "tool:c-work")
    engine.evolution.evaluate("ada")
    found = engine.evolution.status("ada").scores
    assert found and found.safety == pytest.approx(0.5)
    assert not engine.evolution.stopped("ada")


def test_what_people_refuse_lowers_safety_and_being_asked_lowers_autonomy(open_fed: Open) -> None:
    engine = open_fed(policy=ASKING)
    use(engine, times=10)
    for number in range(6):
        with pytest.raises(ApprovalNeeded) as needed:
            engine.check("ada", "tool:b-work", arguments={"number": number})
        engine.approvals.answer(needed.value.approval, ApprovalAnswer(yes=False, by="ann"))
    engine.evolution.evaluate("ada")
    found = engine.evolution.status("ada").scores
    assert found and found.safety == pytest.approx(0.4) and found.autonomy < 3


def test_a_violation_is_a_breach_at_once_where_agents_are_evaluated_by_themselves(
    open_fed: Open, place: Path
) -> None:
    engine = open_fed(every_outcomes=100)
    engine.evolution.evaluate("ada", FAIR)
    engine.evolution.report_violation("ada", "it sent a customer's address to a stranger", "tool:a-work")
    breach = engine.journal.latest(agent="ada", type="EvolutionBreach")
    assert len(breach) == 1
    (told,) = engine.journal.latest(agent="ada", type="violation")
    assert told.data["what"] == "it sent a customer's address to a stranger"


def test_violations_and_interventions_are_reported_by_command_and_over_http(
    open_fed: Open, place: Path
) -> None:
    engine = open_fed()
    use(engine, times=10)
    assert run("evolve", "intervention", "chose another flight", "--agent", "ada").exit_code == 0
    client = signed_in(app_of(engine))
    said = {"what": "chose another hotel"}
    assert client.post(f"{ROOT}/evolution/interventions?agent=ada", json=said).status_code == 200
    engine.evolution.evaluate("ada")
    found = engine.evolution.status("ada").scores
    assert found and found.level == "L3"
    assert run("evolve", "violation", "deleted a table", "--agent", "ada").exit_code == 0
    engine.evolution.evaluate("ada")
    assert engine.journal.latest(agent="ada", type="EvolutionBreach")
    assert client.post(f"{ROOT}/evolution/violations?agent=ada", json={"what": "again"}).status_code == 200


# --- being told -----------------------------------------------------------------------------------


def stop(engine: Engine, agent: str) -> None:
    engine.evolution.evaluate(agent, FAIR, AB)
    exhaust(partial(engine.evolution.evaluate, agent))
    assert engine.evolution.stopped(agent)


def test_a_stopped_agent_is_the_first_thing_that_is_said_wherever_somebody_looks(
    open_fed: Open, place: Path
) -> None:
    engine = open_fed()
    stop(engine, "default")
    resume = "prowess evolve resume --agent default"
    doctor = run("doctor")
    assert doctor.exit_code == 1
    assert doctor.stdout.splitlines()[0].startswith("error") and resume in doctor.stdout.splitlines()[0]
    nothing = run("find", "do a-work")
    assert nothing.stderr.startswith("default is stopped: rollback_exhausted") and resume in nothing.stderr
    why = run("why", "default", "tool:a-work").stdout.splitlines()
    assert why[0] == "the agent is stopped: rollback_exhausted"
    assert why[-1].startswith("deny: ") and resume in why[-1]
    page = signed_in(app_of(engine)).get("/").text
    assert "<strong>default is stopped:</strong>" in page and resume in page
    assert run("evolve", "resume").exit_code == 0
    assert resume not in run("doctor").stdout
    assert run("find", "do a-work").stdout


def test_an_agent_that_was_never_evaluated_is_said_to_be_so(open_fed: Open, place: Path) -> None:
    engine = open_fed()
    said = run("evolve", "status").stdout
    assert "not evaluated yet" in said and "0.200" not in said
    client = signed_in(app_of(engine))
    answer = client.get(f"{ROOT}/evolution/status").json()
    assert answer["fitness"] is None and answer["scores"] is None
    engine.evolution.set_params("default", {"alpha": 0.2})
    assert "not evaluated yet" in client.get("/evolution").text
    assert "Not evaluated yet" in client.get("/evolution/agent?agent=default").text


@pytest.mark.parametrize("agent", ["", "\ud800"])
def test_of_who_has_no_name_nothing_can_be_reported(open_fed: Open, agent: str) -> None:
    evolution = open_fed().evolution
    with pytest.raises(EvolutionError, match="is no agent's name"):
        evolution.report_violation(agent, "x")
    with pytest.raises(EvolutionError, match="is no agent's name"):
        evolution.report_intervention(agent, "x")
    with pytest.raises(EvolutionError, match="is no agent's name"):
        evolution.contribute(agent, "cognitive", 0.5)
