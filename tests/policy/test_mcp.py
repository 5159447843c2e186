"""What MCP clients get: the list of tools, what a grant keeps from them, and their lists of permissions."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from prowess.calling.caller import Caller
from prowess.cli.policy import command as policy_command
from prowess.clients.known import CLIENTS
from prowess.engine import Engine
from prowess.errors import NotFound
from prowess.gateway.tools import MAX_TOOLS, META_NAMES, Tools, tool_list
from prowess.prompt.small_sets import MOST_TOKENS, MOST_TOOLS, STAYS
from prowess.sources.python.events import Events, event_handler
from prowess.testing import StaticSource, capability
from prowess.types import SourceRef
from tests.support.gateway import ask, call, text_of, world
from tests.support.stores import OpenEngine

QUIET = """
grants:
  quiet: {event_patterns: ["quiet:*"], mcp_tools: false}
  loud: {event_patterns: ["quiet:thing"]}
profiles:
  p: {capabilities: {quiet: true}, additional_tools: ["loud:*"], pinned: ["quiet:thing"], agents: [bob]}
  q: {capabilities: {quiet: true, loud: true}, agents: [eve]}
"""
EVENTS = ("event:quiet:thing", "event:quiet:other", "event:loud:thing")


def opened(open_engine: OpenEngine, policy: str, *ids: str) -> Engine:
    found = [capability(id, source_ref=SourceRef("events", "tests")) for id in ids]
    engine = open_engine(StaticSource(capabilities=found), policy=policy)
    engine.sync(vectors=False)
    return engine


def listed(engine: Engine, agent: str, tools: Tools = "all") -> list[str]:
    names = [tool.name for tool in tool_list(engine, Caller(agent, over_mcp=True), tools)]
    return [name for name in names if name not in META_NAMES]


def test_what_only_a_quiet_grant_gives_is_in_no_list_of_tools_and_still_the_librarys(
    open_engine: OpenEngine,
) -> None:
    engine = opened(open_engine, QUIET, *EVENTS)
    assert listed(engine, "bob") == ["event__loud__thing"]
    assert listed(engine, "bob", "pinned") == []
    assert listed(engine, "eve") == ["event__quiet__thing"]
    assert engine.check("bob", "event:quiet:thing").verdict == "allow"


def test_a_child_is_kept_from_what_its_parent_is_kept_from(open_engine: OpenEngine) -> None:
    text = QUIET.replace("p: {capabilities: {quiet", "p: {capabilities: {spawn_agents: true, quiet")
    engine = opened(open_engine, f"{text}  r: {{additional_tools: ['quiet:*', 'loud:*']}}\n", *EVENTS)
    engine.agents.spawn("bob", "kid", "r")
    assert listed(engine, "kid") == ["event__loud__thing"]


@event_handler("quiet:thing", description="Does the quiet thing.")
def quiet_thing(data: dict[str, object]) -> dict[str, bool]:
    return {"quiet": True}


@event_handler("loud:thing", description="Does the loud thing.")
def loud_thing(data: dict[str, object]) -> dict[str, bool]:
    return {"loud": True}


@pytest.mark.slow
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.anyio
async def test_an_mcp_client_neither_lists_finds_describes_nor_calls_what_a_grant_keeps_from_it(
    tmp_path: Path,
) -> None:
    source = Events(name="events", handlers=(quiet_thing, loud_thing))
    async with world(tmp_path, source, policy=QUIET) as here:
        async with here.client("bob") as client:
            found = await ask(client, "discover_capabilities", query="the quiet thing")
            assert "event:quiet:thing" not in str(found)
            assert await ask(client, "list_capabilities", kind="event") == {"ids": ["event:loud:thing"]}
            described = await client.call_tool("describe_capability", {"id": "event:quiet:thing"})
            assert described.is_error
            refused = await call(client, "event:quiet:thing", with_effects=True)
            assert refused.is_error and "There is no capability" in text_of(refused)
            assert "loud" in text_of(await call(client, "event:loud:thing", with_effects=True))
        assert here.engine.call("event:quiet:thing", agent="bob").ending == "ok"


def test_events_of_the_system_itself_are_no_mcp_tools(open_engine: OpenEngine) -> None:
    text = "profiles: {p: {additional_tools: ['*'], agents: [bob]}}"
    engine = opened(open_engine, text, "event:message:publish", "event:system:internal_state")
    assert listed(engine, "bob") == ["event__message__publish"]


def test_tools_all_serves_every_allowed_event_and_tool_and_nothing_else(open_engine: OpenEngine) -> None:
    text = """
profiles:
  p: {capabilities: {agent_messaging: true}, additional_tools: ['tool:read', 'skill:*'], agents: [bob]}
