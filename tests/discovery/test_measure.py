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
