"""Discovery: what fits a request, in three tiers, within budgets."""

from pathlib import Path
from typing import Any

import pytest

import prowess
from prowess import Message, Turn
from prowess.config import DiscoveryConfig
from prowess.discovery.text import embedding_text
from prowess.engine import Engine
from prowess.prompt.render import DISCOVER_TOOL
from prowess.sources.files.manifests import default_paths
from prowess.testing import capability
from prowess.types import DISCOVER, KINDS
from tests.seeds.conftest import write
from tests.support.places import ROOT

ROOM = "Discovery"
ASKED = "Search the web for AI news and summarize it"
OWNER = "profiles: {owner: {agents: [default], additional_tools: ['*']}}\n"


def ids(engine: Engine, request: str, **keys: Any) -> list[str]:
    return [hit.id for hit in engine.offer(request, **keys).hits]


def properties(engine: Engine, id: str) -> Any:
    return (engine.catalogue.detail(id).input_schema or {})["properties"]


# --- three tiers ------------------------------------------------------------------------------------


def test_tier_0_is_a_map_by_category(office: Engine) -> None:
    """The first tier names each category with up to four members, and how many there are."""
    text = office.offer(ASKED).text
    assert text.startswith("Available capability categories:\n")
    assert "- Communication: discord, matrix, signal, slack (+1 more) (5)\n" in text
    assert "\nUse discover_capabilities tool to get details on any capability.\n" in text


def test_tier_0_is_made_anew_only_when_something_changed(office: Engine) -> None:
    """The map stays the same between turns while the catalogue is the same.

    Better: it is kept for each agent, and holds only what that agent may use.
    """
    first, second = office.offer(ASKED), office.offer("pay invoice 7")
    assert first.catalogue_version == second.catalogue_version
    assert first.text.partition("\n\n")[0] == second.text.partition("\n\n")[0]
    assert "discord" not in office.offer(Turn(messages=(Message("user", ASKED),), agent="reader")).text


def test_tier_1_has_a_line_for_each_of_the_five_best(office: Engine) -> None:
    """The second tier has a numbered line for each of the five best, with kind, purpose and parameters."""
    text = office.offer("send a message on discord, slack, signal, telegram, matrix").text
    assert "\nRelevant capabilities:\n1. " in text
    assert len([line for line in text.splitlines() if line[:2] in {"1.", "2.", "3.", "4.", "5.", "6."}]) == 5
    line = next(line for line in office.offer(ASKED).text.splitlines() if "web_search (tool)" in line)
    assert "Search the web for current information. Params: query, " in line


def test_a_line_says_what_a_skill_requires(office: Engine) -> None:
    """The line of a skill says what it requires."""
    assert "Requires: cli-executor" in office.offer("What are my open GitHub issues?").text


def test_below_a_relevance_of_30_percent_nothing_is_offered(office: Engine) -> None:
    """What is less relevant than 0.3 is not offered.

    Better: a relevance is calibrated, so that thanks for the help offer nothing at all.
    """
    assert ids(office, "thanks, that's all") == []
    assert all(hit.score >= 0.3 for hit in office.find(ASKED))


def test_tier_2_has_the_whole_of_the_two_best(office: Engine) -> None:
    """The third tier has the full schema or the instructions of the two best."""
    text = office.offer(ASKED, tier2_top_k=5).text
    assert "## Input Schema\n" in text and "query (string, required)" in text
    assert "max_results (integer)" in text and '(default: "week")' in text
    assert "## Skill Instructions\nRead all of it, then write five points." in text
    assert office.offer(ASKED).text.count("\nKind: ") == 2


def test_a_page_names_the_secrets_that_are_required(office: Engine) -> None:
    """A page names the secrets that are required.

    Better: what cannot be used says why, and a secret that is set is never shown.
    """
    text = office.offer("search our internal documents", only_available=False).text
    assert "Required secrets: INTERNAL_API_KEY" in text


