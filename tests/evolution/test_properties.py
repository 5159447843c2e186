"""Whatever happens, in whatever order: what must hold of evolution holds after every step."""

import tempfile
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from prowess.engine import Engine
from prowess.errors import EvolutionError
from prowess.evolution.params import Params
from prowess.evolution.records import Evaluation
from prowess.evolution.scores import Scores
from prowess.evolution.snapshot import Snapshot, snapshot_of
from prowess.evolution.triggers import DEFENSIVE, detect_capability_changes, detect_losses
from prowess.store.opening import open_database
from tests.evolution.evaluator import EVERYTHING, source
from tests.support.clock import SteppingClock
from tests.support.evolution import Trial, inconsistencies

PROVIDERS = "ABCD"
AGENTS = ("ada", "bob")
FACULTIES = ("Reasoning", "Memory", "Vision")

fractions = st.floats(0, 1, allow_nan=False)
any_scores = st.builds(Scores, fractions, fractions, fractions, st.integers(0, 5), fractions)
snapshots = st.dictionaries(
    st.sampled_from(PROVIDERS), st.lists(st.sampled_from(FACULTIES), max_size=3), max_size=4
).map(lambda brings: snapshot_of(brings, brings))
any_params = st.builds(
    Params,
    min_interactions=st.integers(1, 12),
    safety_floor=fractions,
    rebalance_margin=fractions,
    capability_loss=st.booleans(),
)


@given(any_params, st.lists(st.tuples(any_scores, snapshots), min_size=1, max_size=40))
def test_any_series_of_evaluations_keeps_generations_dense_and_events_true(
    params: Params, series: list[tuple[Scores, Snapshot]]
) -> None:
    trial = Trial(params)
    for scores, snapshot in series:
        before = trial.life.standing
        trial.evaluate(scores, snapshot)
        assert trial.last
        assert sorted(trial.life.generations) == list(range(1, trial.generation + 1))
        assert_events_match(trial, before.generation, trial.last)
        assert_defence_comes_first(scores, params, trial.last, bool(before.stopped))


def assert_events_match(trial: Trial, before: int, last: Evaluation) -> None:
    """One event for each generation, at most one generation for each evaluation, gains told first."""
    types = [event.type for event in last.events]
    recorded = [e for e in last.events if e.type in ("EvolutionGeneration", "EvolutionRollback")]
    assert [event.data["generation"] for event in recorded] == list(range(before + 1, trial.generation + 1))
    assert len(recorded) <= 1
    gains = types.count("EvolutionCapability")
    assert types[:gains] == ["EvolutionCapability"] * gains
    assert ("EvolutionRollback" in types) == (last.restore is not None)
    if recorded:
        assert trial.life.generations[trial.generation].trigger == last.trigger


def assert_defence_comes_first(scores: Scores, params: Params, last: Evaluation, stopped: bool) -> None:
    types = [event.type for event in last.events]
    if scores.safety < params.safety_floor:
        assert "EvolutionBreach" in types
        assert last.trigger == "SafetyBreach" or stopped
    else:
        assert last.trigger != "SafetyBreach"
    if "EvolutionRollback" in types:
        assert last.trigger in DEFENSIVE


@given(any_params, st.lists(st.tuples(any_scores, snapshots), min_size=1, max_size=40))
def test_a_restore_leads_exactly_to_the_generation_it_records(
    params: Params, series: list[tuple[Scores, Snapshot]]
) -> None:
    trial = Trial(params)
    for scores, snapshot in series:
        trial.evaluate(scores, snapshot)
        assert trial.last
        if trial.last.restore:
            active = set(snapshot.active_providers) - set(trial.last.restore.off) | set(trial.last.restore.on)
            restored = trial.life.generations[trial.generation]
            assert active == set(restored.snapshot.active_providers)
            target = trial.life.generations[restored.restored]
            assert active <= set(target.snapshot.active_providers)
            assert target.rollbacks <= 3


@given(snapshots, snapshots)
def test_what_is_gained_one_way_is_lost_the_other(one: Snapshot, other: Snapshot) -> None:
    known = {name: brings or ("Tool",) for name, brings in one.provider_faculties.items()}
    more = {name: brings or ("Tool",) for name, brings in other.provider_faculties.items()}
    before, after = Snapshot(tuple(sorted(known)), known), Snapshot(tuple(sorted(more)), more)
    gained = {(change.provider, change.faculty) for change in detect_capability_changes(before, after)}
    assert gained == {(loss.provider, loss.faculty) for loss in detect_losses(after, before)}


