"""`prowess evolve`: data on stdout, words on stderr, and a replay that needs nothing."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from prowess.cli import evaluating, evolve
from prowess.engine import Engine
from prowess.errors import EvolutionError, NotFound
from prowess.operations.backend import Backend, Local
from prowess.operations.person import Person
from tests.support.evolution import AB, ABC, FAIR, UNSAFE, OpenEvolving, exhaust, scores

SAFE = {"cognitive": 0.5, "behavioral": 0.5, "safety": 0.8, "autonomy": "L2", "meta_learning": 0.3}
BROKEN = {**SAFE, "safety": 0.3}
TWO = {"active_providers": ["A", "B"], "provider_faculties": {"A": ["Reasoning"], "B": ["Memory"]}}
THREE = {
    "active_plugins": ["A", "B", "C"],
    "plugin_capabilities": {"A": ["Reasoning"], "B": ["Memory"], "C": ["Vision", "Reasoning"]},
}


@pytest.fixture
def engine(open_evolving: OpenEvolving, monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine = open_evolving()
    engine.sync(vectors=False)

    @contextmanager
    def connected() -> Iterator[Backend]:
        yield Local(engine, Person("ann", "admin"))

    for module in (evolve, evaluating):
        monkeypatch.setattr(module, "connected", connected)
    return engine


def run(*words: str) -> Result:
    result = CliRunner().invoke(evolve.command, words)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_history_is_a_chart_with_what_was_rolled_back(engine: Engine) -> None:
    engine.evolution.evaluate("default", FAIR, AB)
    for _ in range(11):
        engine.evolution.evaluate("default", scores(0.9, 0.9, 1.0, "L3", 0.9), ABC)
    engine.evolution.evaluate("default", UNSAFE, ABC)
    lines = run("history").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["GEN", "1", "2", "3"]
    assert lines[2].count("█") > lines[1].count("█") > 0
    assert "back to 2: Safety breach detected" in lines[3]
    data = msgspec.json.decode(run("history", "--json", "--limit", "2").stdout)
    assert [generation["trigger"] for generation in data] == ["CapabilityGain", "SafetyBreach"]
    assert data[0]["scores"]["autonomy"] == "L3"


def test_an_agent_without_generations_is_told_in_words(engine: Engine) -> None:
    result = run("history", "--agent", "ada")
    assert result.stdout == ""
    assert "no generations yet" in result.stderr


def test_status_tells_of_grace_and_of_a_stop(engine: Engine) -> None:
    for _ in range(10):
        engine.evolution.evaluate("default", scores(0.6, 0.6, 1.0, "L2", 0.3), AB)
    engine.evolution.evaluate("default", scores(0.52, 0.55, 1.0, "L2", 0.3), AB)
    assert "10 evaluations left to reach 0.605 again" in run("status").stdout
    exhaust(partial(engine.evolution.evaluate, "default"))
    assert "rollback_exhausted; run: prowess evolve resume" in run("status").stdout
    assert msgspec.json.decode(run("status", "--json").stdout)["stopped"] == "rollback_exhausted"
    assert "runs again" in run("resume").stderr
    assert "stopped" not in run("status").stdout


def test_show_and_diff_tell_of_generations(engine: Engine) -> None:
    engine.evolution.evaluate("default", FAIR, AB)
    engine.evolution.evaluate("default", FAIR, ABC)
    assert "CapabilityGain" in run("show", "2").stdout
    assert msgspec.json.decode(run("show", "2", "--json").stdout)["parent"] == 1
    assert "brings Vision" in run("diff", "1", "2").stdout
    assert msgspec.json.decode(run("diff", "1", "2", "--json").stdout)["providers_added"] == ["C"]
    with pytest.raises(NotFound, match="no generation named '5'"):
        run("show", "5")


def test_rollback_says_what_it_switched_and_when_it_had_to_go_further(engine: Engine) -> None:
    engine.evolution.evaluate("default", FAIR, AB)
    engine.evolution.evaluate("default", FAIR)
    for tried in (("rollback", "1"), ("trigger", "SafetyBreach", "--reason", "it leaked")):
        assert "nothing is written or switched; it would be:" in run(*tried, "--dry-run").stderr
    assert not any(provider.off for provider in engine.providers.list("default"))
    assert "brings back generation 1" in run("rollback", "1").stderr
    assert "C" in {provider.name for provider in engine.providers.list("default") if provider.off}
    for _ in range(2):
        run("rollback", "1")
        assert not engine.evolution.stopped("default"), "it switched nothing"
    for _ in range(3):
        engine.providers.activate("C", "default")
        told = run("rollback", "1").stderr
    assert "is stopped: rollback_exhausted" in told


def test_params_are_shown_and_changed(engine: Engine) -> None:
    assert "safety_floor" in run("params").stdout
    run("params", "--set", "alpha=0.2", "--set", "weights.cognitive=0.3", "--set", "weights.behavioral=0.2")
    data = msgspec.json.decode(run("params", "--json").stdout)
    assert (data["alpha"], data["weights"]["cognitive"]) == (0.2, 0.3)
    with pytest.raises(EvolutionError, match="did you mean 'alpha'"):
        run("params", "--set", "alpa=1")
    with pytest.raises(EvolutionError, match="must be a number"):
        run("params", "--set", "alpha=high")


def replayed(folder: Path, *lines: object, words: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run the real command in a folder that holds nothing but the file."""
    file = folder / "trial.jsonl"
    file.write_bytes(b"".join(e if isinstance(e, bytes) else msgspec.json.encode(e) + b"\n" for e in lines))
    code = "from prowess.cli.evolve import command; from prowess.cli import main\n"
    code += "main.main()"
    return subprocess.run(
        [sys.executable, "-c", code, "evolve", "replay", str(file), *words],
        cwd=folder, capture_output=True, text=True, env={"PATH": os.environ["PATH"]},
    )  # fmt: skip


