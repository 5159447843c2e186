"""Metrics as the bench defines them, and folders of labelled requests."""

import json
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from prowess.cli.main import prowess
from prowess.errors import SourceError
from prowess.metrics import Query, hit_positions, measure, ndcg, read_set, recall, sampled, score
from prowess.opening import open as prowess_open
from prowess.types import Message, Outcome, Turn

TOOLS = [
    {
        "id": "a",
        "name": "a",
        "description": "first",
        "parameters": {"x": ""},
        "server": "s",
        "category": None,
    },
    {
        "id": "b",
        "name": "b",
        "description": "",
        "parameters": {},
        "server": None,
        "category": "c",
        "tags": ["t"],
    },
]
QUERIES: list[dict[str, object]] = [
    {"id": "q", "query": "do a", "gold": ["a"], "alternatives": {}, "split": "test", "kind": None}
]


def query(*gold: str, **alternatives: tuple[str, ...]) -> Query:
    return Query(id="q", text="?", gold=gold, alternatives=alternatives)


def folder(path: Path, **files: Sequence[object]) -> Path:
    contents: dict[str, Sequence[object]] = {"tools": TOOLS, "queries": QUERIES, **files}
    for name, rows in contents.items():
        lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
        (path / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_a_right_id_and_its_alternatives_hit_once_together() -> None:
    assert hit_positions(query("a", a=("b",)), ["b", "a", "c"]) == (1,)


def test_an_id_that_is_right_itself_does_not_stand_in_for_another() -> None:
    assert hit_positions(query("a", "b", a=("b",)), ["b", "a"]) == (1, 2)


def test_recall_and_ndcg_are_those_of_the_definition() -> None:
    assert recall((1, 7), 4, 5) == 0.25
    assert ndcg((2,), 1, 10) == pytest.approx(0.6309297535714575)
    assert ndcg((1, 2), 2, 10) == 1.0
    assert ndcg((1, 2, 3, 4, 5), 9, 5) == 1.0


def test_only_the_first_hundred_count() -> None:
    ranked = [str(number) for number in range(100)] + ["a"]
    assert hit_positions(query("a"), ranked) == ()


@given(st.permutations(list("abcdef")), st.sets(st.sampled_from("abcdef"), min_size=1))
def test_every_metric_is_between_0_and_1_and_perfect_when_the_right_ones_lead(
    order: list[str], gold: set[str]
) -> None:
    asked = query(*sorted(gold))
    values = score([asked], {"q": order})
    assert 0 <= values.ndcg_10 <= 1 and 0 <= values.recall_5 <= 1 and 0 < values.mrr <= 1
    leading = [*sorted(gold), *(id for id in order if id not in gold)]
    assert score([asked], {"q": leading}).ndcg_10 == pytest.approx(1.0)


def test_measuring_ranks_every_query_and_times_it() -> None:
    ticks = count()
    measured = measure([query("a")], lambda text: ["b", "a"], lambda: float(next(ticks)))
    assert (measured.scores.mrr, measured.seconds, measured.ranked) == (0.5, (1.0,), {"q": ("b", "a")})


def test_no_queries_score_nothing() -> None:
    assert score([], {}).ndcg_10 == 0.0


def test_the_sample_is_the_same_every_time_and_keeps_to_its_split() -> None:
    queries = [Query(id=str(n), text="?", gold=("a",), alternatives={}) for n in range(50)]
    queries.append(Query(id="train", text="?", gold=("a",), alternatives={}, split="train"))
    expected = [str(n) for n in range(50)]
    Random(13).shuffle(expected)
    assert [each.id for each in sampled(queries, limit=5)] == expected[:5]
    assert [each.id for each in sampled(queries, "train")] == ["train"]


def test_a_folder_is_read_as_capabilities_with_their_dependencies(tmp_path: Path) -> None:
    edges = [{"source": "a", "target": "b"}, {"source": "a", "target": "b"}]
    read = read_set(folder(tmp_path, edges=edges))
    first, second = read.capabilities
    assert (first.id, first.provider, first.parameters, first.required_tools) == ("a", "s", ("x",), ("b",))
    assert (second.category, second.tags, second.description) == ("c", ("t",), "")
    assert read.queries[0].gold == ("a",)


@pytest.mark.parametrize(
    ("files", "what"),
    [
        ({"tools": ["{"]}, "not JSON"),
        ({"tools": ["[]"]}, "not a JSON object"),
        ({"tools": [TOOLS[0], TOOLS[0]]}, "occurs twice"),
        ({"queries": [QUERIES[0], QUERIES[0]]}, "occurs twice"),
        ({"tools": [{"id": "a"}]}, "'name' is missing"),
        ({"queries": [{**QUERIES[0], "gold": []}]}, "no right tool"),
        ({"queries": [{**QUERIES[0], "gold": ["z"]}]}, "not in tools.jsonl"),
        ({"queries": [{**QUERIES[0], "gold": [1]}]}, "not a list of texts"),
        (
            {"queries": [{**QUERIES[0], "alternatives": []}, {**QUERIES[0], "alternatives": ["x"]}]},
            "not an object",
        ),
    ],
)
def test_a_row_that_cannot_be_used_is_named_with_its_remedy(
    tmp_path: Path, files: dict[str, Sequence[object]], what: str
) -> None:
    with pytest.raises(SourceError, match=what) as raised:
        read_set(folder(tmp_path, **files))
    assert raised.value.remedy


def test_a_folder_that_is_not_there_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        read_set(tmp_path / "missing")


def bench(*words: str) -> Result:
    return CliRunner().invoke(prowess, ["bench", *words])


def test_the_slowest_query_is_never_faster_than_the_middle_one(tmp_path: Path) -> None:
    queries = [{**QUERIES[0], "id": str(number)} for number in range(2)]
    (figures,) = json.loads(bench(str(folder(tmp_path, queries=queries)), "--json").stdout)
    assert figures["p50_ms"] <= figures["p99_ms"]


def test_a_set_is_named_after_its_folder_however_that_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder(tmp_path))
    assert read_set(Path(".")).name == tmp_path.name


