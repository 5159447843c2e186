"""Edges read from capabilities, and what relations may and may not do to an order."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from prowess.catalogue.view import View
from prowess.cli.main import prowess
from prowess.discovery.graph import COMMON_TAG, Edge, Graph
from prowess.discovery.reranking import Candidate, in_order, with_relatives
from prowess.types import Capability


def node(id: str, category: str = "", tags: tuple[str, ...] = (), needs: tuple[str, ...] = ()) -> Capability:
    kind, _, name = id.partition(":")
    return Capability(
        id=id,
        kind=kind,
        name=name,
        display_name=name,
        description="",
        category=category,
        tags=tags,
        required_tools=needs,
    )


def graph_of(*nodes: Capability, presets: dict[str, list[str]] | None = None) -> Graph:
    graph = Graph(presets)
    for each in nodes:
        graph.put(each)
    return graph


def found(*ids: str) -> list[Candidate]:
    return [Candidate(id=id, strength=5.0 - place) for place, id in enumerate(ids)]


def everything(_: str) -> bool:
    return True


def test_a_required_tool_is_an_edge_in_one_direction() -> None:
    graph = graph_of(node("skill:github", needs=("cli",)), node("tool:cli"))
    assert graph.neighbours("skill:github") == (Edge("skill:github", "tool:cli", "DEPENDS_ON", 1.0),)
    assert graph.neighbours("tool:cli") == ()
    assert graph.dependents("tool:cli") == ("skill:github",)


def test_a_tool_of_a_server_is_needed_by_its_plain_name() -> None:
    tool = replace(node("tool:shell/run_command"), name="run_command")
    graph = graph_of(node("skill:github", needs=("run_command",)), tool)
    edge = Edge("skill:github", "tool:shell/run_command", "DEPENDS_ON", 1.0)
    assert graph.neighbours("skill:github") == (edge,)
    assert graph.dependents("tool:shell/run_command") == ("skill:github",)
    graph.drop("tool:shell/run_command")
    assert graph.neighbours("skill:github") == ()


IDS = ("tool:a", "tool:b", "tool:x/a", "tool:y/a", "tool:y/b", "skill:a", "skill:z/b", "a", "b")


@given(st.lists(st.tuples(st.sampled_from(IDS), st.sets(st.sampled_from((*IDS, "none"))))))
def test_what_a_required_name_means_is_what_the_catalogue_says(changes: list[tuple[str, set[str]]]) -> None:
    graph, held = Graph(), {}
    for id, needs in changes:
        name = id.rpartition("/")[2].rpartition(":")[2]
        held[id] = replace(node(id, needs=tuple(sorted(needs))), name=name)
        graph.put(held[id])
    view = View(version=1, capabilities=dict(sorted(held.items())), providers={})
    needed = {id: {*map(view.tool_id, each.required_tools)} - {id, ""} for id, each in held.items()}
    assert {id: {edge.target for edge in graph.neighbours(id)} for id in held} == needed
    users = {id: tuple(sorted(user for user in held if id in needed[user])) for id in held}
    assert {id: graph.dependents(id) for id in held} == users


def test_a_graph_can_be_counted_and_read_while_another_thread_changes_copies_of_it() -> None:
    nodes = [node(f"tool:{n}", tags=(f"x{n % 9}", f"y{n % 9}"), needs=(f"{n + 1}",)) for n in range(100)]
    graph, usual, counts = graph_of(*nodes), sys.getswitchinterval(), set()

    def read() -> None:
        for _ in range(20):
            counts.add(graph.edge_count())
            counts.add(len(graph.subgraph(each.id for each in nodes)))

    with ThreadPoolExecutor(1) as other:
        sys.setswitchinterval(1e-6)  # so that the threads meet everywhere
        reading = other.submit(read)
        while not reading.done():
            changed = graph.copied()
            changed.put(node("tool:alone", tags=("x1", "z")))
            changed.drop("tool:5")
        sys.setswitchinterval(usual)
    reading.result()
    assert counts == {graph_of(*nodes).edge_count()}


def test_what_needs_a_capability_is_shown_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    def run(*words: str) -> str:
        return CliRunner().invoke(prowess, words, catch_exceptions=False).stdout

    run("init")
    for kind, name, more in (
        ("skill", "github", "requiredTools: [cli-executor]"),
        ("tool", "cli-executor", ""),
    ):
        folder = Path(".prowess/capabilities") / name
        folder.mkdir(parents=True)
        folder.joinpath("CAPABILITY.yaml").write_text(
            f"kind: {kind}\nname: {name}\ndescription: Does it.\n{more}\n"
        )
    run("sync")
    assert "skill:github -> tool:cli-executor" in run("graph", "tool:cli-executor")
    needed = {"source": "skill:github", "target": "tool:cli-executor", "type": "DEPENDS_ON", "weight": 1.0}
    assert needed in json.loads(run("graph", "tool:cli-executor", "--json"))
    assert json.loads(run("graph", "skill:github", "--json")) == [needed]


def test_a_preset_may_name_tools_without_their_ids() -> None:
    search, fetch = node("tool:web-search"), replace(node("tool:http/fetch"), name="fetch")
    graph = graph_of(search, fetch, presets={"read": ["web-search", "fetch"]})
    edge = Edge("tool:web-search", "tool:http/fetch", "COMPOSED_WITH", 0.5)
    assert graph.neighbours("tool:web-search") == (edge,)
    assert graph.neighbours("tool:http/fetch") == (
        replace(edge, source="tool:http/fetch", target="tool:web-search"),
    )
    assert graph.leads_on("tool:http/fetch")
    assert graph.problems() == ()


def test_what_a_preset_names_and_nothing_is_called_is_a_problem() -> None:
    graph = graph_of(node("tool:git"), presets={"code": ["git", "tool:nope"]})
    (problem,) = graph.problems()
    assert str(problem).startswith("preset code: nothing is called 'tool:nope'; ")


def test_a_preset_connects_its_members_unless_one_needs_the_other() -> None:
    nodes = (node("skill:a", needs=("b",)), node("tool:b"), node("tool:c"))
    graph = graph_of(*nodes, presets={"all": ["skill:a", "tool:b", "tool:c"]})
    assert [(edge.target, edge.type, edge.weight) for edge in graph.neighbours("skill:a")] == [
        ("tool:b", "DEPENDS_ON", 1.0),
        ("tool:c", "COMPOSED_WITH", 0.5),
    ]
    assert graph.edge_count() == 3


def test_two_shared_tags_connect_and_one_does_not() -> None:
    graph = graph_of(
        node("tool:a", tags=("x", "y")), node("tool:b", tags=("x", "y")), node("tool:c", tags=("x",))
    )
    assert graph.neighbours("tool:a") == (Edge("tool:a", "tool:b", "TAGGED_WITH", 0.6),)


def test_however_many_tags_are_shared_a_dependency_is_stronger() -> None:
    tags = tuple("abcdefgh")
    graph = graph_of(
        node("tool:a", tags=tags, needs=("b",)), node("tool:b", tags=tags), node("tool:c", tags=tags)
    )
    assert [edge.type for edge in graph.neighbours("tool:a")] == ["DEPENDS_ON", "TAGGED_WITH"]


def test_categories_of_two_to_eight_connect_and_larger_ones_do_not() -> None:
    eight = graph_of(*(node(f"tool:{n}", category="c") for n in range(8)))
    ten = graph_of(*(node(f"tool:{n}", category="c") for n in range(10)))
    assert (eight.edge_count(), ten.edge_count()) == (28, 0)


def test_a_tag_that_nearly_everything_has_connects_nothing() -> None:
    graph = graph_of(*(node(f"tool:{n}", tags=("x", "y")) for n in range(COMMON_TAG + 1)))
    assert graph.edge_count() == 0


def test_an_unknown_capability_has_no_relations() -> None:
    graph = Graph()
    assert not graph.neighbours("tool:x")
    assert not graph.dependents("tool:x")
    assert not graph.dependencies("tool:x")


def test_neighbours_come_with_the_strongest_first() -> None:
    nodes = [node("tool:a", "c", ("x", "y"), ("d",)), node("tool:b", "c", ("x", "y")), node("tool:d", "c")]
    weights = [edge.weight for edge in graph_of(*nodes).neighbours("tool:a")]
    assert weights == sorted(weights, reverse=True)


def test_a_subgraph_has_only_the_edges_inside_it() -> None:
    graph = graph_of(node("tool:a", needs=("b",)), node("tool:b", needs=("c",)), node("tool:c"))
    assert graph.subgraph(["tool:a", "tool:b"]) == (Edge("tool:a", "tool:b", "DEPENDS_ON", 1.0),)


def test_dependencies_are_followed_to_the_end_and_cycles_do_not_matter() -> None:
    graph = graph_of(node("tool:a", needs=("b",)), node("tool:b", needs=("c",)), node("tool:c", needs=("a",)))
    assert [(each.id, each.needed_by, each.depth) for each in graph.dependencies("tool:a")] == [
        ("tool:b", "tool:a", 1),
        ("tool:c", "tool:b", 2),
    ]


def test_what_is_not_allowed_is_neither_a_dependency_nor_a_way_to_one() -> None:
    graph = graph_of(node("tool:a", needs=("b",)), node("tool:b", needs=("c",)), node("tool:c"))
    assert graph.dependencies("tool:a", lambda id: id != "tool:b") == ()


@given(st.lists(st.tuples(st.integers(0, 5), st.sets(st.sampled_from("xyz")), st.sets(st.integers(0, 5)))))
def test_changing_a_graph_gives_what_building_it_anew_gives(
    changes: list[tuple[int, set[str], set[int]]],
) -> None:
    changed, last = Graph(), {}
    for number, tags, needs in changes:
        each = node(f"tool:{number}", "c", tuple(sorted(tags)), tuple(map(str, sorted(needs))))
        changed.put(each)
        last[each.id] = each
        if number == 5:
            changed.drop(each.id)
            del last[each.id]
    assert changed.subgraph(last) == graph_of(*last.values()).subgraph(last)


def test_a_dependency_comes_along_below_what_needs_it() -> None:
    graph = graph_of(node("skill:github", needs=("cli",)), node("tool:cli"))
    order = with_relatives(found("skill:github"), graph, everything, 0.15)
    assert [each.id for each in order] == ["skill:github", "tool:cli"]
    assert order[1].reasons == ("needed by skill:github",)


def test_what_is_used_together_comes_along() -> None:
    graph = graph_of(node("tool:a"), node("tool:b"), presets={"p": ["tool:a", "tool:b"]})
    assert [each.id for each in with_relatives(found("tool:a"), graph, everything, 0.15)] == [
        "tool:a",
        "tool:b",
    ]


def test_without_a_boost_relations_change_nothing() -> None:
    graph = graph_of(node("skill:github", needs=("cli",)), node("tool:cli"))
    assert with_relatives(found("skill:github"), graph, everything, 0.0) == found("skill:github")


@given(st.lists(st.sets(st.sampled_from("vwxyz")), min_size=2, max_size=12), st.data())
def test_relatives_never_overtake_what_the_request_ranks_higher(
    tags: list[set[str]], data: st.DataObject
) -> None:
    nodes = [node(f"tool:{n}", "c", tuple(sorted(each))) for n, each in enumerate(tags)]
    strengths = data.draw(st.lists(st.floats(-9, 9), min_size=len(nodes), max_size=len(nodes)))
    pairs = zip(nodes, strengths, strict=True)
    before = in_order([Candidate(id=each.id, strength=strength) for each, strength in pairs])
    after = with_relatives(before, graph_of(*nodes), everything, 0.15)
    assert [each.id for each in after] == [each.id for each in before]
    assert [each.strength for each in after] == sorted((each.strength for each in after), reverse=True)
