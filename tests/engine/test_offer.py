"""The whole turn, through the engine, on both databases."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from prowess.discovery.search import Search
from prowess.engine import Engine
from prowess.errors import ApprovalNeeded, ConfigError, Denied
from prowess.testing import StaticSource, capability
from prowess.types import Capability, Detail, Hit, Message, Outcome, Turn
from tests.support.stores import OpenEngine

SEED = [
    capability(
        "tool:web-search",
        "Search the web for current information",
        display_name="Web Search",
        category="information",
        tags=("search", "api", "news"),
        parameters=("query", "max_results"),
    ),
    capability(
        "tool:news-search",
        "Search news articles by keyword",
        category="information",
        tags=("search", "news"),
        parameters=("query", "date_range"),
    ),
    capability("tool:web-browser", "Browse a URL and extract content", category="information"),
    capability("skill:summarizer", "Summarize long documents into key points", category="information"),
    capability(
        "skill:github",
        "Use the GitHub CLI for issues, PRs, repos",
        category="developer-tools",
        required_tools=("cli-executor",),
    ),
    capability("tool:cli-executor", "Execute shell commands", category="developer-tools"),
    capability("tool:git", "Version control operations on a repository", category="developer-tools"),
    capability("channel:telegram", "Telegram messaging platform", category="communication"),
    capability("channel:discord", "Discord messaging platform", category="communication"),
    capability("channel:slack", "Slack messaging platform", category="communication"),
]

POLICY = """
grants:
  browsing: {event_patterns: ["tool:web-*", "skill:summarizer"]}
profiles:
  owner: {agents: [default], additional_tools: ["*"]}
  reader: {agents: [ada], capabilities: {browsing: true}}
  careful: {agents: [bob], additional_tools: ["*"], ask: ["tool:cli-executor"], pinned: ["tool:git"]}
"""


@pytest.fixture
def seed(open_engine: OpenEngine) -> Engine:
    """The catalogue of the discovery engine's own example, with the shipped encoder."""
    schema = {"type": "object", "properties": {"query": {"type": "string"}}}
    source = StaticSource(capabilities=SEED, details={"tool:web-search": Detail(input_schema=schema)})
    engine = open_engine(source, policy=POLICY, shipped_encoder=True)
    engine.sync()
    return engine


@pytest.fixture
def opened_with(open_engine: OpenEngine) -> Callable[..., Engine]:
    def opened(*capabilities: Capability) -> Engine:
        source = StaticSource(capabilities=list(capabilities))
        engine = open_engine(source, policy=POLICY, shipped_encoder=True)
        engine.sync()
        return engine

    return opened


def offered(engine: Engine, request: str, agent: str = "default") -> list[str]:
    turn = Turn(messages=(Message("user", request),), agent=agent)
    return [hit.id for hit in engine.offer(turn).hits]


def test_the_usage_example_offers_search_news_and_summarizer_within_1850_tokens(seed: Engine) -> None:
    offer = seed.offer("Search the web for AI news and summarize it")
    ids = [hit.id for hit in offer.hits]
    assert {"tool:web-search", "tool:news-search", "skill:summarizer"} <= set(ids[:3])
    assert offer.tokens.total <= 1850
    assert offer.tools[0]["name"] == "discover_capabilities"
    assert {"web-search", "news-search"} <= {tool["name"] for tool in offer.tools}


def test_a_request_about_github_issues_pulls_in_what_the_skill_depends_on(seed: Engine) -> None:
    offer = seed.offer("What are my open GitHub issues?")
    reasons = {hit.id: hit.reasons for hit in offer.hits}
    assert next(iter(reasons)) == "skill:github"
    assert "needed by skill:github" in reasons["tool:cli-executor"]


