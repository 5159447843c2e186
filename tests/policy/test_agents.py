"""Agents: bound to profiles, never above their parents, counted across restarts."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from prowess.catalogue.view import View
from prowess.errors import Denied, NotFound, PolicyError, ProwessError
from prowess.policy.agents import Agent
from prowess.policy.approvals import ApprovalAnswer
from prowess.policy.policy import Policy
from prowess.store.database import Database
from tests.support.policy import MESSAGES, Clock, existing, policy_of

POLICY = """
profiles:
  lead:
    capabilities: {spawn_agents: true, state_write: true, multi_agent_todo: true}
    limits: {max_children: 2}
    agents: [root]
  helper: {capabilities: {state_read: true}}
  spawner: {capabilities: {spawn_agents: true}, limits: {max_children: 2}}
  greedy: {capabilities: {state_read: true}, additional_tools: ['tool:shell']}
  wild: {additional_tools: ['secret:*']}
  webby: {capabilities: {network_access: true}}
  many: {capabilities: {spawn_agents: true}, limits: {max_children: 5}}
  quiet: {capabilities: {agent_messaging: true}, disallowed_tools: ['message:*'], agents: [mute]}
"""
VIEW = existing("tool:shell", *MESSAGES)


@pytest.fixture
def policy(database: Database, clock: Clock) -> Policy:
    return policy_of(database, clock, POLICY)


def spawn(database: Database, policy: Policy, parent: str, name: str, profile: str) -> Agent:
    with database.writing() as transaction:
        child = policy.spawn(transaction, parent, name, profile, VIEW)
    policy.refresh()
    return child


def retire(database: Database, policy: Policy, name: str) -> tuple[str, ...]:
    with database.writing() as transaction:
        gone = policy.retire(transaction, name)
    policy.refresh()
    return gone


def bind(database: Database, policy: Policy, name: str, profile: str) -> Agent:
    with database.writing() as transaction:
        agent = policy.bind(transaction, name, profile)
    policy.refresh()
    return agent


def refusal(database: Database, policy: Policy, parent: str, name: str, profile: str) -> str:
    with pytest.raises(Denied) as caught:
        spawn(database, policy, parent, name, profile)
    assert name not in {agent.name for agent in policy.agents()}
    return caught.value.decision.reason


def test_a_person_binds_a_name_to_a_profile(database: Database, policy: Policy) -> None:
    bind(database, policy, "bob", "helper")
    assert policy.decide("bob", "event:state:get", VIEW).verdict == "allow"
    assert [agent.name for agent in policy.agents()] == ["bob", "mute", "root"]


def test_names_and_profiles_that_cannot_be_used_are_refused(database: Database, policy: Policy) -> None:
    with pytest.raises(NotFound, match="did you mean 'helper'"):
        bind(database, policy, "bob", "helpr")
    with pytest.raises(PolicyError, match="not a name for an agent"):
        bind(database, policy, "bo b\n", "helper")
    bind(database, policy, "bob", "helper")
    with pytest.raises(PolicyError, match="exists already"):
        bind(database, policy, "bob", "lead")
    with pytest.raises(NotFound, match="no agent named 'nobody'"):
        spawn(database, policy, "nobody", "x", "helper")
    with pytest.raises(NotFound, match="no agent named 'nobody'"):
        retire(database, policy, "nobody")
    with pytest.raises(PolicyError, match="take it out of 'agents' there"):
        retire(database, policy, "root")


def test_a_child_takes_no_name_that_a_policy_file_binds(database: Database, policy: Policy) -> None:
    with pytest.raises(PolicyError, match="bound by a policy file"):
        spawn(database, policy, "root", "mute", "helper")


def test_the_number_of_children_is_limited_and_a_retired_child_makes_room(
    database: Database, policy: Policy
) -> None:
    spawn(database, policy, "root", "a", "helper")
    spawn(database, policy, "root", "b", "helper")
    assert refusal(database, policy, "root", "c", "helper") == "it has 2 children and max_children is 2"
    assert retire(database, policy, "a") == ("a",)
    assert spawn(database, policy, "root", "c", "helper").parent == "root"


def test_the_count_of_children_survives_a_restart(database: Database, policy: Policy, clock: Clock) -> None:
    spawn(database, policy, "root", "a", "helper")
    spawn(database, policy, "root", "b", "helper")
    again = policy_of(database, clock, POLICY)
    assert "max_children is 2" in refusal(database, again, "root", "c", "helper")


def test_two_spawns_at_once_do_not_share_the_last_place(database: Database, clock: Clock) -> None:
    def attempt(number: int) -> bool:
        policy = policy_of(database, clock, POLICY)
        try:
            spawn(database, policy, "root", f"child{number}", "helper")
        except ProwessError:
            return False
        return True

    with ThreadPoolExecutor(6) as workers:
        assert sum(workers.map(attempt, range(12))) == 2


def test_depth_below_an_agent_is_limited_all_the_way_down(database: Database, policy: Policy) -> None:
    spawn(database, policy, "root", "one", "spawner")
    spawn(database, policy, "one", "two", "spawner")
    assert policy.limits("one", VIEW)["max_depth"] == 1
    assert "max_depth is reached" in refusal(database, policy, "two", "three", "helper")


def test_retiring_an_agent_retires_everyone_below_it(database: Database, policy: Policy) -> None:
    spawn(database, policy, "root", "one", "spawner")
    spawn(database, policy, "one", "two", "spawner")
    assert retire(database, policy, "one") == ("one", "two")
    assert [agent.name for agent in policy.agents()] == ["mute", "root"]


@pytest.mark.parametrize(
    ("profile", "what"),
    [
        ("greedy", "tool:shell"),
        ("wild", "secret:*"),
        ("webby", "host:WebFetch"),
        ("many", "max_children 5 (the parent has 2)"),
    ],
)
def test_a_profile_that_exceeds_the_parent_is_refused(
    database: Database, policy: Policy, profile: str, what: str
) -> None:
    assert what in refusal(database, policy, "root", "x", profile)


def test_a_child_loses_what_its_parent_loses(database: Database, policy: Policy, clock: Clock) -> None:
    spawn(database, policy, "root", "kid", "helper")
    assert policy.decide("kid", "event:state:get", VIEW).verdict == "allow"
    narrower = POLICY.replace(
        "limits: {max_children: 2}\n    agents", "disallowed_tools: ['state:get']\n    agents"
    )
    later = policy_of(database, clock, narrower)
    found = later.explain("kid", "event:state:get", VIEW)
    assert found.verdict == "deny"
    assert found.steps[0] == "agent 'kid' descends from 'root', whom it never exceeds"
    assert "event:state:get" not in later.allowed("kid", VIEW).allow


def test_a_child_of_an_agent_that_asks_asks_too(database: Database, clock: Clock) -> None:
    text = POLICY.replace(
        "max_children: 2}\n    agents", "max_children: 2}\n    ask: ['state:get']\n    agents"
    )
    policy = policy_of(database, clock, text)
    spawn(database, policy, "root", "kid", "helper")
    assert policy.decide("kid", "event:state:get", VIEW).verdict == "ask"
    assert "event:state:get" in policy.allowed("kid", VIEW).ask


def test_an_agent_that_may_spawn_only_with_approval_spawns_after_it(database: Database, clock: Clock) -> None:
    text = POLICY.replace(
        "max_children: 2}\n    agents", "max_children: 2}\n    ask: ['agent:spawn']\n    agents"
    )
    policy = policy_of(database, clock, text)
    refusal(database, policy, "root", "kid", "helper")
    with database.writing() as transaction:
        settled = policy.settle(transaction, "root", "event:agent:spawn", VIEW)
        assert settled.approval is not None
        policy.answer(transaction, settled.approval.id, ApprovalAnswer(yes=True, by="ann"))
    assert spawn(database, policy, "root", "kid", "helper").name == "kid"


def test_an_agent_added_by_one_process_is_seen_by_another(
    database: Database, policy: Policy, clock: Clock
) -> None:
    other = policy_of(database, clock, POLICY)
    bind(database, policy, "bob", "helper")
    other.refresh()
    assert other.decide("bob", "event:state:get", VIEW).verdict == "allow"


def test_a_spawn_that_is_rolled_back_never_happened(database: Database, policy: Policy) -> None:
    with pytest.raises(RuntimeError), database.writing() as transaction:
        policy.spawn(transaction, "root", "kid", "helper", VIEW)
        raise RuntimeError
    policy.refresh()
    assert "kid" not in {agent.name for agent in policy.agents()}


def test_the_stores_binding_wins_over_the_files_and_doctor_says_so(
    database: Database, policy: Policy
) -> None:
    bind(database, policy, "root", "helper")
    assert policy.decide("root", "event:agent:spawn", VIEW).verdict == "deny"
    assert any("the store wins" in problem.what for problem in policy.problems(VIEW))


def test_an_agent_whose_profile_is_gone_has_base_and_is_a_problem(
    database: Database, policy: Policy, clock: Clock
) -> None:
    bind(database, policy, "bob", "helper")
    later = policy_of(database, clock, "profiles: {other: {}}")
    assert later.allowed("bob", VIEW).allow == {"event:system:health", "event:system:help"}
    (problem,) = later.problems(VIEW)
    assert problem.place == "agent 'bob'"


INTENSIVE = """
profiles:
  lead:
    capabilities: {spawn_agents: true}
    additional_tools: ['job:*']
    limits: {max_resource_intensive: 2}
    agents: [root]
  helper: {additional_tools: ['job:*'], limits: {max_resource_intensive: 1}}
