"""The ledger of skills: what a request proved, what it could not, and nothing that promotes itself."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import prowess
from prowess.cli.main import prowess as program
from prowess.config import parse
from prowess.engine import Engine
from prowess.errors import ConfigError, LearningError
from prowess.learning.ledger import SkillLedger
from prowess.learning.links import read
from prowess.testing import StaticSource, capability, word_embedder
from prowess.types import Offer, Outcome
from tests.seeds.conftest import write

ROOM = "Ledger of skills"
POLICY = "profiles: {owner: {agents: [default], additional_tools: ['*']}}\n"
TRAILS: list[dict[str, Any]] = [
    {"need_id": "n1", "source_span": "book a table", "work_unit_id": "u1", "status": "satisfied",
     "route": "tool:tables", "method": "tool:tables", "connected": True},
    {"need_id": "n2", "source_span": "qwx zzz", "status": "blocked", "connected": True},
    {"need_id": "n3", "source_span": "call a cab", "status": "pending", "method": "tool:cab"},
    {"need_id": "n4", "source_span": "order tea", "status": "deferred", "method": "tea", "connected": True},
]  # fmt: skip


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, str]]]:
    """What `prowess lessons ledger` prints for these trails, by type of record."""
    file = tmp_path_factory.mktemp("ledger") / "evidence.json"
    file.write_text(json.dumps({"frame_id": "frame-1", "trails": TRAILS}))
    said = CliRunner().invoke(program, ["lessons", "ledger", str(file)])
    assert said.exit_code == 0, said.stderr
    found: dict[str, list[dict[str, str]]] = {}
    for record in read(said.stdout):
        pairs = dict(record.pairs)
        found.setdefault(pairs["record_type"], []).append({"": record.id, **pairs})
    return found


def opened(folder: Path, mode: str = "accumulate") -> Engine:
    write(folder, {
        "policy.yaml": POLICY,
        "prowess.toml": f'[policy]\nfiles = ["policy.yaml"]\n[learning]\nmode = "{mode}"\n',
    })  # fmt: skip
    source = StaticSource(capabilities=[capability("tool:invoices", "Pay an invoice of a plumber")])
    return prowess.open(
        config=str(folder / "prowess.toml"), sources=[source], environment={}, embedder=word_embedder()[1],
        embedding_model_id="words",
    )  # fmt: skip


def paid(engine: Engine) -> Offer:
    engine.sync()
    offer = engine.offer("pay an invoice of the plumber")
    engine.record(Outcome(offer=offer.id, capability="tool:invoices", ok=True))
    return offer


@pytest.fixture(scope="module")
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """An engine in which one request was answered and one was not, and its offers."""
    with opened(tmp_path_factory.mktemp("learnt")) as engine:
        offer = paid(engine)
        lost = engine.offer("zzqqx wibbet")
        engine.record(Outcome(offer=lost.id, capability="tool:invoices", ok=False, detail="no idea"))
        engine.learning.learn()
        yield engine, offer, lost


def test_nothing_is_recorded_by_default(tmp_path: Path) -> None:
    """Off by default: nothing is gathered, and the journal is what it would be without it."""
    with opened(tmp_path, "off") as engine:
        paid(engine)
        engine.learning.learn()
        assert not engine.learning.on and engine.learning.lessons() == ()
        assert engine.journal.latest(type="skill_ledger*") == ()
    assert prowess.open(str(tmp_path / "other.db"), sources=[], environment={}).learning.on is False


@pytest.mark.parametrize("word", ["off", "accumulate", " ACCUMULATE "])
def test_modes_are_read_in_their_usual_spellings(word: str) -> None:
    """A mode is read back from its word, whatever its letter case and the blanks around it."""
    assert parse(f'[learning]\nmode = "{word}"\n').learning.mode == word.strip().lower()
    with pytest.raises(ConfigError, match="off, accumulate"):
        parse('[learning]\nmode = "everything"\n')


def test_gathering_writes_a_ledger_and_a_count(learnt: Any) -> None:
    """When gathering, each request adds two events: the ledger, and what may be promoted, always 0."""
    engine = learnt[0]
    ledgers = engine.journal.latest(type="skill_ledger")
    counts = engine.journal.latest(type="skill_ledger:promotable")
    assert len(ledgers) == len(counts) == 2
    assert {str(entry.data.get("payload", entry.data.get("count", "0"))) for entry in counts} == {"0"}


def test_an_answered_need_is_a_candidate_and_another_is_a_gap(records: Any) -> None:
    """A need that is connected, satisfied and has a method is a candidate; any other is an item to learn."""
    assert [one["source_span"] for one in records["candidate_skill"]] == ["book a table"]
    assert [one["need_id"] for one in records["curriculum_item"]] == ["n2", "n3", "n4"]


def test_a_candidate_has_all_its_fields(records: Any) -> None:
    """A candidate names its method, route, the words that showed it, its unit of work, gate and status."""
    (one,) = records["candidate_skill"]
    assert (one["method"], one["route"], one["work_unit"]) == ("tool:tables", "tool:tables", "u1")
    assert (one["status"], one["has_tests"], one["has_benchmark_delta"]) == ("proposed", "false", "false")
    assert one["promotable"] == "false"


@pytest.mark.parametrize(
    ("at", "said"),
    [
        pytest.param(0, "No catalogued method", id="that no method exists"),
        pytest.param(1, "did not connect end to end", id="that the chain did not connect"),
        pytest.param(2, "was not satisfied", id="that it was not satisfied"),
    ],
)
def test_an_item_says_why_it_is_one(records: Any, at: int, said: str) -> None:
    """An item to learn says why the need was not satisfied."""
    item = records["curriculum_item"][at]
    assert said in item["reason"] and item["status"] == TRAILS[at + 1]["status"]


def test_the_ledger_counts_what_is_in_it(records: Any) -> None:
    """The head of the ledger has the frame, and how many there are of each."""
    (head,) = records["skill_ledger"]
    counts = ("skill_count", "proposed", "stable", "promotable", "curriculum_count")
    assert (head["frame_id"], [head[name] for name in counts]) == ("frame-1", ["1", "1", "0", "0", "3"])
    assert head["skill"] == records["candidate_skill"][0][""]


def test_ids_come_from_the_content(records: Any, tmp_path: Path) -> None:
    """Ids come from content: a candidate's from method and words, an item's from its need.

    Better: with `--corrected` every value can be read back; the original escaping loses backslashes.
    """
    (tmp_path / "e.json").write_text(json.dumps({"frame_id": "another", "trails": TRAILS}))
    again = CliRunner().invoke(program, ["lessons", "ledger", str(tmp_path / "e.json"), "--corrected"])
    for one in (*records["candidate_skill"], *records["curriculum_item"]):
        assert one[""] in again.stdout


def test_a_ledger_says_nothing_about_the_answer(tmp_path: Path) -> None:
    """Gathering changes neither what is offered nor what is answered."""
    offers = []
    for mode in ("off", "accumulate"):
        (tmp_path / mode).mkdir()
        with opened(tmp_path / mode, mode) as engine:
            paid(engine)
            engine.learning.learn()
            offers.append(engine.offer("pay an invoice of the plumber").text)
    assert offers[0] == offers[1]


def test_a_lesson_begins_as_a_proposal(learnt: Any) -> None:
    """What was shown once is proposed; it has neither tests nor a gain yet.

    Better: requests that mean the same become one lesson, which counts who showed it and how often it worked.
    """
    engine, offer, _ = learnt
    (lesson,) = [one for one in engine.learning.lessons() if one.successes]
    assert (lesson.status, engine.learning.ledger(offer.id).promotable_count) == ("proposed", 0)


def test_nothing_is_promoted_without_both_gates(learnt: Any) -> None:
    """Stable needs tests and a gain in a benchmark, both; nothing promotes itself.

    Better: prowess measures both itself on real turns, a person decides, and each decision is journalled.
    """
    engine, _, _ = learnt
    (lesson,) = [one for one in engine.learning.lessons() if one.successes]
    with pytest.raises(LearningError):
        engine.learning.promote(lesson.id, by="ada")
    flags = [(tests, gain) for tests in (False, True) for gain in (False, True)]
    gates = {each: prowess_gate(*each) for each in flags}
    assert gates == {(False, False): "proposed", (False, True): "proposed", (True, False): "proposed",
                     (True, True): "stable"}  # fmt: skip


def prowess_gate(tests: bool, gain: bool) -> str:
    from prowess.learning.ledger import PromotionGate

    return PromotionGate(tests, gain).status


def test_a_lesson_may_be_withdrawn(tmp_path: Path) -> None:
    """There are four states: proposed, stable, deprecated and retired; the last two lead back out of use.

    Better: nothing is deleted, and who decided is in the journal.
    """
    with opened(tmp_path) as engine:
        paid(engine)
        engine.learning.learn()
        (lesson,) = engine.learning.lessons()
        assert engine.learning.retire(lesson.id, by="ada").status == "retired"
        assert [one.id for one in engine.learning.lessons("retired")] == [lesson.id]
        assert engine.learning.lessons("stable") == engine.learning.lessons("deprecated") == ()


def test_a_gap_is_kept_and_never_dropped(learnt: Any) -> None:
    """A need that could not be answered is kept as something to learn.

    Better: gaps are ranked by how often, how lately and by whom they were met, and say what would close them.
    """
    engine, _, lost = learnt
    assert engine.learning.ledger(lost.id).curriculum_count == 1
    assert "zzqqx" in {gap.span for gap in engine.learning.gaps()}.pop()


def test_nothing_of_a_request_without_needs() -> None:
    """A request without needs gives an empty ledger."""
    from prowess.learning.evidence import SolutionEvidence

    ledger = SkillLedger.from_evidence(SolutionEvidence("frame", ()))
    assert (ledger.proposed_count, ledger.stable_count, ledger.curriculum_count) == (0, 0, 0)