@pytest.mark.slow
def test_replay_answers_each_line_with_one_in_an_empty_folder(tmp_path: Path) -> None:
    result = replayed(
        tmp_path,
        {"agent": "ada", "scores": SAFE, "snapshot": TWO},
        {"agent": "bob", "scores": SAFE, "snapshot": TWO},
        {"agent": "ada", "scores": BROKEN, "snapshot": THREE},
        words=("--json",),
    )
    assert result.returncode == 0, result.stderr
    ada, bob, broken = map(msgspec.json.decode, result.stdout.splitlines())
    assert ada == {
        "agent": "ada",
        "trigger": "Evolution",
        "generation": 1,
        "events": [{"type": "EvolutionGeneration", "agent": "ada", "generation": 1, "trigger": "Evolution"}],
    }
    assert (bob["agent"], bob["generation"]) == ("bob", 1)
    assert (broken["trigger"], broken["generation"]) == ("SafetyBreach", 2)
    assert [event["type"] for event in broken["events"]] == [
        "EvolutionCapability",
        "EvolutionCapability",
        "EvolutionBreach",
        "EvolutionRollback",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["trial.jsonl"]


@pytest.mark.slow
def test_replay_shows_what_other_parameters_would_have_done(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    (tmp_path / "lenient.json").write_text('{"safety_floor": 0.1, "beta": 0.2}')
    (tmp_path / "lenient.toml").write_text("safety_floor = 0.1\nbeta = 0.2")
    for name in ("lenient.json", "lenient.toml"):
        result = replayed(
            folder,
            {"scores": SAFE, "snapshot": TWO},
            {"scores": BROKEN, "snapshot": THREE},
            words=("--params", str(tmp_path / name)),
        )
        assert msgspec.json.decode(result.stdout.splitlines()[1])["trigger"] == "CapabilityGain"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"{not json\n", "is not JSON"),
        (b"[1]\n", "is not an object"),
        ({"agent": "ada", "snapshot": TWO}, "scores are missing"),
        (
            {"agent": "ada", "scores": {**SAFE, "cognitive": 1.5}, "snapshot": TWO},
            "cognitive score must be in",
        ),
        ({"agent": "ada", "scores": SAFE, "snapshot": []}, "the snapshot is not an object"),
        ({"agent": "", "scores": SAFE, "snapshot": TWO}, "agent must be a name"),
        ({"scores": SAFE, "snapshot": {"active_providers": "A"}}, "active_providers must be a list"),
    ],
)
def test_a_bad_line_is_named_and_the_lines_before_it_are_answered(
    tmp_path: Path, line: object, complaint: str
) -> None:
    result = replayed(tmp_path, {"scores": SAFE, "snapshot": TWO}, b"\n", line)
    assert result.returncode == 1
    assert "trial.jsonl, line 3" in result.stderr and complaint in result.stderr
    assert len(result.stdout.splitlines()) == 1


@pytest.mark.slow
def test_parameters_that_cannot_be_read_are_refused_before_anything_runs(tmp_path: Path) -> None:
    result = replayed(tmp_path, {"scores": SAFE, "snapshot": TWO}, words=("--params", "nowhere.json"))
    assert (result.returncode, result.stdout) == (1, "")
    assert "nowhere.json: cannot be read" in result.stderr


def test_a_proposal_is_told_and_answered_by_command(engine: Engine) -> None:
    run("params", "--set", "on_regression=propose")
    for _ in range(10):
        engine.evolution.evaluate("default", FAIR, AB)
    bad = scores(0.1, 0.1, 1.0, "L2", 0.1)
    engine.evolution.evaluate("default", bad, ABC)
    status = run("status").stdout
    assert "prowess evolve accept --agent default" in status and "C: Severe regression detected" in status
    assert msgspec.json.decode(run("status", "--json").stdout)["trial"]["waits_for_a_person"] is True
    told = run("accept").stderr
    assert "C is the likeliest cause, so it is off to see whether that helps" in told
    assert [provider.name for provider in engine.providers.list("default") if provider.off] == ["C"]
    with pytest.raises(EvolutionError, match="no proposal that waits"):
        run("decline")


def test_a_dry_run_by_command_says_what_would_happen(engine: Engine) -> None:
    for _ in range(10):
        engine.evolution.evaluate("default", scores(0.9, 0.9, 1.0, "L3", 0.9))
    words = [f"--score={axis}=0.1" for axis in ("cognitive", "behavioral", "meta_learning")]
    told = run("evaluate", "--dry-run", *words, "--score=safety=0.1", "--score=autonomy=L0").stderr
    assert "nothing is written or switched; it would be:" in told and "breach:" in told
    assert engine.evolution.status("default").evaluations == 10
