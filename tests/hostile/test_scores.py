"""What are no scores is refused where it enters; rows that cannot be read are never in anybody's way."""

import math
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from prowess.cli.main import prowess
from prowess.engine import Engine
from prowess.errors import Denied, EvolutionError
from prowess.evolution.scores import Scores
from prowess.store import database
from prowess.store.opening import open_database
from prowess.web.dispatch import ROOT
from tests.support.evolution import FAIR, UNSAFE, OpenEvolving, scores
from tests.support.stores import OWNER
from tests.support.web import app_of, signed_in

SURROGATE = "\ud800"
AXES = {"cognitive": 0.8, "behavioral": 0.7, "safety": 1.0, "autonomy": 3, "meta_learning": 0.5}


def as_given(autonomy: Any) -> Scores:
    return Scores(0.8, 0.7, 1.0, autonomy, 0.5)


@pytest.fixture
def engine(open_evolving: OpenEvolving) -> Engine:
    engine = open_evolving()
    engine.sync(vectors=False)
    return engine


@pytest.fixture
def place(tmp_path: Path, store_url: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the command line works on the same store."""
    (tmp_path / "policy.yaml").write_text(OWNER)
    (tmp_path / "prowess.toml").write_text(f'store = "{store_url}"\n[policy]\nfiles = ["policy.yaml"]\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROWESS_CONFIG", str(tmp_path / "prowess.toml"))
    return tmp_path


def run(*words: str, input: str | None = None) -> Result:
    return CliRunner().invoke(prowess, words, input=input)


def still_works(engine: Engine, agent: str) -> None:
    """Everything that an unreadable row used to stop."""
    assert engine.find("do a-work", agent=agent)
    assert engine.offer("do a-work").hits
    engine.check(agent, "tool:a-work")
    engine.evolution.status(agent)
    engine.evolution.history(agent)
    engine.evolution.fitness(agent)
    with pytest.raises(EvolutionError, match="is not stopped"):
        engine.evolution.resume(agent)
    engine.evolution.evaluate(agent, FAIR)


# --- what is taken, and what is refused -----------------------------------------------------------


def test_autonomy_is_held_as_a_level_however_it_was_given() -> None:
    given = ("L3", 3, 0.6, 1, 1.0, 0, 0.0)
    assert [as_given(value).autonomy for value in given] == [3, 3, 3, 1, 5, 0, 0]
    assert all(type(as_given(value).autonomy) is int for value in given)


@pytest.mark.parametrize("value", [True, None, "3", "l3", SURROGATE, math.nan, math.inf, 1.5, 3.0, 6, -1, []])
def test_what_is_no_level_of_autonomy_is_refused_with_a_remedy(value: object) -> None:
    with pytest.raises(EvolutionError, match="autonomy is no level") as refused:
        as_given(value)
    assert "L0 to L5" in refused.value.remedy


@pytest.mark.parametrize("axis", ["cognitive", "behavioral", "safety", "meta_learning"])
@pytest.mark.parametrize("value", [True, None, "0.5", SURROGATE, math.nan, math.inf, 1.1, -0.1, [0.5]])
def test_what_is_no_fraction_of_one_is_refused_with_a_remedy(axis: str, value: Any) -> None:
    with pytest.raises(EvolutionError, match=f"{axis} score must be") as refused:
        Scores(**{**AXES, axis: value})
    assert "fraction of one" in refused.value.remedy


def test_an_agent_that_was_evaluated_with_a_fraction_goes_on(engine: Engine) -> None:
    engine.evolution.evaluate("ada", as_given(0.6))
    assert engine.evolution.status("ada").as_data()["autonomy_level"] == "L3"
    still_works(engine, "ada")
    engine.evolution.rollback("ada", 1)


@pytest.mark.parametrize("agent", [None, "", 7, SURROGATE])
def test_who_has_no_name_has_no_evolution(engine: Engine, agent: Any) -> None:
    evolution = engine.evolution
    for refused in (
        lambda: engine.evolution.evaluate(agent, FAIR),
        lambda: evolution.rollback(agent, 1),
        lambda: evolution.resume(agent),
        lambda: evolution.set_params(agent, {"beta": 0.1}),
    ):
        with pytest.raises(EvolutionError, match="is no agent's name"):
            refused()


def test_what_are_no_scores_is_refused(engine: Engine) -> None:
    for wrong in (0.5, {}, {"cognition": 0.5}, {"cognitive": "good"}, "good"):
        with pytest.raises(EvolutionError, match=r"give|did you mean 'cognitive'"):
            engine.evolution.evaluate("ada", wrong)  # type: ignore[arg-type]


def test_the_limits_of_parameters_are_the_same_at_every_face(engine: Engine, place: Path) -> None:
    with pytest.raises(EvolutionError, match="min_interactions must be from 1 to 1000000"):
        engine.evolution.set_params("default", {"min_interactions": 10**23})
    refused = run("evolve", "params", "--set", f"min_interactions={10**23}")
    assert refused.exit_code == 1 and "from 1 to 1000000" in refused.stderr
    client = signed_in(app_of(engine))
    answer = client.put(f"{ROOT}/evolution/params", json={"min_interactions": 10**23})
    assert answer.status_code in (400, 422)
    assert engine.evolution.params().min_interactions == 10


# --- one meaning at every face --------------------------------------------------------------------


@pytest.mark.parametrize(("given", "level"), [("L4", "L4"), (1, "L1"), (3, "L3"), (0.6, "L3"), (1.0, "L5")])
def test_autonomy_means_the_same_to_the_library_the_api_and_the_command_line(
    engine: Engine, place: Path, given: object, level: str
) -> None:
    assert as_given(given).level == level
    client = signed_in(app_of(engine))
    said = {"scores": {**AXES, "autonomy": given}}
    answer = client.post(f"{ROOT}/evolution/evaluate", json=said)
    assert answer.status_code == 200, answer.text
    shown = client.get(f"{ROOT}/evolution/status").json()
    assert shown["scores"]["autonomy"] == shown["autonomy_level"] == level
    for path in ("generations", "fitness"):
        assert client.get(f"{ROOT}/evolution/{path}").json()[-1]["scores"]["autonomy"] == level
    status = msgspec.json.decode(run("evolve", "status", "--json").stdout)
    assert status["scores"]["autonomy"] == level
    replayed = run("evolve", "replay", "-", input=msgspec.json.encode(said).decode())
    assert replayed.exit_code == 0, replayed.stderr
    # What an answer gives can be given back.
    again = client.post(f"{ROOT}/evolution/evaluate", json={"scores": shown["scores"]})
    assert again.status_code == 200 and again.json()["generation"] == 1


@pytest.mark.parametrize("given", [True, None, "3", 6, 3.5])
def test_what_is_no_level_is_refused_at_every_face(engine: Engine, place: Path, given: object) -> None:
    said = {"scores": {**AXES, "autonomy": given}}
    assert signed_in(app_of(engine)).post(f"{ROOT}/evolution/evaluate", json=said).status_code == 422
    refused = run("evolve", "replay", "-", input=msgspec.json.encode(said).decode())
    assert refused.exit_code == 1 and "autonomy is no level" in refused.stderr


# --- what earlier versions left behind ------------------------------------------------------------

STANDING = (
    '{"evaluations":1,"generation":1,"generation_at":1,"good":1,"previous":%s,"ranking":["cognitive",'
    '"behavioral","meta_learning","autonomy"],"recent":[0.5],"grace":null,"drift":{"level":0.5,"observed":1,'
    '"watched":0,"fallen":0.0},"stopped":"","withheld":{"C":true},"seen":{"active_providers":[],'
    '"provider_faculties":{},"tools":[]}}'
)
RECORD = (
    '{"number":1,"trigger":"Evolution","at":"2026-01-01T00:00:00.000000+00:00","interactions":0,"scores":%s,'
    '"delta":{"autonomy":0.4,"safety":0.1},"fitness":0.5,"fitness_delta":0.0,"snapshot":{"active_providers":[],'
    '"provider_faculties":{},"tools":[]},"parent":0,"restored":0,"rollbacks":0,"reason":"","policy_revision":"",'
    '"catalogue_version":0}'
)
EMPTY = "[[],{},[]]"


def keep_as_before(url: str, folder: Path, kept: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A store of the version before, with one evaluation of each agent, its scores kept as given."""
    known = database.migrations()
    with monkeypatch.context() as before:
        before.setattr(database, "migrations", lambda: [one for one in known if one.number < 11])
        store = open_database(url, folder)
    with store.writing() as transaction:
        transaction.run("INSERT INTO evolution_snapshot VALUES (:digest, :text)", digest="d", text=EMPTY)
        for agent, text in kept.items():
            transaction.run(
                "INSERT INTO evolution_agent VALUES (:agent, :standing, 'd', '')",
                agent=agent, standing=STANDING % text,
            )  # fmt: skip
            transaction.run(
                "INSERT INTO evolution_generation VALUES (:agent, 1, 'd', :record, 0, 0)",
                agent=agent, record=RECORD % text,
            )  # fmt: skip
            transaction.run(
                "INSERT INTO evolution_fitness VALUES (:agent, 1, 'then', :scores, 0.5)",
                agent=agent, scores=text,
            )  # fmt: skip
        for provider, reason in (("B", "switched off by a person"), ("C", "rolled back to generation 1: x")):
            transaction.run(
                "INSERT INTO provider_off (provider, agent, reason) VALUES (:provider, 'ada', :reason)",
                provider=provider, reason=reason,
            )  # fmt: skip
    store.close()


KEPT = '{"cognitive":%s,"behavioral":0.7,"safety":%s,"autonomy":%s,"meta_learning":%s}'


@pytest.mark.new_store
def test_what_earlier_versions_kept_wrongly_is_read_as_it_was_meant(
    open_evolving: OpenEvolving, store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    autonomy = {"0.6": 3, "0.61234": 3, "0.0": 0, "1.0": 5, "0.95": 5, "2.0": 2, "3.7": 3, "true": 1, "4": 4}
    kept = {f"agent{text}": KEPT % ("0.8", "1.0", text, "0.5") for text in autonomy}
    kept["bools"] = KEPT % ("true", "true", "false", "false")
    keep_as_before(store_url, tmp_path, kept, monkeypatch)
    engine = open_evolving()
    evolution = engine.evolution
    for text, level in autonomy.items():
        agent = f"agent{text}"
        assert evolution.status(agent).scores == Scores(0.8, 0.7, 1.0, level, 0.5)
        (generation,) = evolution.history(agent)
        assert (generation.scores.autonomy, generation.delta["autonomy"]) == (level, 0.4)
        assert [entry.scores.autonomy for entry in evolution.fitness(agent)] == [level]
        engine.evolution.evaluate(agent, FAIR)
    assert evolution.status("bools").scores == Scores(1.0, 0.7, 1.0, 0, 0.0)
    assert not [one for one in engine.diagnose() if one.source == "evolution"]
    assert evolution.kept_off("ada") == {"B"}


# --- rows that cannot be read ---------------------------------------------------------------------

SPOILT = ('{"evaluations": "many"}', "no JSON at all", '{"previous":{"autonomy":2e-1}}')


def spoil(engine: Engine, statement: str, **values: object) -> None:
    with engine.internals.database.writing() as transaction:
        assert transaction.run(statement, **values)


@pytest.mark.parametrize("text", SPOILT)
def test_a_row_that_cannot_be_read_stops_nobody_and_doctor_names_it_until_it_is_repaired(
    engine: Engine, place: Path, text: str
) -> None:
    for _ in range(3):
        engine.evolution.evaluate("ada", FAIR)
    spoil(engine, "UPDATE evolution_agent SET standing = :text WHERE agent = 'ada'", text=text)
    spoil(engine, "UPDATE evolution_fitness SET scores = :text WHERE evaluation = 2", text=text)
    told = run("doctor")
    assert told.exit_code == 1 and "Traceback" not in told.output
    assert "ada: where it stands cannot be read" in told.stdout and "evaluation 2 cannot" in told.stdout
    assert "prowess evolve repair --agent ada" in told.stdout
    client = signed_in(app_of(engine))
    assert client.get("/evolution").status_code == 200
    assert client.get("/evolution/agent", params={"agent": "ada"}).status_code == 200
    status = engine.evolution.status("ada")
    assert (status.evaluations, status.generation, status.scores) == (3, 1, FAIR)
    assert engine.check("ada", "tool:a-work").verdict == "allow"
    assert engine.find("do a-work", agent="ada")

    repaired = run("evolve", "repair", "--agent", "ada")
    assert repaired.exit_code == 0 and "evaluation 2: removed" in repaired.stderr
    assert not [one for one in engine.diagnose() if one.source == "evolution"]
    assert [entry.type for entry in engine.journal.latest(1, "ada")] == ["evolution.repaired"]
    still_works(engine, "ada")
    assert engine.evolution.status("ada").evaluations == 4
    assert "can be read" in run("evolve", "repair", "--agent", "ada").stderr


def test_an_evaluation_heals_where_an_agent_stands_and_a_stop_is_not_forgotten(
    engine: Engine,
) -> None:
    engine.evolution.evaluate("ada", FAIR)
    engine.evolution.evaluate("bob", FAIR)
    broken = '{"evaluations":"many","stopped":"rollback_exhausted"}'
    spoil(engine, "UPDATE evolution_agent SET standing = :text WHERE agent = 'bob'", text=broken)
    spoil(engine, "UPDATE evolution_agent SET standing = 'x' WHERE agent = 'ada'")
    still_works(engine, "ada")
    assert [one.place for one in engine.diagnose() if one.source == "evolution"] == ["bob", "bob"]
    with pytest.raises(Denied, match="stopped"):
        engine.check("bob", "tool:a-work")
    engine.evolution.resume("bob")
    still_works(engine, "bob")


def test_a_generation_that_cannot_be_read_is_passed_over_and_the_others_can_be_brought_back(
    engine: Engine,
) -> None:
    engine.providers.deactivate("C", "ada")
    engine.evolution.evaluate("ada", FAIR)
    engine.providers.activate("C", "ada")
    engine.evolution.evaluate("ada", FAIR)
    spoil(engine, "UPDATE evolution_generation SET record = '{}' WHERE number = 2")
    assert [one.number for one in engine.evolution.history("ada")] == [1]
    assert "generation 2 cannot be read" in str(engine.diagnose())
    assert engine.evolution.rollback("ada", 1).restore
    engine.evolution.repair("ada")
    assert [one.number for one in engine.evolution.history("ada")] == [1, 3]
    assert not engine.evolution.evaluate("ada", UNSAFE).stopped


def test_parameters_that_are_out_of_bounds_are_passed_over_and_the_others_hold(
    engine: Engine,
) -> None:
    engine.evolution.set_params("ada", {"beta": 0.2})
    kept = '{"alpha":0.1,"beta":0.2,"min_interactions":100000000000000000000000}'
    spoil(engine, "UPDATE evolution_agent SET params = :kept WHERE agent = 'ada'", kept=kept)
    found = engine.evolution.params("ada")
    assert (found.beta, found.min_interactions) == (0.2, 10)
    assert "its parameters cannot be read" in str(engine.diagnose())
    still_works(engine, "ada")
    engine.evolution.repair("ada")
    assert engine.evolution.params("ada").beta == 0.2
    assert not [one for one in engine.diagnose() if one.source == "evolution"]


def test_scores_of_the_golden_files_are_read_as_before() -> None:
    assert scores(0.5, 0.5, 1.0, "L2", 0.3) == Scores(0.5, 0.5, 1, 2, 0.3) == FAIR
