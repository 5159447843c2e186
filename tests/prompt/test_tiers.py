"""Tiers 0, 1 and 2: the formats, and budgets that hold whatever comes."""

from hypothesis import given
from hypothesis import strategies as st

from prowess.prompt.render import page, parameter_line, schema_lines, summary
from prowess.prompt.tiers import TRUNCATED, fair_shares, fit, tier0, tier1, tier2
from prowess.testing import capability
from prowess.token_counts import estimate
from prowess.types import Capability, Detail, SourceRef


def catalogue(*pairs: tuple[str, str]) -> dict[str, Capability]:
    return {f"tool:{name}": capability(f"tool:{name}", category=category) for name, category in pairs}


def many(count: int, category: str) -> list[tuple[str, str]]:
    return [(f"{category}-{n:02}", category) for n in range(count)]


# --- tier 0 ----------------------------------------------------------------------------------


def test_the_map_names_four_of_a_category_and_counts_the_rest() -> None:
    text = tier0(catalogue(*many(6, "information"), ("git", "developer-tools")), 200, estimate).text
    assert text == (
        "Available capability categories:\n"
        "- Information: information-00, information-01, information-02, information-03 (+2 more) (6)\n"
        "- Developer-tools: git (1)\n"
        "Use discover_capabilities tool to get details on any capability."
    )


def test_the_map_degrades_from_names_to_counts_to_category_names_to_nothing() -> None:
    everything = catalogue(*(pair for n in range(30) for pair in many(5, f"category{n}")))
    names, counts, categories, nothing = (
        tier0(everything, budget, estimate).text for budget in (2000, 320, 120, 10)
    )
    assert "(+1 more)" in names
    assert "- Category0 (5)" in counts
    assert categories.startswith("Available capability categories: category0, category1")
    assert "more)" in categories
    assert nothing == ""


def test_a_category_written_in_two_ways_is_one_line() -> None:
    text = tier0(catalogue(("a", "Search"), ("b", "search"), ("c", "files")), 200, estimate).text
    assert text.splitlines()[1:-1] == ["- Search: a, b (2)", "- Files: c (1)"]


def test_what_has_no_category_stands_under_the_server_that_brings_it() -> None:
    tools = {
        id: capability(id, provider=server, source_ref=SourceRef("mcp", server))
        for id, server in (("tool:git/log", "git"), ("tool:git/diff", "git"), ("tool:crm/find", "crm"))
    }
    text = tier0(tools, 200, estimate).text
    assert text.splitlines()[1:-1] == ["- Git: git__log, git__diff (2)", "- Crm: crm__find (1)"]
    shown = page(tools["tool:crm/find"], Detail())
    assert "Category: crm" in shown


def test_of_a_server_the_map_names_what_differs_first() -> None:
    names = [
        "add_comment",
        "add_comments",
        "get_issue",
        "listIssues",
        "merge_branch",
        "open_ISSUE",
        "push_files",
    ]
    tools = {
        f"tool:git/{name}": capability(f"tool:git/{name}", provider="git", source_ref=SourceRef("mcp", "git"))
        for name in names
    }
    line = "- Git: git__add_comment, git__get_issue, git__merge_branch, git__push_files (+3 more) (7)"
    assert tier0(tools, 200, estimate).text.splitlines()[1] == line
    alike = {id: one for id, one in tools.items() if "ssue" in id.lower()}
    assert "git__get_issue, git__listIssues, git__open_ISSUE (3)" in tier0(alike, 200, estimate).text


def test_ten_servers_of_thirty_tools_each_are_ten_lines_with_a_name_and_a_count() -> None:
    servers = ("bank", "chat", "crm", "dns", "docs", "git", "logs", "mail", "shop", "wiki")
    things = ("issue", "branch", "release", "label", "user", "note")
    names = [f"{verb}_{thing}" for verb in ("list", "get", "make", "change", "delete") for thing in things]
    tools = {
        id: capability(id, provider=server, source_ref=SourceRef("mcp", server))
        for server in servers
        for id in (f"tool:{server}/{name}" for name in names)
    }
    lines = tier0(tools, 200, estimate).text.splitlines()[1:-1]
    assert len(lines) == 10
    assert all(line.endswith("(+29 more) (30)") and "__list_issue" in line for line in lines)