def test_the_discord_call_of_the_meta_tool_answers_with_the_channel(seed: Engine) -> None:
    answer = seed.discover("send a message on Discord", kind="channel")
    assert answer["total_indexed"] == 10
    first = answer["capabilities"][0]
    assert first["id"] == "channel:discord"
    assert first["relevance"] >= 0.9
    assert set(first) == {"id", "name", "kind", "description", "category", "relevance", "available"}
    assert all(found["kind"] == "channel" for found in answer["capabilities"])


def test_the_meta_tool_costs_about_eighty_tokens(seed: Engine) -> None:
    offer = seed.offer("thanks, that's all")
    assert offer.hits == ()
    assert 60 <= offer.tokens.tools <= 100


def test_nothing_is_offered_when_nothing_fits(seed: Engine) -> None:
    for words in ("thanks, that's all", "ok great", "you are welcome"):
        assert offered(seed, words) == []


def test_an_exact_name_comes_first(seed: Engine) -> None:
    for each in SEED:
        assert seed.find(each.name)[0].id == each.id
        assert seed.find(each.id)[0].id == each.id


def test_what_policy_denies_is_in_no_text_tool_count_or_search(seed: Engine) -> None:
    turn = Turn(messages=(Message("user", "run a git command and message discord"),), agent="ada")
    offer = seed.offer(turn)
    assert "discord" not in offer.text
    assert [hit.id for hit in offer.hits] == []
    assert "git" not in str(offer.tools)
    answer = seed.discover("send a message on Discord", agent="ada")
    assert answer["total_indexed"] == 3
    assert "discord" not in str(answer).lower()
    assert ("channel:discord", "denied") in offer.left_out.nearest


def test_what_is_switched_off_is_not_offered_and_left_out_says_so(seed: Engine) -> None:
    seed.providers.deactivate("static")
    offer = seed.offer("Search the web")
    assert offer.hits == ()
    assert offer.left_out.counts == {"switched off": 10}


def test_a_pinned_capability_is_always_in_tier_1(seed: Engine) -> None:
    turn = Turn(messages=(Message("user", "Search the web"),), agent="bob")
    offer = seed.offer(turn)
    assert "1. git (tool)" in offer.text
    assert "2. web-search (tool)" in offer.text


def test_the_turns_budget_caps_the_whole_offer(seed: Engine) -> None:
    for budget in (0, 50, 100, 150, 200, 300, 500):
        turn = Turn(messages=(Message("user", "Search the web for news and summarize it"),), budget=budget)
        offer = seed.offer(turn)
        assert offer.tokens.total <= max(budget, 98)


def test_a_tier_budget_can_be_set_for_one_call(seed: Engine) -> None:
    assert seed.offer("Search the web", tier2_token_budget=0).tokens.tier2 == 0
    assert seed.offer("Search the web").tokens.tier2 > 0


def test_the_same_turn_gives_the_same_bytes(seed: Engine) -> None:
    first, second = (seed.offer("Search the web for AI news") for _ in range(2))
    assert (first.text, first.tools) == (second.text, second.tools)


def test_filters_hold_after_every_step(seed: Engine) -> None:
    hits = seed.find("What are my open GitHub issues?", kind="skill")
    assert {hit.id.partition(":")[0] for hit in hits} == {"skill"}
    assert "skill:github" not in [h.id for h in seed.find("GitHub issues", exclude=["skill:github"])]


def test_an_offer_is_journalled_with_what_was_left_out(seed: Engine) -> None:
    offer = seed.offer("Search the web")
    (entry,) = seed.journal.latest(type="offer")
    assert entry.data["offer"] == offer.id
    assert entry.data["hits"][0]["id"] == "tool:web-search"
    assert entry.chain == "default"