@pytest.mark.parametrize(
    ("key", "tier"),
    [
        pytest.param("tier0_token_budget", "tier0", id="tier 0 keeps to its budget"),
        pytest.param("tier1_token_budget", "tier1", id="tier 1 keeps to its budget"),
        pytest.param("tier2_token_budget", "tier2", id="tier 2 keeps to its budget"),
    ],
)
def test_budgets_are_hard(office: Engine, key: str, tier: str) -> None:
    """No tier costs more than its budget.

    Better: tokens are counted by the tokenizer of the models, not taken for four characters each.
    """
    for budget in (0, 20, 60):
        keys: Any = {key: budget}
        assert getattr(office.offer(ASKED, **keys).tokens, tier) <= budget


def test_an_offer_is_a_tenth_of_everything(office: Engine) -> None:
    """All three tiers together stay under 1,850 tokens."""
    assert office.offer(ASKED).tokens.total <= 1850


# --- where capabilities come from -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "kind"),
    [
        pytest.param("tool:web_search", "tool", id="a tool is tool:NAME"),
        pytest.param("skill:summarizer", "skill", id="a skill is skill:NAME"),
        pytest.param("extension:giphy", "extension", id="an extension is extension:NAME"),
        pytest.param("channel:telegram", "channel", id="a channel is channel:PLATFORM"),
        pytest.param("tool:my-custom-tool", "tool", id="what a manifest describes is KIND:NAME"),
    ],
)
def test_five_sources_give_one_kind_of_thing(office: Engine, id: str, kind: str) -> None:
    """Five kinds of source become one kind of description, with an id that says what it is."""
    assert office.catalogue.get(id).kind == kind


def test_a_description_has_all_its_fields(office: Engine) -> None:
    """A description has names, purpose, category, tags, needs, availability, side effects and origin."""
    one = office.catalogue.get("tool:my-custom-tool")
    assert (one.name, one.display_name, one.category) == ("my-custom-tool", "My Custom Tool", "information")
    assert one.tags == ("search", "internal", "documents") and one.required_secrets == ("INTERNAL_API_KEY",)
    assert (one.available, one.has_side_effects) == (False, False)
    assert one.source_ref.place.endswith("CAPABILITY.yaml")
    assert office.catalogue.get("skill:git-hub").required_tools == ("cli-executor",)


def test_schema_and_content_are_read_when_they_are_needed(office: Engine) -> None:
    """Schema and content belong to the third tier, and are loaded on demand."""
    assert "query" in properties(office, "tool:web_search")
    assert office.catalogue.detail("skill:summarizer").content == "Read all of it, then write five points."


def test_a_skill_gets_a_title_from_its_name(office: Engine) -> None:
    """A skill is shown by its name with capital letters."""
    assert office.catalogue.get("skill:git-hub").display_name == "Git Hub"


def test_channels_are_communication(office: Engine) -> None:
    """Every channel is of the category communication."""
    channels = office.catalogue.list(kind="channel")
    assert len(channels) == 5 and {one.category for one in channels} == {"communication"}


def test_an_extension_is_available_as_its_entry_says(office: Engine) -> None:
    """An extension is available where its entry says so."""
    found = {one.name: one.available for one in office.catalogue.list(kind="extension")}
    assert found == {"giphy": True, "speech": False}


def test_the_same_sources_give_the_same_catalogue(office: Engine) -> None:
    """Reading the same sources again gives the same descriptions.

    Better: what did not change is not even read again.
    """
    before = office.catalogue.view()
    report = office.sync(vectors=False)
    assert not report.changes and office.catalogue.view().capabilities == before.capabilities


# --- what is encoded --------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [
    pytest.param("Web Search", id="the display name"), pytest.param("web-search", id="the name"),
    pytest.param("Finds pages", id="the description"), pytest.param("knowledge", id="the category"),
    pytest.param("news", id="the tags"), pytest.param("max_results", id="the names of parameters"),
    pytest.param("browser", id="what it requires"),
])  # fmt: skip
def test_what_is_encoded(part: str) -> None:
    """What a request is compared with has names, description, category, tags, parameters and requirements."""
    assert part in embedding_text(WEB)


def test_what_is_never_encoded() -> None:
    """Names of secrets, schema and content are never encoded."""
    assert "SERPER" not in embedding_text(WEB)


WEB = capability(
    "tool:web-search", "Finds pages", display_name="Web Search", category="knowledge", tags=("news", "api"),
    parameters=("query", "max_results"), required_tools=("browser",), required_secrets=("SERPER_KEY",),
)  # fmt: skip


