"""A rollback never switches on what a person switched off, and says so."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from prowess.cli.main import prowess
from prowess.engine import Engine
from prowess.web.dispatch import ROOT
from tests.evolution.test_engine import offered
from tests.support.evolution import FAIR, UNSAFE, OpenEvolving, inconsistencies, scores
from tests.support.stores import OWNER
from tests.support.web import app_of, signed_in

FALLEN = scores(0.1, 0.1, 1.0, "L0", 0.1)


@pytest.fixture
def engine(open_evolving: OpenEvolving) -> Engine:
    """Generation 1 has A, B and C."""
    engine = open_evolving()
    engine.sync(vectors=False)
    engine.evolution.set_params("ada", {"min_interactions": 1})
    engine.evolution.evaluate("ada", FAIR)
    return engine


def off(engine: Engine) -> list[str]:
    return sorted(provider.name for provider in engine.providers.list("ada") if provider.off)


def run(*words: str) -> Result:
    return CliRunner().invoke(prowess, words)


@pytest.mark.parametrize("agent", ["ada", ""])
@pytest.mark.parametrize("fallen", [UNSAFE, FALLEN], ids=["breach", "regression"])
def test_what_a_person_switched_off_stays_off_through_every_rollback(
    engine: Engine, agent: str, fallen: object
) -> None:
    engine.providers.deactivate("C", agent)
    engine.providers.deactivate("B", "ada", "it was slow", automatic=True)
    engine.evolution.evaluate("ada", FAIR)
    rolled_back = engine.evolution.evaluate("ada", fallen)  # type: ignore[arg-type]
    back = () if fallen is UNSAFE else ("B",)
    assert rolled_back.restore
    assert (rolled_back.restore.on, rolled_back.restore.kept_off) == (back, ("C",))
    assert "C" in off(engine) and "tool:c-work" not in offered(engine, "ada")
    (told,) = [e for e in engine.journal.latest(agent="ada") if e.type == "EvolutionRollback"]
    assert told.data["kept_off"] == ["C"] and told.data["switched_on"] == list(back)
    active = engine.evolution.history("ada")[-1].snapshot.active_providers
    assert active == ("A", *back), "the record holds what is active"
    on = [e.data["provider"] for e in engine.journal.latest(agent="ada") if e.type == "provider.on"]
    assert on == list(back)


def test_a_breach_switches_nothing_on_whoever_switched_it_off(engine: Engine) -> None:
    engine.providers.deactivate("B", "ada", "it was slow", automatic=True)
    breached = engine.evolution.evaluate("ada", UNSAFE)
    assert breached.restore and breached.restore.on == () and breached.restore.kept_off == ()
    assert off(engine) == ["B"]


def test_what_an_automatism_removed_comes_back_after_a_regression(engine: Engine) -> None:
    engine.providers.deactivate("B", "ada", "it was slow", automatic=True)
    fallen = engine.evolution.evaluate("ada", FALLEN)
    assert fallen.restore and fallen.restore.on == ("B",)
    assert off(engine) == [] and inconsistencies(engine, "ada") == []


def test_a_person_who_takes_over_what_a_rollback_switched_off_has_decided(engine: Engine) -> None:
    engine.providers.deactivate("C", "ada")
    engine.evolution.evaluate("ada", FAIR)
    engine.providers.activate("C", "ada")
    engine.evolution.evaluate("ada", FAIR)
    engine.evolution.evaluate("ada", UNSAFE)
    engine.evolution.rollback("ada", 1)
    assert off(engine) == [], "a person asked for what a rollback had taken"
    engine.providers.deactivate("C", "ada")
    assert engine.evolution.rollback("ada", 1).restore
    assert off(engine) == ["C"]
    engine.providers.activate("C", "ada")
    assert off(engine) == [], "a person's word holds until a person takes it back"


def test_the_command_line_the_api_and_the_page_say_what_stays_off(
    engine: Engine, tmp_path: Path, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "policy.yaml").write_text(OWNER)
    (tmp_path / "prowess.toml").write_text(f'store = "{store_url}"\n[policy]\nfiles = ["policy.yaml"]\n')
    monkeypatch.setenv("PROWESS_CONFIG", str(tmp_path / "prowess.toml"))
    assert run("provider", "off", "C", "--agent", "ada").exit_code == 0
    told = run("evolve", "rollback", "1", "--agent", "ada")
    assert told.exit_code == 0, told.stderr
    assert "C stays off: a person decided it" in told.stderr and "C is on" not in told.stderr
    client = signed_in(app_of(engine))
    answer = client.post(f"{ROOT}/evolution/rollback", params={"agent": "ada"}, json={"generation": 1})
    assert answer.status_code == 200 and answer.json()["kept_off"] == ["C"] and answer.json()["on"] == []
    shown = client.get("/evolution/generation", params={"agent": "ada", "number": "1"})
    assert shown.status_code == 200
    assert off(engine) == ["C"]


def test_a_proposal_is_shown_and_answered_over_http(engine: Engine) -> None:
    client = signed_in(app_of(engine))
    params = {"agent": "ada"}
    assert client.put(f"{ROOT}/evolution/params", params=params, json={"on_regression": "propose"}).is_success
    engine.providers.deactivate("C", "ada")
    for _ in range(12):
        engine.evolution.evaluate("ada", FAIR)
    engine.providers.activate("C", "ada")
    for _ in range(2):
        engine.evolution.evaluate("ada", scores(0.1, 0.1, 1.0, "L2", 0.1))
    page = client.get("/evolution/agent", params=params)
    assert "C is the likeliest cause" in page.text and "It waits for you" in page.text
    waits = client.get(f"{ROOT}/evolution/status", params=params).json()["trial"]
    assert (waits["suspect"], waits["waits_for_a_person"]) == ("C", True)
    done = client.post(f"{ROOT}/evolution/proposal", params=params, json={"accept": True})
    assert done.status_code == 200 and done.json()["off"] == ["C"]
    assert off(engine) == ["C"]
