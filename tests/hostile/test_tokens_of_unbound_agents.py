"""A token proves the agent it was issued for, never another one that got its name later."""

from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.store.opening import open_database
from prowess.testing import word_embedder
from tests.support.clock import SteppingClock
from tests.support.policy import Clock
from tests.support.stores import OpenEngine
from tests.support.web import HERE, app_of

EVE = "profiles: {clerk: {agents: [eve]}, boss: {additional_tools: ['*']}}"
NOBODY = "profiles: {clerk: {}, boss: {additional_tools: ['*']}}"
PROMOTED = "profiles: {clerk: {}, boss: {agents: [eve], additional_tools: ['*']}}"
EDITED = "profiles: {clerk: {agents: [ada, eve], additional_tools: ['tool:read']}, boss: {agents: [bob]}}"

State = Callable[[str], None]


@pytest.fixture
def engine(open_engine: OpenEngine) -> Engine:
    return open_engine(policy=EVE)


@pytest.fixture
def policy_is(tmp_path: Path) -> State:
    """Write the policy file anew, as somebody does in an editor."""
    versions = iter(range(1, 100))

    def write(text: str) -> None:
        # A different length each time, since a quick edit may keep the time of the file.
        (tmp_path / "policy.yaml").write_text(text + "\n" * next(versions))

    return write


def proves(engine: Engine, token: str) -> str:
    """The agent for which the API takes a token, over HTTP."""
    client = TestClient(app_of(engine), base_url=HERE, headers={"Authorization": f"Bearer {token}"})
    answer = client.get("/api/v1/agents/eve/capabilities")
    assert answer.status_code in (200, 401)
    return "eve" if answer.status_code == 200 else ""


def ended(engine: Engine) -> list[bool]:
    return [token.revoked_at != "" for token in engine.tokens.list()]


def test_a_token_stays_dead_when_its_name_is_bound_again_by_a_file(engine: Engine, policy_is: State) -> None:
    token = engine.tokens.issue("eve").text
    assert proves(engine, token) == "eve"
    policy_is(NOBODY)
    assert proves(engine, token) == ""
    policy_is(PROMOTED)
    assert proves(engine, token) == ""
    policy_is(EVE)
    assert proves(engine, token) == ""
    assert proves(engine, engine.tokens.issue("eve").text) == "eve"


def test_a_token_dies_when_any_process_reads_that_nobody_binds_its_agent(
    engine: Engine, open_engine: OpenEngine, policy_is: State
) -> None:
    token = engine.tokens.issue("eve").text
    open_engine(policy=NOBODY).find("anything")
    policy_is(EVE)
    assert proves(engine, token) == "" and ended(engine) == [True]


def test_a_name_that_got_another_profile_while_nobody_looked_is_another_agent(
    engine: Engine, policy_is: State
) -> None:
    token = engine.tokens.issue("eve").text
    policy_is(NOBODY)
    policy_is(PROMOTED)
    assert proves(engine, token) == ""
    policy_is(EVE)
    assert proves(engine, token) == ""


def test_a_token_lives_through_edits_that_keep_its_agent_in_its_profile(
    engine: Engine, policy_is: State
) -> None:
    token = engine.tokens.issue("eve").text
    for text in (EDITED, EVE, EDITED):
        policy_is(text)
        assert proves(engine, token) == "eve"


def test_a_policy_that_cannot_be_read_closes_the_door_and_ends_no_token(
    engine: Engine, policy_is: State, tmp_path: Path
) -> None:
    token = engine.tokens.issue("eve").text
    policy_is("profiles: [")
    assert proves(engine, token) == ""
    (tmp_path / "policy.yaml").unlink()
    assert proves(engine, token) == ""
    policy_is(EVE)
    assert proves(engine, token) == "eve"


def test_another_configuration_on_the_same_store_ends_no_token_it_was_not_shown(
    engine: Engine, store_url: str, tmp_path: Path, clock: SteppingClock
) -> None:
    token = engine.tokens.issue("eve").text
    engine.agents.bind("root", "clerk")
    stored = engine.tokens.issue("root").text
    elsewhere = tmp_path / "elsewhere.yaml"
    elsewhere.write_text(NOBODY)
    options = EngineOptions(policy_files=(elsewhere,), embedder=word_embedder)
    other = Engine(open_database(store_url, tmp_path), (), clock, {}, options)
    try:
        other.find("anything")
        assert proves(engine, token) == "eve"
        assert other.tokens.holder(stored) == engine.tokens.holder(stored) == "root"
    finally:
        other.close()


def test_the_tokens_of_children_die_with_the_agent_they_have_their_authority_from(
    open_engine: OpenEngine, policy_is: State
) -> None:
    parent = "profiles: {chief: {agents: [%s], capabilities: {spawn_agents: true}}, kid: {}}"
    engine = open_engine(policy=parent % "eve")
    engine.agents.spawn("eve", "kid-1", "kid")
    token = engine.tokens.issue("kid-1").text
    assert engine.tokens.holder(token) == "kid-1"
    policy_is(parent % "")
    engine.agents.list()
    policy_is(parent % "eve")
    assert engine.tokens.holder(token) == ""


def test_removing_an_agent_ends_its_tokens_also_when_the_clock_stands_still(
    store_url: str, tmp_path: Path
) -> None:
    clock = Clock(SteppingClock().now)
    (tmp_path / "policy.yaml").write_text(EVE)
    options = EngineOptions(policy_files=(tmp_path / "policy.yaml",), embedder=word_embedder)
    engine = Engine(open_database(store_url, tmp_path), (), clock, {}, options)
    try:
        engine.agents.bind("bob", "clerk")
        token = engine.tokens.issue("bob").text
        assert engine.tokens.holder(token) == "bob"
        engine.agents.retire("bob")
        engine.agents.bind("bob", "clerk")
        assert engine.tokens.holder(token) == ""
    finally:
        engine.close()


def test_the_journal_says_why_a_token_ended(engine: Engine, policy_is: State) -> None:
    engine.tokens.issue("eve")
    policy_is(NOBODY)
    engine.agents.list()
    (entry,) = [e for e in engine.journal.latest(20) if e.type == "token.revoked"]
    assert entry.chain == "eve" and "no longer bound" in str(entry.data["why"])


def test_tokens_of_an_earlier_version_keep_working_until_their_agent_goes(
    store_url: str, tmp_path: Path, clock: SteppingClock, policy_is: State, open_engine: OpenEngine
) -> None:
    engine = open_engine(policy=EVE)
    token = engine.tokens.issue("eve")
    with engine.internals.database.writing() as transaction:
        transaction.run("UPDATE agent_token SET binding = '', policy = ''")
    later = open_engine(policy=EVE)
    assert later.tokens.holder(token.text) == "eve"
    policy_is(PROMOTED)
    assert later.tokens.holder(token.text) == ""
