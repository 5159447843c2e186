"""`check` over the API and in the library: no spelling of a name gets around a rule, or tells what exists."""

import unicodedata

import pytest
from starlette.testclient import TestClient

from prowess.engine import Engine
from prowess.errors import ApprovalNeeded, Denied
from prowess.testing import StaticSource, capability
from tests.support.stores import OpenEngine
from tests.support.web import app_of, as_agent

CAFE = "tool:s/caf\u00e9"
CAFE_APART = unicodedata.normalize("NFD", CAFE)
POLICY = """
profiles:
  wild:
    agents: [wil]
    additional_tools: ["*"]
    disallowed_tools: ["tool:zebra_vault", "tool:s/caf\u00e9", "event:door:open"]
    ask: ["tool:pay"]
  host:
    agents: [hal]
    additional_tools: [Read, "Bash(git:*)", "mcp__*", shared, "agent:spawn", "*"]
    disallowed_tools: ["tool:shared"]
  closed:
    agents: [cal]
    additional_tools: ["tool:files/../etc", "tool:files/%2e%2e/etc", "tool:plain", "tool:never_there"]
    disallowed_tools: ["*"]
  fenced:
    agents: [fay]
    additional_tools: ["tool:files/../etc", "tool:plain"]
    disallowed_tools: ["tool:files/*"]
  asked:
    agents: [amy]
    additional_tools: ["tool:files/../etc"]
    ask: ["tool:files/*"]
"""
TRICKS = (
    "zebra_vault",
    "tool:Zebra_Vault",
    "TOOL:zebra_vault",
    "tool:zebra_vault ",
    " tool:zebra_vault",
    "\ttool:zebra_vault\n",
    "tool: zebra_vault",
    "\u00a0tool:zebra_vault\u2003",
    "tool:zebra_vault\u200b",
    "tool:zebra\u200d_vault",
    "tool:zebra_v\u0430ult",
    "\uff54ool:zebra_vault",
    "tool:zebra_vault/",
    "tool:/zebra_vault",
    "tool:x/../zebra_vault",
    "tool:zebra%5fvault",
    "host:zebra_vault",
    "event:zebra_vault",
)
UNKNOWN = ("tool:nonexistent", "nonexistent", "skill:nonexistent", "own:nonexistent", "nonexistent:event")


@pytest.fixture
def engine(open_engine: OpenEngine) -> Engine:
    ids = ("tool:zebra_vault", "tool:plain", "tool:pay", "tool:shared", CAFE_APART)
    events = ("event:door:open", "event:door:close")
    climbing = ("tool:files/../etc", "tool:files/%2e%2e/etc")
    engine = open_engine(
        StaticSource(capabilities=[capability(id, "Does something") for id in (*ids, *events, *climbing)]),
        policy=POLICY,
    )
    engine.sync()
    return engine


@pytest.fixture
def wil(engine: Engine) -> TestClient:
    return as_agent(app_of(engine), "wil")


def asked(client: TestClient, id: str) -> tuple[int, str]:
    """The status, and what the answer says without the name that was asked about."""
    answer = client.post("/api/v1/agents/wil/check", json={"capability": id})
    return answer.status_code, answer.text.replace(_as_json(id), "ID").replace(id, "ID")


def _as_json(text: str) -> str:
    return text.encode("unicode_escape").decode()


def verdict(engine: Engine, agent: str, id: str) -> str:
    try:
        return engine.check(agent, id).verdict
    except Denied:
        return "deny"
    except ApprovalNeeded:
        return "ask"


@pytest.mark.parametrize("id", UNKNOWN)
def test_an_agent_cannot_tell_what_is_denied_from_what_does_not_exist(wil: TestClient, id: str) -> None:
    denied = asked(wil, "tool:zebra_vault")
    assert denied[0] == 403
    status, text = asked(wil, id)
    assert (status, text) == denied


@pytest.mark.parametrize("id", TRICKS)
def test_no_other_spelling_of_a_denied_name_is_let_through(engine: Engine, wil: TestClient, id: str) -> None:
    assert verdict(engine, "wil", id) == "deny"
    status, text = asked(wil, id)
    assert status in (403, 422) and "tool:zebra_vault" not in text


def test_a_bare_name_is_what_the_catalogue_calls_so(engine: Engine) -> None:
    assert verdict(engine, "wil", "plain") == verdict(engine, "wil", "tool:plain") == "allow"
    assert verdict(engine, "wil", " tool:plain\n") == "allow"
    assert verdict(engine, "wil", "pay") == "ask"
    assert verdict(engine, "wil", "door:close") == "allow"
    assert verdict(engine, "wil", "door:open") == "deny"
    (*_, last) = engine.journal.latest(5, agent="wil", type="decision")
    assert last.data["capability"] == "event:door:open"


def test_what_is_switched_off_is_refused_by_its_bare_name_too(engine: Engine) -> None:
    engine.providers.deactivate("static")
    assert verdict(engine, "wil", "tool:plain") == verdict(engine, "wil", "plain") == "deny"


def test_a_host_tool_is_allowed_where_a_rule_names_it(engine: Engine) -> None:
    named = ("Read", "host:Read", "Bash(git:*)", "agent:spawn", "event:agent:spawn", "mcp__github__read")
    assert {id: verdict(engine, "hal", id) for id in named} == dict.fromkeys(named, "allow")
    unnamed = ("Write", "host:Write", "agent:nonesuch")
    assert {id: verdict(engine, "hal", id) for id in unnamed} == dict.fromkeys(unnamed, "deny")


def test_a_name_that_a_host_and_the_catalogue_share_gets_the_stricter_verdict(engine: Engine) -> None:
    assert verdict(engine, "hal", "shared") == "deny"
    assert verdict(engine, "hal", "host:shared") == "allow"


def test_what_a_rule_names_and_nothing_provides_is_refused_unless_it_is_the_hosts(engine: Engine) -> None:
    assert verdict(engine, "cal", "tool:never_there") == "deny"
    assert "nothing" in engine.explain("hal", "tool:never_there")[-1]


@pytest.mark.parametrize("id", [CAFE, CAFE_APART, CAFE.partition(":")[2], CAFE_APART.partition(":")[2]])
def test_a_denial_meets_a_name_in_whatever_form_its_letters_are_written(engine: Engine, id: str) -> None:
    assert verdict(engine, "wil", id) == "deny"
    assert CAFE_APART not in [c.id for c in engine.catalogue.list("wil")]
    assert engine.check("hal", CAFE).verdict == "allow"


def test_a_denial_of_everything_denies_names_that_climb(engine: Engine) -> None:
    ids = ("tool:plain", "tool:files/../etc", "tool:files/%2e%2e/etc")
    assert {verdict(engine, "cal", id) for id in ids} == {"deny"}
    assert engine.catalogue.list("cal") == ()
    assert verdict(engine, "fay", "tool:files/../etc") == "deny"
    assert [c.id for c in engine.catalogue.list("fay")] == ["tool:plain"]
    assert verdict(engine, "amy", "tool:files/../etc") == "ask"