def test_an_empty_catalogue_has_no_map() -> None:
    assert tier0({}, 200, estimate).text == ""


@given(
    st.lists(st.tuples(st.text(min_size=1, max_size=30), st.text(min_size=1, max_size=12)), max_size=40),
    st.integers(0, 300),
)
def test_the_map_never_exceeds_its_budget(pairs: list[tuple[str, str]], budget: int) -> None:
    tier = tier0(catalogue(*pairs), budget, estimate)
    assert tier.tokens == estimate(tier.text) <= budget


# --- tier 1 ----------------------------------------------------------------------------------


def test_a_summary_names_kind_description_and_the_first_three_parameters() -> None:
    tool = capability(
        "tool:web-search", "Search the web.", parameters=("query", "max_results", "a", "b", "c")
    )
    assert summary(1, tool, "web-search") == (
        "1. web-search (tool). Search the web. Params: query, max_results, a"
    )


def test_a_long_description_is_cut_at_120_characters() -> None:
    line = summary(1, capability("tool:a", "x" * 200), "a")
    assert line == f"1. a (tool). {'x' * 117}..."


def test_what_cannot_be_used_right_now_is_marked() -> None:
    line = summary(1, capability("tool:a", unavailable=("secret KEY is not set",)), "a")
    assert line.endswith("[not available — missing secrets or dependencies]")


def test_what_a_skill_requires_is_said() -> None:
    skill = capability("skill:github", "Use GitHub", required_tools=("gh",))
    assert summary(2, skill, "github") == "2. github (skill). Use GitHub. Requires: gh"


def test_one_that_does_not_fit_is_left_out_and_the_next_gets_its_chance() -> None:
    long, short = capability("tool:long", "word " * 60), capability("tool:short", "Brief.")
    tier = tier1([long, short], 25, estimate)
    assert tier.shown == ("tool:short",)
    assert tier.no_room == ("tool:long",)
    assert tier.text == "Relevant capabilities:\n1. short (tool). Brief"


def test_two_of_one_name_are_told_apart() -> None:
    twins = [
        capability("tool:one/search", name="search"),
        capability("tool:two/search", name="search"),
    ]
    text = tier1(twins, 200, estimate).text
    assert "one/search" in text
    assert "two/search" in text


def test_without_hits_there_is_no_heading() -> None:
    assert tier1([], 800, estimate).text == ""
    assert tier2([], 2000, estimate).text == ""


@given(st.lists(st.text(max_size=200), max_size=12), st.integers(0, 200))
def test_summaries_never_exceed_their_budget(descriptions: list[str], budget: int) -> None:
    tier = tier1([capability(f"tool:t{n}", d) for n, d in enumerate(descriptions)], budget, estimate)
    assert tier.tokens == estimate(tier.text) <= budget
    assert len(tier.shown) + len(tier.no_room) == len(descriptions)


# --- tier 2 ----------------------------------------------------------------------------------


def test_a_page_shows_the_schema_as_the_model_needs_it() -> None:
    tool = capability(
        "tool:web-search",
        "Search the web for current information using the Serper API.",
        display_name="Web Search",
        category="information",
        required_secrets=("SERPER_API_KEY",),
    )
    schema = {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "The search query"},
            "max_results": {"type": "number", "description": "Maximum results to return", "default": 5},
            "search_type": {
                "type": "string",
                "description": "Type of search",
                "enum": ["search", "news", "images"],
                "default": "search",
            },
        },
        "required": ["query"],
    }
    assert page(tool, Detail(input_schema=schema)) == (
        "# Web Search\n"
        "Kind: tool | Category: information | Name: web-search\n"
        "\n"
        "Search the web for current information using the Serper API.\n"
        "\n"
        "## Input Schema\n"
        "  query (string, required): The search query\n"
        "  max_results (number): Maximum results to return (default: 5)\n"
        '  search_type (string): Type of search [search|news|images] (default: "search")\n'
        "\n"
        "Required secrets: SERPER_API_KEY"
    )


