"""Generations in the store: nothing is lost between evaluations, processes, threads and kills."""

import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from prowess.errors import EvolutionError, NotFound
from prowess.evolution.params import Params
from tests.support.evolution import (
    AB,
    ABC,
    FAIR,
    UNSAFE,
    OpenEvolving,
    exhaust,
    inconsistencies,
    scores,
    shown,
)

BETTER = scores(0.85, 0.85, 1.0, "L2", 0.35)


def test_every_evaluation_is_in_the_log_and_the_timeline_is_as_long_as_asked(
    open_evolving: OpenEvolving,
) -> None:
    evolution = open_evolving().evolution
    for _ in range(5):
        evolution.evaluate("ada", FAIR, AB)
    assert [entry.evaluation for entry in evolution.fitness("ada")] == [1, 2, 3, 4, 5]
    assert [entry.evaluation for entry in evolution.fitness("ada", 3)] == [3, 4, 5]


def test_a_generation_keeps_everything_about_its_moment(open_evolving: OpenEvolving) -> None:
    engine = open_evolving()
    engine.sync()
    evolution = engine.evolution
    evolution.evaluate("ada", FAIR, AB)
    evolution.evaluate("ada", BETTER, ABC)
    found = evolution.generation("ada", 2)
    assert (found.trigger, found.interactions, found.parent) == ("CapabilityGain", 1, 1)
    assert found.scores == BETTER
    assert found.delta.keys() == {"cognitive", "behavioral", "meta_learning"}
    assert found.fitness_delta == pytest.approx(0.1825)
    assert found.snapshot == ABC
    assert found.catalogue_version == engine.catalogue.view().version
    assert found.policy_revision == engine.policy.revision != ""


def test_a_restart_continues_where_it_was(open_evolving: OpenEvolving) -> None:
    first = open_evolving()
    for _ in range(10):
        first.evolution.evaluate("ada", scores(0.6, 0.6, 1.0, "L2", 0.3), AB)
    first.evolution.evaluate("ada", scores(0.52, 0.55, 1.0, "L2", 0.3), AB)
    first.close()
    second = open_evolving()
    said = second.evolution.evaluate("ada", scores(0.52, 0.55, 1.0, "L2", 0.3), AB)
    assert [shown(event) for event in said.events] == ["EvolutionWarning(mild,cognitive,remaining=9)"]


def test_agents_do_not_know_each_other(open_evolving: OpenEvolving) -> None:
    evolution = open_evolving().evolution
    evolution.evaluate("ada", FAIR, AB)
    evolution.evaluate("bob", FAIR, ABC)
    evolution.evaluate("ada", UNSAFE, AB)
    assert evolution.status("ada").generation == 2
    assert evolution.status("bob").generation == 1


def test_a_rollback_by_a_person_restores_and_is_in_the_history(open_evolving: OpenEvolving) -> None:
    evolution = open_evolving().evolution
    evolution.evaluate("ada", FAIR, AB)
    evolution.evaluate("ada", FAIR, ABC)
    evaluation = evolution.rollback("ada", 1)
    assert (evaluation.generation, evaluation.trigger) == (3, "Rollback")
    assert [generation.restored for generation in evolution.rollbacks("ada")] == [1]
    with pytest.raises(NotFound, match="no generation named '9'"):
        evolution.rollback("ada", 9)


def test_an_agent_whose_rollbacks_are_exhausted_stops_until_a_person_resumes_it(
    open_evolving: OpenEvolving,
) -> None:
    evolution = open_evolving().evolution
    evolution.evaluate("ada", FAIR, AB)
    exhaust(partial(evolution.evaluate, "ada"))
    assert evolution.stopped("ada") == evolution.status("ada").stopped == "rollback_exhausted"
    evolution.resume("ada")
    assert evolution.stopped("ada") == ""
    evolution.evaluate("ada", FAIR, AB)
    after = evolution.evaluate("ada", UNSAFE, ABC)
    assert (
        shown(after.events[-1]).endswith("->1,Safety breach detected)")
        and after.restore
        and after.restore.off == ("C",)
    )
    with pytest.raises(EvolutionError, match="is not stopped"):
        evolution.resume("ada")


def test_parameters_are_kept_by_agent_and_versioned_in_the_journal(open_evolving: OpenEvolving) -> None:
    engine = open_evolving()
    assert engine.evolution.params("ada") == Params()
    engine.evolution.set_params("ada", {"min_interactions": 1})
    engine.evolution.set_params("ada", {"alpha": 0.2})
    assert engine.evolution.params("ada") == Params(min_interactions=1, alpha=0.2)
    assert engine.evolution.params("bob") == Params()
    versions = [e.data["params"]["alpha"] for e in engine.journal.latest(type="evolution.params")]
    assert versions == [0.1, 0.2]
    with pytest.raises(EvolutionError, match="alpha must be in"):
        engine.evolution.set_params("ada", {"alpha": 2})