@pytest.fixture
def on_fire(seed: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    def broken(self: Search, request: str, allowed: object, options: object) -> object:
        raise RuntimeError("the index is on fire")

    monkeypatch.setattr(Search, "hits", broken)
    return seed


def test_when_discovery_fails_open_everything_allowed_is_offered(on_fire: Engine) -> None:
    offer = on_fire.offer("Search the web", on_failure="open")
    assert len(offer.hits) == 10
    assert offer.mode == "discovery failed (RuntimeError); everything allowed is offered"


def test_when_discovery_fails_open_every_tool_is_there_whatever_the_lines_cost(on_fire: Engine) -> None:
    offer = on_fire.offer("Search the web", tier1_token_budget=40)
    assert offer.tokens.tier1 <= 40
    assert len(offer.tool_ids) == 5


def test_when_discovery_fails_open_filters_hold(on_fire: Engine) -> None:
    offer = on_fire.offer("Search the web", exclude=["git"], kind="tool")
    assert {hit.id for hit in offer.hits} == {
        "tool:web-search",
        "tool:news-search",
        "tool:web-browser",
        "tool:cli-executor",
    }


def test_when_discovery_fails_closed_only_what_is_pinned_is_offered(on_fire: Engine) -> None:
    offer = on_fire.offer(Turn(messages=(Message("user", "Search"),), agent="bob"), on_failure="closed")
    assert [hit.id for hit in offer.hits] == ["tool:git"]
    assert offer.mode == "discovery failed (RuntimeError); nothing but what is pinned is offered"


def test_a_third_way_to_fail_is_refused(seed: Engine) -> None:
    with pytest.raises(ConfigError, match="say open or closed"):
        seed.offer("Search the web", on_failure="clsed")  # type: ignore[arg-type]


def test_what_is_pinned_is_a_hit_that_says_so_and_passes_the_filters(seed: Engine) -> None:
    turn = Turn(messages=(Message("user", "Search the web"),), agent="bob")
    offer = seed.offer(turn)
    assert offer.hits[0].reasons == ("pinned",)
    assert "1. git (tool)" in offer.text and "# git" not in offer.text
    assert "tool:git" not in {hit.id for hit in seed.offer(turn, exclude=["tool:git"]).hits}
    assert "tool:git" not in {hit.id for hit in seed.offer(turn, kind="skill").hits}


def test_cards_take_no_place_among_what_is_offered(opened_with: Callable[..., Engine]) -> None:
    about_search = "Search the web for current information, web search rule"
    cards = [capability(f"card:rule-{n}", f"{about_search} {n}") for n in range(6)]
    engine = opened_with(*SEED, *cards)
    offer = engine.offer("web search rules")
    assert "tool:web-search" in {hit.id for hit in offer.hits}
    assert not any(id.startswith("card:") for id, _ in offer.left_out.nearest)


def test_dependencies_come_along_beside_the_best_and_not_instead_of_them(
    opened_with: Callable[..., Engine],
) -> None:
    verbs = ("list", "create", "close", "search", "comment", "label")
    github = [capability(f"tool:github-{verb}", f"{verb.title()} GitHub issues") for verb in verbs]
    engine = opened_with(*SEED, *github)
    found = {hit.id: hit for hit in engine.find("use skill:github for my issues")}
    assert found["tool:cli-executor"].brought_by == "skill:github"
    assert len([hit for hit in found.values() if not hit.brought_by]) == 5


def test_a_second_need_is_not_pushed_aside_by_what_the_first_brings(
    opened_with: Callable[..., Engine],
) -> None:
    helpers = [capability(f"tool:h{n}", f"Internal helper number {n}") for n in range(6)]
    deploy = capability(
        "skill:deploy", "Deploy the application to production", required_tools=[each.name for each in helpers]
    )
    email = capability("tool:send-email", "Send an email to people of the team")
    engine = opened_with(deploy, email, *helpers, *SEED)
    hits = engine.find("Deploy the application to production, then email the team")
    assert [hit.id for hit in hits[:2]] == ["skill:deploy", "tool:send-email"]
    assert {each.id for each in helpers} <= {hit.id for hit in hits}


def test_what_is_excluded_is_absent_from_the_map_too(seed: Engine) -> None:
    assert "web-search" in seed.offer("hello").text
    assert "web-search" not in seed.offer("hello", exclude=["web-search"]).text
    assert "web-search" in seed.offer("hello").text


def test_a_category_may_be_written_as_the_map_writes_it(seed: Engine) -> None:
    written = seed.discover("run a command", category="Developer Tools")["capabilities"]
    assert written == seed.discover("run a command", category="developer-tools")["capabilities"] != []


def test_a_search_can_be_narrowed_to_one_provider(opened_with: Callable[..., Engine]) -> None:
    ours = capability("tool:search", "Search the web", provider="ours")
    theirs = capability("tool:search-2", "Search the web", provider="theirs")
    engine = opened_with(ours, theirs)
    assert [hit.id for hit in engine.find("search the web", provider="theirs")] == ["tool:search-2"]


def test_each_thing_left_out_has_its_own_reason(seed: Engine) -> None:
    offer = seed.offer("search the web for news", tier1_top_k=1, exclude=["web-browser"])
    reasons = dict(offer.left_out.nearest)
    assert reasons["tool:web-browser"] == "left out by a filter"
    assert "after the best that were asked for" in reasons.values()
    assert sum(offer.left_out.counts.values()) == len(SEED) - len(offer.hits)


@pytest.mark.parametrize("key", ["collection_name", "embedding_model_id", "read_closely"])
def test_what_belongs_to_an_engine_is_refused_for_one_call(seed: Engine, key: str) -> None:
    with pytest.raises(ConfigError, match="open another engine"):
        seed.find("search the web", **{key: "other"})  # type: ignore[arg-type]


def test_a_value_that_makes_no_sense_is_refused_for_one_call(seed: Engine) -> None:
    with pytest.raises(ConfigError, match="tier1_top_k"):
        seed.find("search the web", tier1_top_k=-3)
    with pytest.raises(ConfigError, match="did you mean 'tier1_top_k'"):
        seed.find("search the web", tier1_topk=3)  # type: ignore[call-arg]


def test_a_request_that_is_no_text_at_all_is_offered_and_journalled(seed: Engine) -> None:
    assert seed.offer("\ud800 search the web").hits
    (entry,) = seed.journal.latest(type="offer")
    assert entry.data["request"] == "? search the web"


def test_the_journal_keeps_the_beginning_of_a_request_without_end(seed: Engine) -> None:
    seed.offer("search the web " * 1000)
    (entry,) = seed.journal.latest(type="offer")
    assert len(entry.data["request"]) < 4100


def test_an_offer_is_of_the_world_it_began_in_whatever_a_sync_removes_meanwhile(
    seed: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Search.hits

    def then_gone(self: Search, *arguments: Any) -> tuple[Hit, ...]:
        hits = found(self, *arguments)
        seed.sources = (StaticSource(capabilities=[each for each in SEED if each.id != "tool:web-search"]),)
        seed.sync()
        return hits

    monkeypatch.setattr(Search, "hits", then_gone)
    offer = seed.offer("search the web")
    assert offer.mode == "discovery"
    assert "tool:web-search" in offer.tool_ids.values() and offer.catalogue_version == 1
    monkeypatch.undo()
    assert "tool:web-search" not in seed.offer("search the web").tool_ids.values()


def test_stats_count_what_there_is_to_search(seed: Engine) -> None:
    stats = seed.catalogue.stats()
    assert stats["capability_count"] == stats["graph_nodes"] == 10
    assert stats["graph_edges"] > 0
    assert stats["index_version"] == 1


def test_a_second_process_searches_with_the_stored_vectors(seed: Engine, open_engine: OpenEngine) -> None:
    expected = seed.find("look something up on the internet")
    again = open_engine(StaticSource(capabilities=SEED), policy=POLICY, shipped_encoder=True)
    assert again.find("look something up on the internet") == expected


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["", "engine.close()"])
def test_a_program_may_end_while_vectors_are_made(tmp_path: Path, ending: str) -> None:
    program = f"""
import prowess
from prowess.testing import StaticSource, capability

tools = [capability(f"tool:t{{n}}", f"Forecasts the weather of the next {{n}} days") for n in range(400)]
engine = prowess.open("sqlite:{tmp_path / "store.db"}", sources=[StaticSource(capabilities=tools)])
engine.sync(vectors=False)
engine.find("weather")
print("searched", flush=True)
{ending}
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "searched\n", "")


def test_a_changed_description_is_found_by_its_new_words(open_engine: OpenEngine) -> None:
    source = StaticSource(capabilities=[capability("tool:a", "Peels bananas"), *SEED])
    engine = open_engine(source)
    engine.sync()
    source.capabilities[0] = capability("tool:a", "Sharpens skates")
    engine.sync()
    assert engine.find("sharpens skates")[0].id == "tool:a"
    assert "tool:a" not in [hit.id for hit in engine.find("peels bananas")]


def test_every_hit_says_why_it_is_there(seed: Engine) -> None:
    for hit in seed.find("Search the web for AI news and summarize it"):
        assert hit.reasons
        assert 0.3 <= hit.score <= 1


# --- at use ----------------------------------------------------------------------------------


def test_a_use_is_checked_and_the_decision_is_journalled(seed: Engine) -> None:
    assert seed.check("ada", "tool:web-search").verdict == "allow"
    with pytest.raises(Denied, match="ada may not use tool:git"):
        seed.check("ada", "tool:git")
    verdicts = [(e.data["capability"], e.data["verdict"]) for e in seed.journal.latest(type="decision")]
    assert verdicts == [("tool:web-search", "allow"), ("tool:git", "deny")]
    assert all(e.data["revision"] for e in seed.journal.latest(type="decision"))


def test_what_asks_waits_for_a_person(seed: Engine) -> None:
    with pytest.raises(ApprovalNeeded) as raised:
        seed.check("bob", "tool:cli-executor")
    assert raised.value.approval


def test_what_was_switched_off_since_the_offer_is_denied(seed: Engine) -> None:
    seed.check("default", "tool:git")
    seed.providers.deactivate("static", "default")
    with pytest.raises(Denied, match="switched off"):
        seed.check("default", "tool:git")


def test_an_outcome_is_journalled_in_the_agents_chain(seed: Engine) -> None:
    offer = seed.offer("Search the web")
    seed.record(Outcome(offer=offer.id, capability="tool:web-search", ok=True))
    (entry,) = seed.journal.latest(type="outcome", agent="default")
    assert entry.data["ok"] is True


def test_explaining_covers_policy_availability_switches_and_relevance(seed: Engine) -> None:
    assert any("no grant mentions it" in step for step in seed.explain("ada", "tool:git"))
    assert "relevance" in seed.explain("default", "tool:git", "version control")[-2]
    absent = "deny: nothing in the catalogue has this id"
    assert seed.explain("default", "tool:nowhere")[-1].startswith(absent)
    seed.providers.deactivate("static")
    assert any("switched off" in step for step in seed.explain("default", "tool:git"))


def test_two_things_of_one_title_are_told_apart_in_lines_and_on_pages(
    opened_with: Callable[..., Engine],
) -> None:
    servers = ("datadog", "pagerduty")
    skill = capability("skill:pdf", "Fill in PDF forms")
    engine = opened_with(
        *(
            capability(f"tool:{one}/list_incidents", "List incidents", display_name="Incidents")
            for one in servers
        ),
        skill,
        replace(skill, id="custom:pdf"),
    )
    text = engine.offer("list incidents").text
    for server in servers:
        assert f" {server}__list_incidents (tool)" in text
        assert f"# Incidents (tool:{server}/list_incidents)\n" in text
    text = engine.offer("fill in a pdf form").text
    assert " skill:pdf (skill)" in text and " custom:pdf (skill)" in text
