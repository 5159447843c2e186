"""Evolution: a transition that a gain of abilities causes, beside those that scores cause."""

from collections.abc import Iterator

import pytest

from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.evolution.records import Evaluation
from prowess.evolution.scores import Scores
from prowess.evolution.snapshot import Snapshot, snapshot_of
from prowess.store.opening import open_database
from prowess.testing import StaticSource, word_embedder
from prowess.types import Provider
from tests.support.clock import SteppingClock
from tests.support.evolution import FAIR, UNSAFE, scores, shown, snapshot

ROOM = "Evolution"
AB = snapshot(A="Reasoning", B="Memory")
WITH_VISION = snapshot(A="Reasoning", B="Memory", C="Vision")
WITH_MORE_MEMORY = snapshot(A="Reasoning", B="Memory", C="Memory")
BETTER = scores(0.8, 0.8, 1.0, "L2", 0.35)
WORSE = scores(0.1, 0.1, 1.0, "L2", 0.1)
HIGHER = scores(0.5, 0.5, 1.0, "L3", 0.3)
TURNED = scores(0.3, 0.7, 1.0, "L2", 0.3)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("evolution")
    options = EngineOptions(embedder=word_embedder)
    source = StaticSource(providers=[Provider(name=name, source="static") for name in "ABC"])
    engine = Engine(open_database("sqlite:store.db", folder), (source,), SteppingClock(), {}, options)
    yield engine
    engine.close()


class Agent:
    """An agent of its own for one test, past its first generation."""

    def __init__(self, engine: Engine, name: str) -> None:
        self.engine, self.name = engine, name
        engine.evolution.set_params(name, {"min_interactions": 1, "noise_margin": 0.0})
        for _ in range(3):
            engine.evolution.evaluate(name, FAIR, AB)

    def becomes(self, now: Scores, active: Snapshot) -> Evaluation:
        return self.engine.evolution.evaluate(self.name, now, active)


@pytest.fixture
def ada(engine: Engine, request: pytest.FixtureRequest) -> Agent:
    return Agent(engine, request.node.name.replace("[", "-").replace("]", "").replace(" ", "-")[:60])


def told(evaluation: Evaluation) -> list[str]:
    return [event.type for event in evaluation.events]


def test_a_new_kind_of_ability_is_a_major_gain(ada: Agent) -> None:
    """A provider that brings a kind of ability nobody brought before is told as a major gain."""
    (gain,) = [e for e in ada.becomes(FAIR, WITH_VISION).events if e.type == "EvolutionCapability"]
    assert (gain.data["severity"], gain.data["faculty"]) == ("major", "Vision")


def test_a_new_provider_of_known_abilities_is_a_minor_gain(ada: Agent) -> None:
    """A provider that brings only kinds of ability that were there is told as a minor gain."""
    (gain,) = [e for e in ada.becomes(FAIR, WITH_MORE_MEMORY).events if e.type == "EvolutionCapability"]
    assert (gain.data["severity"], gain.data["faculty"]) == ("minor", "Memory")


def test_a_single_tool_is_no_gain(engine: Engine) -> None:
    """New single tools cause no transition, so that updates of a provider make no noise.

    Better: whoever wants them sets `tool_acquisition`, and has a trigger of that name.
    """
    assert not engine.evolution.params("a").tool_acquisition
    few, more = (snapshot_of(("A",), {"A": ("Tool",)}, tools) for tools in (("a",), ("a", "b")))
    for name, expected in (("quiet-tools", None), ("loud-tools", "ToolAcquisition")):
        engine.evolution.set_params(name, {"min_interactions": 1, "tool_acquisition": expected is not None})
        engine.evolution.evaluate(name, FAIR, few)
        engine.evolution.evaluate(name, FAIR, few)
        assert engine.evolution.evaluate(name, FAIR, more).trigger == expected


def test_what_was_active_before_is_taken_together(ada: Agent) -> None:
    """What counts as known is everything that any provider of the state before brought."""
    both = snapshot(A="Reasoning", B="Memory", C="Reasoning Memory")
    assert {e.data["severity"] for e in ada.becomes(FAIR, both).events if "severity" in e.data} == {"minor"}