"""
    ids = ("event:message:publish", "tool:read", "tool:write", "skill:x", "event:state:set")
    engine = opened(open_engine, text, *ids)
    assert listed(engine, "bob") == ["event__message__publish", "read"]


def test_a_set_too_large_for_a_list_is_served_by_search_and_what_is_pinned(open_engine: OpenEngine) -> None:
    text = "profiles: {p: {additional_tools: ['*'], pinned: ['tool:t0'], agents: [bob]}}"
    engine = opened(open_engine, text, *(f"tool:t{n}" for n in range(MAX_TOOLS + 1)))
    assert listed(engine, "bob") == ["t0"]


EVERYTHING = "profiles: {p: {additional_tools: ['*'], pinned: ['tool:t00'], agents: [bob]}}"


def small(count: int, words: int = 1) -> StaticSource:
    """So many tools, each described in so many words."""
    told = " ".join(["Counts."] * words)
    ids = [f"tool:t{n:02}" for n in range(count)]
    ref = SourceRef("events", "tests")
    return StaticSource(capabilities=[capability(id, source_ref=ref, description=told) for id in ids])


def test_a_few_tools_are_all_in_the_list_and_one_more_or_less_does_not_turn_it_over(
    open_engine: OpenEngine,
) -> None:
    source, most = small(MOST_TOOLS), int(MOST_TOOLS * STAYS)
    engine = open_engine(source, policy=EVERYTHING)

    def listed_of(count: int) -> list[str]:
        source.capabilities = small(count).capabilities
        engine.sync(vectors=False)
        return listed(engine, "bob", "auto")

    assert len(listed_of(MOST_TOOLS)) == MOST_TOOLS
    assert len(listed_of(MOST_TOOLS + 1)) == MOST_TOOLS + 1
    assert len(listed_of(most)) == most
    assert listed_of(most + 1) == ["t00"]
    assert listed_of(most) == listed_of(MOST_TOOLS + 1) == ["t00"]
    assert len(listed_of(MOST_TOOLS)) == MOST_TOOLS


def test_a_few_tools_that_need_many_words_are_searched_for(open_engine: OpenEngine) -> None:
    engine = open_engine(small(3, words=MOST_TOKENS), policy=EVERYTHING)
    engine.sync(vectors=False)
    assert listed(engine, "bob", "auto") == ["t00"]
    assert listed(engine, "bob", "all") == ["t00", "t01", "t02"]


ASKING = """
grants: {quiet: {event_patterns: ["quiet:*"], mcp_tools: false}}
profiles:
  p:
    capabilities: {network_access: true, agent_messaging: true, quiet: true}
    additional_tools: [Read, 'mcp__github__*', 'tool:*']
    disallowed_tools: ['tool:shell']
    ask: ['tool:pay*']
    pinned: ['tool:pay*', 'message:publish', 'quiet:thing', 'tool:shell']
    agents: [bob]
"""
IDS = ("event:message:publish", "event:quiet:thing", "tool:shell", "tool:pay/now", f"tool:pay/{'long' * 20}")


@pytest.fixture
def project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_engine: OpenEngine, store_url: str
) -> Engine:
    """A folder whose store and policy the commands take."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.yaml").write_text(ASKING)
    engine = opened(open_engine, ASKING, *IDS)
    (tmp_path / "prowess.toml").write_text('[policy]\nfiles = ["policy.yaml"]\n')
    monkeypatch.setenv("PROWESS_STORE", store_url)
    return engine


def exported(host: str) -> dict[str, list[str]]:
    result = CliRunner().invoke(policy_command, ["export", "bob", "--for", host])
    assert result.exception is None, result.exception
    found: dict[str, list[str]] = json.loads(result.stdout)["permissions"]
    return found


@pytest.mark.parametrize("tools", ["auto", "pinned", "all"])
def test_every_client_is_allowed_exactly_what_its_list_of_tools_has(
    project: Engine, tmp_path: Path, tools: Tools
) -> None:
    with (tmp_path / "prowess.toml").open("a") as file:
        file.write(f'[gateway]\ntools = "{tools}"\n')
    served = [tool.name for tool in tool_list(project, Caller("bob", over_mcp=True), tools)]
    assert len(served) == len(META_NAMES) + 3
    for client in CLIENTS:
        names = {client.tool.format(server="prowess", tool=name) for name in served}
        found = exported(client.name)
        assert names <= {*found["allow"], *found["ask"]}
        others = {*found["allow"], *found["ask"]} - names
        assert others == {"Read", "mcp__github__*", "WebFetch", "WebSearch"} - names
        assert max(map(len, names)) <= 64, "longer names are cut or refused by providers"


def test_a_hosts_lists_say_what_is_allowed_asked_and_denied(project: Engine) -> None:
    found = exported("claude-code")
    assert {"Read", "mcp__github__*", "mcp__prowess__event__message__publish"} <= set(found["allow"])
    assert {"WebFetch", "WebSearch", "mcp__prowess__pay__now"} <= set(found["ask"])
    assert "mcp__prowess__call_with_effects" in found["ask"], "it calls what is asked about"
    assert "mcp__prowess__discover_capabilities" in found["allow"]
    assert "Bash" in found["deny"]
    assert "shell" not in str(found) and "quiet" not in str(found)
    result = CliRunner().invoke(policy_command, ["export", "bob", "--for", "claude-cod"])
    assert isinstance(result.exception, NotFound)
    assert "did you mean 'claude-code'" in str(result.exception)