def test_a_gain_with_unchanged_scores_makes_generation_2(open_evolving: OpenEvolving) -> None:
    evolution = open_evolving().evolution
    evolution.set_params("ada", {"min_interactions": 1})
    evolution.evaluate("ada", FAIR, AB)
    assert evolution.evaluate("ada", FAIR, ABC).trigger == "CapabilityGain"
    assert evolution.status("ada").generation == 2


def test_the_status_says_where_an_agent_stands(open_evolving: OpenEvolving) -> None:
    evolution = open_evolving().evolution
    assert evolution.status("ada").as_data()["scores"] is None
    evolution.set_params("ada", {"min_interactions": 1, "rebalance_margin": 0})
    evolution.evaluate("ada", scores(0.5, 0.4, 1.0, "L1", 0.3), AB)
    evolution.evaluate("ada", scores(0.55, 0.9, 1.0, "L1", 0.3), AB)
    evolution.evaluate("ada", scores(0.9, 0.95, 1.0, "L2", 0.3), AB)
    status = evolution.status("ada")
    assert (status.generation, status.trend, status.since_generation) == (3, "improving", 0)
    assert status.fitness == pytest.approx(0.7675)
    assert status.as_data()["autonomy_level"] == "L2"
    assert status.as_data()["top_axes"] == [
        ["behavioral", 0.95],
        ["cognitive", 0.9],
        ["autonomy", 0.4],
        ["meta_learning", 0.3],
    ]


def test_two_generations_can_be_compared(open_evolving: OpenEvolving) -> None:
    evolution = open_evolving().evolution
    evolution.evaluate("ada", FAIR, AB)
    evolution.evaluate("ada", BETTER, ABC)
    found = evolution.difference("ada", 1, 2)
    assert (found.providers_added, found.providers_removed) == (("C",), ())
    assert [gain.faculty for gain in found.gained] == ["Vision", "Reasoning"]
    assert found.fitness == pytest.approx(0.1825)
    assert evolution.difference("ada", 2, 1).providers_removed == ("C",)


def test_threads_that_evaluate_one_agent_count_every_evaluation_once(open_evolving: OpenEvolving) -> None:
    engine = open_evolving()
    with ThreadPoolExecutor(10) as threads:
        list(threads.map(lambda _: engine.evolution.evaluate("ada", FAIR, AB), range(10)))
    assert [entry.evaluation for entry in engine.evolution.fitness("ada")] == list(range(1, 11))
    assert engine.evolution.status("ada").generation == 1


def start(url: str, agent: str, output: Path, rounds: str = "") -> "subprocess.Popen[bytes]":
    with output.open("w") as stdout:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.evolution.evaluator", url, agent, *([rounds] if rounds else [])],
            stdout=stdout,
            stderr=subprocess.PIPE,
        )


@pytest.mark.slow
def test_processes_that_evaluate_one_agent_at_once_neither_repeat_nor_lose_a_generation(
    open_evolving: OpenEvolving, store_url: str, tmp_path: Path
) -> None:
    engine = open_evolving()
    engine.sync(vectors=False)
    engine.providers.deactivate("C", "ada")
    running = [start(store_url, "ada", tmp_path / f"out-{n}", "12") for n in range(3)]
    for process in running:
        _, error = process.communicate(timeout=50)
        assert process.returncode == 0, error.decode()
    assert engine.evolution.status("ada").evaluations == 3 * 12 * 3
    assert inconsistencies(engine, "ada") == []
    engine.journal.verify()


@pytest.mark.slow
def test_a_process_killed_in_the_middle_leaves_both_writes_or_neither(
    open_evolving: OpenEvolving, store_url: str, tmp_path: Path
) -> None:
    engine = open_evolving()
    engine.sync(vectors=False)
    engine.providers.deactivate("C", "ada")
    chance = random.Random(11)
    for number in range(3):
        outputs = [tmp_path / f"kill-{number}-{n}" for n in range(2)]
        running = [start(store_url, "ada", output) for output in outputs]
        while not all("ready" in output.read_text() for output in outputs):
            time.sleep(0.005)
        for process in running:
            time.sleep(chance.uniform(0, 0.15))
            process.kill()
            process.communicate(timeout=30)
        assert inconsistencies(engine, "ada") == []
        engine.journal.verify()