# --- relations --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "other", "type", "weight"),
    [
        pytest.param(
            "skill:git-hub", "tool:cli-executor", "DEPENDS_ON", 1.0, id="what is required, with 1.0"
        ),
        pytest.param(
            "tool:web_search", "skill:summarizer", "COMPOSED_WITH", 0.5, id="what a preset joins, with 0.5"
        ),
        pytest.param(
            "tool:web_search", "tool:news_search", "TAGGED_WITH", 0.6, id="two shared tags, with 0.3 each"
        ),
        pytest.param(
            "tool:web_browser",
            "tool:web_search",
            "SAME_CATEGORY",
            0.1,
            id="a shared category, with 0.1",
        ),
    ],
)
def test_four_relations(office: Engine, id: str, other: str, type: str, weight: float) -> None:
    """Four kinds of relation are read from what the sources say."""
    found = {edge.source if edge.target == id else edge.target: edge for edge in office.catalogue.related(id)}
    assert (found[other].type, found[other].weight) == (type, weight)


def test_what_is_needed_comes_along(office: Engine) -> None:
    """What the best hit depends on is offered with it, though the request does not name it.

    Better: it keeps a place below what needs it, where the original scored it below its own threshold.
    """
    hits = {hit.id: hit.reasons for hit in office.offer("What are my open GitHub issues?").hits}
    assert next(iter(hits)) == "skill:git-hub" and "needed by skill:git-hub" in hits["tool:cli-executor"]


def test_relations_raise_what_is_there(office: Engine) -> None:
    """Hits that are related raise each other.

    Better: by a bounded amount, so that relations never push a right answer down.
    """
    with_graph = {hit.id: hit.score for hit in office.find(ASKED, graph_boost_factor=0.9)}
    without = {hit.id: hit.score for hit in office.find(ASKED, use_graph_reranking=False)}
    assert any(with_graph[id] > score for id, score in without.items() if id in with_graph)


# --- searching by oneself ---------------------------------------------------------------------------


def test_a_model_may_search_by_itself(office: Engine) -> None:
    """A model searches with discover_capabilities, by words and kind, and is told how much is indexed."""
    answer = office.discover("send a message on Discord", kind="channel")
    assert answer["capabilities"][0]["id"] == "channel:discord"
    assert answer["capabilities"][0]["relevance"] >= 0.9
    assert set(DISCOVER_TOOL["input_schema"]["properties"]["kind"]["enum"]) == {*KINDS, "any"}
    assert answer["total_indexed"] == len(office.catalogue.list())


def test_the_tool_that_searches_is_always_there(office: Engine) -> None:
    """The tool that searches is in every list of tools, at about 80 tokens."""
    offer = office.offer("thanks, that's all")
    assert [tool["name"] for tool in offer.tools] == [DISCOVER] and 60 <= offer.tokens.tools <= 120


# --- manifests --------------------------------------------------------------------------------------


def test_manifests_are_looked_for_in_three_places() -> None:
    """Manifests are read from the user's folder, the workspace's, and those of a variable, in this order.

    The folders have the names of this system: `~/.config/prowess/capabilities`, `.prowess/capabilities` and
    PROWESS_CAPABILITY_DIRS.
    """
    found = default_paths("/home/ada/shop", {"HOME": "/home/ada", "PROWESS_CAPABILITY_DIRS": "/a:/b"})
    ends = (".config/prowess/capabilities", "/home/ada/shop/.prowess/capabilities", "/a", "/b")
    assert all(path.endswith(end) for path, end in zip(found, ends, strict=True))


@pytest.mark.parametrize(
    ("id", "expected"),
    [
        pytest.param(
            "tool:my-custom-tool", "Ask for one document at a time.", id="content that the manifest names"
        ),
        pytest.param(
            "skill:beside", "What stands beside the manifest.", id="SKILL.md beside it is its content"
        ),
    ],
)
def test_content_of_a_manifest(office: Engine, id: str, expected: str) -> None:
    """A manifest may have its content in a file beside it."""
    assert (office.catalogue.detail(id).content or "").strip() == expected