def test_a_schema_that_is_no_schema_breaks_nothing() -> None:
    odd = {"properties": {"a": True, "b": {"type": ["string", "null"], "enum": "x"}}, "required": "a"}
    assert page(capability("tool:a"), Detail(input_schema=odd)).count("\n") > 5
    assert parameter_line("b", odd["properties"]["b"], False) == "  b (string|null)"  # type: ignore[index]


def test_a_skill_shows_its_instructions_and_a_tool_without_parameters_says_so() -> None:
    assert "## Skill Instructions\nDo it." in page(capability("skill:a"), Detail(content="Do it."))
    assert "  (no parameters)" in page(capability("tool:a"), Detail())


def test_an_item_too_large_is_cut_with_a_marker_and_the_next_is_whole() -> None:
    large = (capability("skill:large"), Detail(content="words and words\n" * 3000))
    small = (capability("skill:small"), Detail(content="Short and whole."))
    tier = tier2([large, small], 400, estimate)
    assert tier.shown == ("skill:large", "skill:small")
    assert TRUNCATED in tier.text
    assert "Short and whole." in tier.text
    assert estimate(tier.text) <= 400


def test_one_endless_line_is_cut_too() -> None:
    assert fit("x" * 10_000, 50, estimate).endswith(TRUNCATED)


@given(st.lists(st.text(max_size=500), max_size=4), st.integers(0, 300))
def test_pages_never_exceed_their_budget(contents: list[str], budget: int) -> None:
    pages = [(capability(f"skill:s{n}"), Detail(content=text)) for n, text in enumerate(contents)]
    tier = tier2(pages, budget, estimate)
    assert tier.tokens == estimate(tier.text) <= budget


@given(st.lists(st.integers(0, 500), max_size=6), st.integers(0, 1000))
def test_shares_fit_the_room_and_nobody_gets_more_than_it_costs(costs: list[int], room: int) -> None:
    shares = fair_shares(costs, room)
    assert sum(shares) <= room
    assert all(share <= cost for share, cost in zip(shares, costs, strict=True))
    if sum(costs) <= room:
        assert shares == costs


def test_a_page_of_which_only_its_title_fits_is_left_out() -> None:
    pages = [(capability(f"tool:{name}", "Does a lot of things. " * 40), Detail()) for name in ("one", "two")]
    for budget in range(10, 80, 5):
        tier = tier2(pages, budget, estimate)
        for part in tier.text.split("\n\n# ")[1:]:
            assert part.removesuffix(TRUNCATED).strip().count("\n") >= 1
        assert len(tier.shown) + len(tier.no_room) == 2


def test_a_line_follows_references_and_names_what_a_union_allows() -> None:
    schema = {
        "properties": {
            "size": {"$ref": "#/$defs/Size", "description": "How large"},
            "most": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 5},
            "parts": {"type": "array", "items": {"enum": ["head", "body"]}},
            "odd": {"$ref": "#/$defs/Nowhere"},
            "loop": {"$ref": "#/$defs/Loop"},
            "mixed": {"enum": [1, "one", True, None]},
        },
        "$defs": {"Size": {"enum": ["small", "large"], "type": "string"}, "Loop": {"$ref": "#/$defs/Loop"}},
    }
    assert schema_lines(schema, ("most", "size", "parts", "odd", "loop", "mixed")) == [
        "  most (integer|null) (default: 5)",
        "  size (string): How large [small|large]",
        "  parts (array) [head|body]",
        "  odd (any)",
        "  loop (any)",
        "  mixed (any) [1|one|true|null]",
    ]