def test_at_least_one_query_is_measured(tmp_path: Path) -> None:
    assert bench(str(folder(tmp_path)), "--limit", "0").exit_code == 2


def test_what_was_ranked_has_its_place_before_anything_is_measured(tmp_path: Path) -> None:
    missing = bench("no-such-set", "--run", str(tmp_path / "missing" / "run"))
    assert "missing/run: cannot be written" in missing.stderr
    twice = bench("a/set", "b/set", "--run", str(tmp_path / "run"))
    assert "two folders have one name" in twice.stderr


OWN_POLICY = 'profiles: {owner: {agents: [default, ada], additional_tools: ["*"]}}\n'
OWN_TOOLS = {
    "mail": "Send an email to somebody.",
    "weather": "Tell how the weather will be at a place.",
    "invoice": "Create an invoice for a customer.",
}
SECRET = "ghp_" + "a8Kd93jLmQ2xZ7vTrW1yB4nC6pE5sF0gH9iJ"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with three tools."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prowess.toml").write_text('[policy]\nfiles = ["policy.yaml"]\n')
    (tmp_path / "policy.yaml").write_text(OWN_POLICY)
    for name, description in OWN_TOOLS.items():
        unit = tmp_path / ".prowess/capabilities" / name
        unit.mkdir(parents=True)
        (unit / "CAPABILITY.yaml").write_text(f"kind: tool\nname: {name}\ndescription: {description}\n")
    with prowess_open() as engine:
        engine.sync()
    return tmp_path


def used(request: str, *worked: str, failed: str = "", agent: str = "default") -> None:
    with prowess_open() as engine:
        offer = engine.offer(Turn(messages=(Message("user", request),), agent=agent))
        for id in worked:
            engine.record(Outcome(offer=offer.id, agent=agent, capability=id, ok=True))
        if failed:
            engine.record(Outcome(offer=offer.id, agent=agent, capability=failed, ok=False))


def entries() -> int:
    with prowess_open() as engine:
        return sum(head.count for head in engine.journal.heads())


def test_ones_own_catalogue_is_measured_with_what_agents_asked_and_what_worked(own: Path) -> None:
    used("write to Ann", "tool:mail")
    used("write to  ann", "tool:mail", failed="tool:invoice")
    used("will it rain in Oslo", "tool:weather", agent="ada")
    used("sing a song", failed="tool:mail")
    before = entries()
    result = bench("--from-journal", "--json")
    (figures,) = json.loads(result.stdout)
    assert (figures["name"], figures["tools"], figures["queries"]) == ("journal", 3, 2)
    assert figures["recall@10"] == 100 and figures["left_out"] == 0
    assert entries() == before
    assert bench("--from-journal", "--min-ndcg", "10").exit_code == 0


def test_what_is_gone_or_denied_by_now_is_left_out_of_the_measure(own: Path) -> None:
    used("write to Ann", "tool:mail")
    used("bill the customer", "tool:invoice")
    (own / ".prowess/capabilities/mail/CAPABILITY.yaml").unlink()
    with prowess_open() as engine:
        engine.sync()
    (figures,) = json.loads(bench("--from-journal", "--json").stdout)
    assert (figures["queries"], figures["left_out"]) == (1, 1)


def test_a_measure_below_the_minimum_fails_and_names_the_misses_without_secrets(own: Path) -> None:
    used(f"bill the customer with the key {SECRET}", "tool:weather")
    result = bench("--from-journal", "--min-ndcg", "99", "--misses", "5")
    assert result.exit_code == 1 and "below the minimum of 99" in result.stderr
    assert "right: tool:weather" in result.stdout and SECRET not in result.stdout + result.stderr


def test_a_journal_of_which_nothing_is_known_says_what_to_do(own: Path) -> None:
    result = CliRunner().invoke(prowess, ["bench", "--from-journal"])
    assert "has no request of which it is known what answered it" in result.stderr
    assert bench().exit_code == 2


@pytest.mark.parametrize("name", ["queries.jsonl", "mine.jsonl", "."])
def test_queries_alone_are_asked_of_ones_own_catalogue(own: Path, name: str) -> None:
    rows = [{"id": "1", "query": "send an email to Ann", "gold": ["tool:mail"]}]
    file = own / ("queries.jsonl" if name == "." else name)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (figures,) = json.loads(bench(name, "--json").stdout)
    assert (figures["tools"], figures["queries"], figures["recall@1"]) == (3, 1, 100)


def test_a_query_whose_answer_the_catalogue_lacks_is_an_error_with_its_line(own: Path) -> None:
    (own / "mine.jsonl").write_text('{"id": "1", "query": "do it", "gold": ["tool:no"]}\n')
    result = CliRunner().invoke(prowess, ["bench", "mine.jsonl"])
    assert "'tool:no' is not in the catalogue" in result.stderr