@given(snapshots, snapshots)
def test_every_new_faculty_is_major_exactly_once(before: Snapshot, after: Snapshot) -> None:
    known = {f for brings in before.provider_faculties.values() for f in brings}
    now = {f for brings in after.provider_faculties.values() for f in brings}
    major = [c.faculty for c in detect_capability_changes(before, after) if c.severity == "major"]
    assert sorted(major) == sorted(now - known)


class Evolution(RuleBasedStateMachine):
    """Agents are evaluated, rolled back, stopped, resumed; processes crash and open again."""

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.clock = SteppingClock()
        self.engine = self._opened()
        self.engine.sync(vectors=False)
        self.taken: dict[str, set[str]] = {agent: set() for agent in AGENTS}

    def _opened(self) -> Engine:
        database = open_database(f"sqlite:{self.folder.name}/store.db", Path())
        return Engine(database, (source(),), self.clock, {}, EVERYTHING)

    @rule(agent=st.sampled_from(AGENTS), scores=any_scores)
    def evaluate(self, agent: str, scores: Scores) -> None:
        evaluation = self.engine.evolution.evaluate(agent, scores)
        if evaluation.restore:
            self.taken[agent] |= set(evaluation.restore.off)
            assert not self.taken[agent] & set(evaluation.restore.on)
        if evaluation.trial:
            assert set(evaluation.trial.on) <= self.taken[agent], "only what a search took comes back"
            self.taken[agent] = self.taken[agent] - set(evaluation.trial.on) | set(evaluation.trial.off)

    @rule(agent=st.sampled_from(AGENTS), provider=st.sampled_from("ABC"))
    def switch_on(self, agent: str, provider: str) -> None:
        self.engine.providers.activate(provider, agent)
        self.taken[agent].discard(provider)

    @rule(agent=st.sampled_from(AGENTS), provider=st.sampled_from("ABC"))
    def switch_off(self, agent: str, provider: str) -> None:
        self.engine.providers.deactivate(provider, agent)

    @rule(agent=st.sampled_from(AGENTS), back=st.integers(0, 4))
    def roll_back(self, agent: str, back: int) -> None:
        number = self.engine.evolution.status(agent).generation - back
        if number >= 1:
            evaluation = self.engine.evolution.rollback(agent, number)
            if evaluation.restore:
                self.taken[agent] |= set(evaluation.restore.off)
                self.taken[agent] -= set(evaluation.restore.on)

    @rule(agent=st.sampled_from(AGENTS))
    def resume(self, agent: str) -> None:
        if self.engine.evolution.stopped(agent):
            self.engine.evolution.resume(agent)
        else:
            with pytest.raises(EvolutionError):
                self.engine.evolution.resume(agent)

    @rule(agent=st.sampled_from(AGENTS), scores=any_scores)
    def crash(self, agent: str, scores: Scores) -> None:
        """The process dies before the evaluation is durable."""
        before = self.engine.evolution.status(agent)
        with pytest.raises(KeyboardInterrupt), self.engine.internals.database.writing() as transaction:
            setting, now = self.engine.evolution._surroundings.now(agent, None)
            evaluation = self.engine.evolution._generations.evaluate(transaction, agent, scores, setting)
            self.engine.evolution._consequences.carry_out(transaction, evaluation, now, Snapshot())
            raise KeyboardInterrupt
        self.engine.close()
        self.engine = self._opened()
        assert self.engine.evolution.status(agent) == before

    @invariant()
    def records_events_and_switches_agree(self) -> None:
        for agent in AGENTS:
            assert inconsistencies(self.engine, agent) == []

    @invariant()
    def what_was_rolled_back_is_not_there(self) -> None:
        for agent in AGENTS:
            active = self.engine.catalogue.view().active(agent).values()
            assert not {c.provider for c in active} & self.taken[agent]

    def teardown(self) -> None:
        self.engine.close()
        self.folder.cleanup()


@pytest.mark.slow
def test_no_order_of_evaluations_rollbacks_switches_and_crashes_breaks_an_agent() -> None:
    run_state_machine_as_test(
        Evolution,
        settings=settings(
            max_examples=25,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