def test_schema_of_a_manifest(office: Engine) -> None:
    """A manifest may have its schema in schema.json beside it, or in itself."""
    assert "width" in properties(office, "tool:shaped")
    assert "query" in properties(office, "tool:my-custom-tool")


def test_a_manifest_needs_three_fields(tmp_path: Path) -> None:
    """A manifest needs a name, a kind and a description; its id is made of the first two.

    Better: one that lacks them is named with what to do, and the others are read.
    """
    write(tmp_path, {
        ".prowess/capabilities/good/CAPABILITY.yaml": "kind: tool\nname: good\ndescription: Does good\n",
        ".prowess/capabilities/bad/CAPABILITY.yaml": "kind: tool\nname: bad\n",
        "prowess.toml": "",
    })  # fmt: skip
    with prowess.open(config=str(tmp_path / "prowess.toml"), environment={"HOME": str(tmp_path)}) as engine:
        report = engine.sync(vectors=False)
        assert [one.id for one in engine.catalogue.list()] == ["tool:good"]
        assert "description" in report.problems[0].what


def test_a_changed_manifest_is_seen(tmp_path: Path) -> None:
    """A manifest that changes while the program runs is read again.

    `engine.watch` waits for changes, half a second after the last one; every sync finds them, too.
    """
    file = ".prowess/capabilities/good/CAPABILITY.yaml"
    write(
        tmp_path,
        {file: "kind: tool\nname: good\ndescription: Does good\n", "prowess.toml": "", "policy.yaml": OWNER},
    )
    with prowess.open(config=str(tmp_path / "prowess.toml"), environment={"HOME": str(tmp_path)}) as engine:
        engine.sync(vectors=False)
        write(tmp_path, {file: "kind: tool\nname: good\ndescription: Does much better\n"})
        assert engine.sync(vectors=False).changes.changed == ("tool:good",)


# --- in a program -----------------------------------------------------------------------------------


def test_only_what_was_found_is_in_the_tool_list(office: Engine) -> None:
    """A turn gives the text for the prompt, the tools that were found, and the one that searches."""
    offer = office.offer(ASKED)
    tools = {tool["name"] for tool in offer.tools}
    assert {DISCOVER, "web_search", "news_search"} <= tools and "pay_invoice" not in tools
    assert {"tool:web_search", "tool:news_search", "skill:summarizer"} <= {hit.id for hit in offer.hits}


def test_how_much_there_is_can_be_asked(office: Engine) -> None:
    """Statistics say how many capabilities, nodes and edges there are, and at which version."""
    stats = office.catalogue.stats()
    assert set(stats) == {"capability_count", "graph_nodes", "graph_edges", "index_version"}
    assert stats["capability_count"] == stats["graph_nodes"] == len(office.catalogue.list())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tier0_token_budget", 200), ("tier1_token_budget", 800), ("tier2_token_budget", 2000),
        ("tier1_top_k", 5), ("tier2_top_k", 2), ("tier1_min_relevance", 0.3), ("use_graph_reranking", True),
        ("collection_name", "capability_index"), ("embedding_model_id", ""), ("graph_boost_factor", 0.15),
    ],
)  # fmt: skip
def test_the_ten_settings_and_what_they_are_unless_said(key: str, value: object) -> None:
    """The ten settings of the original have the same defaults."""
    assert getattr(DiscoveryConfig(), key) == value


def test_settings_for_one_search(office: Engine) -> None:
    """Settings, a kind and whether it must be available can be given for one search."""
    assert len(ids(office, ASKED, tier1_top_k=1)) == 1
    assert {id.partition(":")[0] for id in ids(office, ASKED, kind="skill")} == {"skill"}
    hidden = "search our internal documents"
    assert "tool:my-custom-tool" not in ids(office, hidden)
    assert "tool:my-custom-tool" in ids(office, hidden, only_available=False)


def test_speed_is_measured() -> None:
    """A turn takes about 5 ms, 50 ms where the request is new; 100 capabilities are indexed in 3 s.

    Better: measured by `python -m bench.discovery` and `python -m bench.turn`; the results are kept.
    """
    for name in ("discovery.md", "turn.md"):
        assert " ms" in (ROOT / "bench" / "results" / name).read_text()