def test_the_gain_is_the_difference_of_the_two_states(ada: Agent) -> None:
    """Only providers that are active now and were not before are looked at."""
    assert "EvolutionCapability" not in told(ada.becomes(FAIR, AB))
    ada.becomes(FAIR, WITH_VISION)
    assert "EvolutionCapability" not in told(ada.becomes(FAIR, WITH_VISION))


def test_scores_alone_decide_what_metrics_say(ada: Agent) -> None:
    """What scores trigger depends on scores alone, not on which providers are there."""
    assert ada.becomes(BETTER, AB).trigger == "Evolution"


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param(UNSAFE, "SafetyBreach", id="a breach of safety comes before a gain"),
        pytest.param(WORSE, "Regression", id="a regression comes before a gain: the gain may be its cause"),
        pytest.param(HIGHER, "CapabilityGain", id="a gain comes before a higher level of autonomy"),
        pytest.param(TURNED, "CapabilityGain", id="a gain comes before a shift between axes"),
        pytest.param(
            BETTER, "CapabilityGain", id="a gain comes before growth, and says what the growth is from"
        ),
        pytest.param(FAIR, "CapabilityGain", id="a gain alone is a trigger"),
    ],
)
def test_the_order_of_triggers(ada: Agent, now: Scores, expected: str) -> None:
    """Where scores and a gain both say something, one order decides."""
    assert ada.becomes(now, WITH_VISION).trigger == expected


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param(UNSAFE, "SafetyBreach", id="without a gain a breach is a breach"),
        pytest.param(HIGHER, "AutonomyUpgrade", id="without a gain a higher level is an upgrade"),
        pytest.param(BETTER, "Evolution", id="without a gain growth is growth"),
        pytest.param(FAIR, None, id="without a gain and without a change nothing happens"),
    ],
)
def test_without_a_gain_scores_decide(ada: Agent, now: Scores, expected: str | None) -> None:
    """Where nothing was gained, the trigger is what the scores say."""
    assert ada.becomes(now, AB).trigger == expected


def test_a_provider_that_breaks_safety_is_gone_after_the_rollback(ada: Agent) -> None:
    """A provider that came together with a breach of safety is taken away again by the rollback.

    Better: it is really switched off, for that agent, in every process, and `why` says which rollback did it.
    """
    evaluation = ada.becomes(UNSAFE, WITH_VISION)
    assert told(evaluation)[-1] == "EvolutionRollback"
    assert evaluation.restore is not None and "C" in evaluation.restore.off


def test_a_gain_is_told_whatever_the_trigger(ada: Agent) -> None:
    """Each gained ability is an event of its own, before the generation, also under another trigger."""
    two = snapshot(A="Reasoning", B="Memory", C="Vision Web")
    calm = [shown(event).partition("(")[0] for event in ada.becomes(FAIR, two).events]
    assert calm == ["EvolutionCapability", "EvolutionCapability", "EvolutionGeneration"]
    last = snapshot(A="Reasoning", B="Memory", C="Vision Web", D="Tool")
    assert told(ada.becomes(UNSAFE, last))[:2] == ["EvolutionCapability", "EvolutionBreach"]


def test_the_generation_keeps_its_trigger(ada: Agent) -> None:
    """The generation that is recorded says that a gain caused it."""
    number = ada.becomes(BETTER, WITH_VISION).generation
    assert ada.engine.evolution.generation(ada.name, number).trigger == "CapabilityGain"


def test_a_loss_may_be_a_trigger(engine: Engine) -> None:
    """Losing an ability is not asked for, and left to a regression.

    Better: with `capability_loss` it is a trigger of its own.
    """
    engine.evolution.set_params("loser", {"min_interactions": 1, "capability_loss": True})
    engine.evolution.evaluate("loser", FAIR, AB)
    engine.evolution.evaluate("loser", FAIR, AB)
    assert engine.evolution.evaluate("loser", FAIR, snapshot(A="Reasoning")).trigger == "CapabilityLoss"


def test_others_may_tell_of_a_gain(ada: Agent) -> None:
    """A system outside may tell of a gain by itself; only thought of there.

    Better: the journal has who told and why.
    """
    evaluation = ada.engine.evolution.trigger(ada.name, "CapabilityGain", "a new model", by="deployment")
    assert evaluation.trigger == "CapabilityGain"
    (entry,) = ada.engine.journal.latest(agent=ada.name, type="evolution.triggered")
    assert entry.data["by"] == "deployment"
