"""What an agent can use is compared from one evaluation to the next, and events say why it changed."""

from datetime import timedelta
from pathlib import Path

import pytest

from prowess.catalogue.health import ReadingNode
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.evolution.records import Evaluation
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from prowess.types import Capability, Provider
from tests.support.clock import SteppingClock
from tests.support.evolution import FAIR
from tests.support.stores import OpenEngine

POLICY = """
profiles:
  reader:
    agents: [ada]
    additional_tools: [{}]
"""
READS, READS_AND_SEES = POLICY.format('"tool:read"'), POLICY.format('"tool:read", "tool:see"')
FACULTIES = {"eyes": "Vision", "notes": "Memory", "files": "Reasoning"}


def a_source(*capabilities: Capability, down: str = "") -> StaticSource:
    """Files that can be read, and what else is given; what brings `see` is "eyes"."""
    every = (capability("tool:read", "Read a file", provider="files"), *capabilities)
    names = {one.provider for one in every}
    return StaticSource(
        capabilities=list(every),
        providers=[
            Provider(
                name=name, source="static", faculties=(FACULTIES[name],), down=down if name == "eyes" else ""
            )
            for name in sorted(names)
        ],
    )


def sees(**fields: object) -> Capability:
    return capability("tool:see", "See a picture", provider="eyes", **fields)


def told(evaluation: Evaluation) -> list[tuple[str, str]]:
    """Provider and cause of each gain or loss."""
    gains = [
        (str(event.data["provider"]), str(event.data["cause"]))
        for event in evaluation.events
        if event.type == "EvolutionCapability"
    ]
    lost = [one for event in evaluation.events for one in event.data.get("lost", ())]
    return gains or [(one["provider"], one["cause"]) for one in lost]


@pytest.fixture
def engine(open_engine: OpenEngine) -> Engine:
    """An agent that may read only, and was evaluated so; losses count."""
    engine = open_engine(a_source(), policy=READS)
    engine.sync(vectors=False)
    engine.evolution.set_params("ada", {"capability_loss": True})
    engine.evolution.evaluate("ada", FAIR)
    return engine


def test_what_is_installed_and_may_not_be_used_is_no_gain_until_policy_grants_it(
    engine: Engine, tmp_path: Path
) -> None:
    engine.sources = (a_source(sees()),)
    engine.sync(vectors=False)
    installed = engine.evolution.evaluate("ada", FAIR)
    assert installed.trigger is None and told(installed) == []
    (tmp_path / "policy.yaml").write_text(READS_AND_SEES)
    granted = engine.evolution.evaluate("ada", FAIR)
    assert granted.trigger == "CapabilityGain"
    assert told(granted) == [("eyes", "policy allows it now")]
    (entry,) = engine.journal.latest(agent="ada", type="EvolutionCapability")
    assert entry.data["cause"] == "policy allows it now"
    (tmp_path / "policy.yaml").write_text(READS)
    taken = engine.evolution.evaluate("ada", FAIR)
    assert taken.trigger == "CapabilityLoss" and ("eyes", "policy denies it") in told(taken)


def test_what_comes_and_may_be_used_was_installed_and_what_goes_was_removed(
    engine: Engine, tmp_path: Path
) -> None:
    (tmp_path / "policy.yaml").write_text(READS_AND_SEES)
    engine.sources = (a_source(sees()),)
    engine.sync(vectors=False)
    assert told(engine.evolution.evaluate("ada", FAIR)) == [("eyes", "it was installed")]
    engine.sources = (a_source(),)
    engine.sync(vectors=False)
    assert ("eyes", "it was removed") in told(engine.evolution.evaluate("ada", FAIR))


def test_a_provider_whose_secret_is_missing_is_gained_once_the_secret_is_set(
    open_engine: OpenEngine,
) -> None:
    source, environment = a_source(sees(required_secrets=("EYES_KEY",))), dict[str, str]()
    engine = open_engine(source, policy=READS_AND_SEES, environment=environment)
    engine.sync(vectors=False)
    engine.evolution.evaluate("ada", FAIR)
    later = open_engine(source, policy=READS_AND_SEES, environment={"EYES_KEY": "x"})
    evaluation = later.evolution.evaluate("ada", FAIR)
    assert evaluation.trigger == "CapabilityGain"
    assert told(evaluation) == [("eyes", "it can be used again; before: secret EYES_KEY is not set")]


def test_what_is_held_in_quarantine_is_gained_when_somebody_releases_it(open_engine: OpenEngine) -> None:
    source = a_source()
    engine = open_engine(source, policy=READS_AND_SEES, trust={"static": "pinned"})
    engine.sync(vectors=False)
    source.capabilities.append(sees())
    source.providers.append(Provider(name="eyes", source="static", faculties=("Vision",)))
    engine.sync(vectors=False)
    source.capabilities[-1] = sees(tags=("changed",))
    engine.sync(vectors=False)
    assert [held.id for held in engine.quarantine.list()] == ["tool:see"]
    engine.evolution.evaluate("ada", FAIR)
    assert "eyes" not in engine.evolution.history("ada")[-1].snapshot.active_providers
    engine.quarantine.approve("tool:see", by="ann")
    evaluation = engine.evolution.evaluate("ada", FAIR)
    assert evaluation.trigger == "CapabilityGain"
    assert told(evaluation)[0][1].startswith("it can be used again; before: quarantined")


def test_what_one_process_cannot_reach_and_a_running_gateway_can_is_no_loss(
    open_engine: OpenEngine, store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    with Engine(
        open_database(store_url, tmp_path), (a_source(sees()),), clock, {},
        EngineOptions(
            policy_files=(tmp_path / "policy.yaml",), embedder=word_embedder,
            node=ReadingNode(id="gateway", vouches=timedelta(hours=1)),
        ),
    ) as gateway:  # fmt: skip
        other = open_engine(a_source(sees(), down="it does not start here"), policy=READS_AND_SEES)
        gateway.sync(vectors=False)
        gateway.evolution.set_params("ada", {"capability_loss": True})
        gateway.evolution.evaluate("ada", FAIR)
        other.sync(vectors=False)
        assert other.catalogue.view().providers["eyes"].down, "this process cannot reach it"
        assert other.evolution.evaluate("ada", FAIR).trigger is None
        gateway.sources = other.sources
        gateway.sync(vectors=False)
        lost = other.evolution.evaluate("ada", FAIR)
        assert lost.trigger == "CapabilityLoss"
        assert ("eyes", "it is down: it does not start here") in told(lost)


def test_an_agent_that_was_evaluated_under_other_rules_is_told_of_what_it_lost_once(
    engine: Engine,
) -> None:
    assert [engine.evolution.evaluate("ada", FAIR).trigger for _ in range(3)] == [None] * 3


def test_reasons_that_cannot_be_read_stop_no_evaluation(engine: Engine, tmp_path: Path) -> None:
    with engine.internals.database.writing() as transaction:
        transaction.run("UPDATE evolution_unusable SET reasons = '{' WHERE workspace = :workspace")
    engine.sources = (a_source(sees()),)
    engine.sync(vectors=False)
    (tmp_path / "policy.yaml").write_text(READS_AND_SEES)
    assert engine.evolution.evaluate("ada", FAIR).trigger == "CapabilityGain"