"""


def heavy() -> View:
    return existing("event:job:run", "event:job:look", run={"resource_intensive": True})


def use(database: Database, policy: Policy, agent: str, id: str = "event:job:run") -> str:
    with database.writing() as transaction:
        return policy.settle(transaction, agent, id, heavy()).decision.verdict


def test_uses_of_what_is_resource_intensive_count_against_the_limit_for_an_hour(
    database: Database, clock: Clock
) -> None:
    policy = policy_of(database, clock, INTENSIVE)
    assert [use(database, policy, "root") for _ in range(3)] == ["allow", "allow", "deny"]
    assert use(database, policy, "root", "event:job:look") == "allow"
    again = policy_of(database, clock, INTENSIVE)
    assert use(database, again, "root") == "deny"
    clock.pass_by(minutes=61)
    assert use(database, again, "root") == "allow"


def test_a_childs_uses_count_against_its_parent_too(database: Database, clock: Clock) -> None:
    policy = policy_of(database, clock, INTENSIVE)
    spawn(database, policy, "root", "kid", "helper")
    assert [use(database, policy, "kid") for _ in range(2)] == ["allow", "deny"]
    assert [use(database, policy, "root") for _ in range(2)] == ["allow", "deny"]
    with database.writing() as transaction:
        decision = policy.settle(transaction, "kid", "event:job:run", heavy()).decision
    assert decision.reason == "max_resource_intensive of agent 'kid' is reached: 1 uses an hour"
