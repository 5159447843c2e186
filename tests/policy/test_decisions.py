"""Decisions: live over the catalogue, the same everywhere, explained, and closed when in doubt."""

from dataclasses import replace
from pathlib import Path

import pytest

from prowess.policy.policy import Policy, Shift
from prowess.store.database import Database
from prowess.testing import capability
from prowess.types import SourceRef
from tests.support.policy import MESSAGES, Clock, existing, of, policy_of

WORKER = """
grants:
  mail: {description: Mail, event_patterns: ['mail:*'], requires: [state_read]}
profiles:
  worker:
    capabilities: {mail: true}
    disallowed_tools: ['mail:purge']
    ask: ['mail:send']
    pinned: ['mail:read', 'tool:hidden']
    agents: [bob]
"""


@pytest.fixture
def policy(database: Database, clock: Clock) -> Policy:
    return policy_of(database, clock, WORKER)


def test_a_new_event_that_matches_is_covered_at_once(policy: Policy) -> None:
    assert policy.decide("bob", "event:mail:archive", existing()).verdict == "allow"
    before = policy.allowed("bob", existing(version=1))
    after = policy.allowed("bob", existing("event:mail:new", version=2))
    assert after.allow - before.allow == {"event:mail:new"}


def test_a_handler_joins_the_grant_it_declares(policy: Policy) -> None:
    view = existing("event:post:stamp", stamp={"capability": "mail"})
    assert policy.decide("bob", "event:post:stamp", view).verdict == "allow"
    assert "event:post:stamp" in policy.allowed("bob", view).allow
    assert "declares that it belongs to grant 'mail'" in str(policy.explain("bob", "event:post:stamp", view))


def test_only_events_join_a_grant_by_themselves(policy: Policy) -> None:
    view = existing("tool:stamp", stamp={"capability": "mail"})
    assert policy.decide("bob", "tool:stamp", view).verdict == "deny"
    assert "tool:stamp" not in policy.allowed("bob", view).allow


def test_a_file_that_says_it_belongs_to_a_grant_does_not_join_it(policy: Policy) -> None:
    (claim,) = existing("event:post:stamp", stamp={"capability": "mail"}).capabilities.values()
    view = of([replace(claim, source_ref=SourceRef("manifests", "post/CAPABILITY.yaml"))])
    assert policy.decide("bob", "event:post:stamp", view).verdict == "deny"
    assert "event:post:stamp" not in policy.allowed("bob", view).allow


def test_an_unauthenticated_agent_is_denied_what_requires_authentication(policy: Policy) -> None:
    view = existing("event:mail:read", "event:mail:list", read={"requires_auth": True})
    assert policy.decide("bob", "event:mail:read", view, authenticated=True).verdict == "allow"
    denied = policy.decide("bob", "event:mail:read", view, authenticated=False)
    assert denied.verdict == "deny"
    assert "requires authentication" in denied.reason
    assert "event:mail:read" not in policy.allowed("bob", view, authenticated=False).allow
    assert "event:mail:list" in policy.allowed("bob", view, authenticated=False).allow


def test_an_explanation_follows_the_chain_from_the_agent_to_the_pattern(policy: Policy) -> None:
    assert policy.explain("bob", "event:state:get", existing()).steps == (
        "agent 'bob' has profile 'worker'",
        "profile 'worker' holds grant 'mail'",
        "grant 'mail' requires 'state_read'",
        "pattern 'state:get' of grant 'state_read' matches event:state:get",
        "allow: grant 'state_read' allows it",
    )


def test_an_explanation_names_the_override_that_removed_it(policy: Policy) -> None:
    found = policy.explain("bob", "event:mail:purge", existing())
    assert found.verdict == "deny"
    assert found.steps[-1] == "deny: profile 'worker' disallows 'mail:purge'"


def test_an_explanation_of_what_no_grant_mentions_names_the_nearest_grant_that_would(policy: Policy) -> None:
    assert policy.explain("bob", "event:message:publish", existing()).steps[-3:] == (
        "no grant mentions it",
        "the nearest grant that would is 'agent_messaging':"
        " prowess policy set worker capabilities.agent_messaging=true",
        "deny: no grant mentions it",
    )
    assert "the nearest is 'state_write' with 'state:set'" in str(
        policy.explain("bob", "event:stat:set", existing())
    )
    assert "no grant would" in str(policy.explain("bob", "tool:zzzzzzzz", existing()))


def test_an_explanation_names_what_dropped_the_grant_that_would(database: Database, clock: Clock) -> None:
    text = "profiles: {p: {level: read, capabilities: {state_write: true}, agents: [bob]}}"
    found = policy_of(database, clock, text).explain("bob", "event:state:set", existing())
    assert found.reason == "grant 'state_write' is at level write, above level read of profile 'p'"


def test_a_hosts_tool_is_decided_by_its_name_or_its_id(database: Database, clock: Clock) -> None:
    policy = policy_of(database, clock, "profiles: {p: {additional_tools: [Read], agents: [bob]}}")
    assert policy.decide("bob", "Read", existing()).verdict == "allow"
    assert policy.decide("bob", "host:Read", existing()).verdict == "allow"
    assert policy.decide("bob", "Write", existing()).verdict == "deny"


def test_a_person_may_call_an_event_by_its_name(policy: Policy) -> None:
    view = existing("event:mail:read", "own:thing")
    assert policy.explain("bob", "mail:read", view).id == "event:mail:read"
    assert policy.explain("bob", "own:thing", view).id == "own:thing"


def test_a_source_cannot_pass_a_capability_off_as_a_hosts_tool(database: Database, clock: Clock) -> None:
    policy = policy_of(database, clock, "profiles: {p: {additional_tools: [Read], agents: [bob]}}")
    view = of([capability("host:Read")])
    assert policy.decide("bob", "host:Read", view).verdict == "deny"
    assert "host:Read" not in policy.allowed("bob", view).allow


def test_pinned_capabilities_are_those_that_exist_and_are_allowed(policy: Policy) -> None:
    assert policy.pinned("bob", existing("event:mail:read", "tool:hidden")) == ("event:mail:read",)


def test_the_same_decision_is_remembered_until_something_changes(policy: Policy) -> None:
    view = existing("event:mail:read")
    first = policy.decide("bob", "event:mail:read", view)
    assert policy.decide("bob", "event:mail:read", view) is first
    assert policy.decide("bob", "event:mail:read", existing("event:mail:read", version=2)) is not first


def test_what_a_slower_thread_made_of_old_rules_is_not_believed(
    database: Database, clock: Clock, tmp_path: Path
) -> None:
    file = write(tmp_path / "policy.yaml", WORKER)
    policy = Policy(database, clock, [file])
    stale = policy.at(existing())
    write(file, "profiles: {worker: {agents: [bob]}}")
    policy.refresh()
    policy._moment = stale
    assert policy.decide("bob", "event:mail:read", existing()).verdict == "deny"


def test_trying_many_names_does_not_fill_the_memory(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prowess.policy.snapshot.REMEMBERED", 10)
    view = existing()
    for number in range(50):
        policy.decide("bob", f"tool:t{number}", view)
    assert len(policy.at(view)._decisions) <= 10


def test_a_sync_that_changes_what_a_profile_allows_is_told(policy: Policy) -> None:
    before = existing("event:mail:read", "tool:x", version=1)
    after = existing("event:mail:list", "tool:y", version=2)
    assert policy.shifts(before, after) == (Shift("worker", ("event:mail:list",), ("event:mail:read",)),)
    assert policy.shifts(before, existing("event:mail:read", version=2)) == ()


def test_an_agent_that_is_bound_to_nothing_has_only_what_comes_with_every_profile(policy: Policy) -> None:
    view = existing("event:mail:read", *MESSAGES)
    assert policy.allowed("stranger", view).allow == {"event:system:health", "event:system:help"}
    assert "bound to no profile" in str(policy.explain("stranger", "event:mail:read", view))
    assert policy.decide("", "event:mail:read", view).verdict == "deny"


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_policy_file_that_changes_is_taken_in_at_the_next_look(
    database: Database, clock: Clock, tmp_path: Path
) -> None:
    file = write(tmp_path / "policy.yaml", WORKER)
    policy = Policy(database, clock, [file])
    first = policy.revision
    assert policy.decide("bob", "event:mail:read", existing()).verdict == "allow"
    write(file, WORKER.replace("mail:purge", "mail:*"))
    policy.refresh()
    assert policy.decide("bob", "event:mail:read", existing()).verdict == "deny"
    assert policy.revision != first


@pytest.mark.parametrize(
    "broken", ["", "profiles: [", "profiles: {worker: {agents: [bob], unknown: 1}}", None]
)
def test_a_policy_that_vanishes_or_breaks_leaves_only_base_and_a_problem(
    database: Database, clock: Clock, tmp_path: Path, broken: str | None
) -> None:
    file = write(tmp_path / "policy.yaml", WORKER)
    policy = Policy(database, clock, [file])
    if broken is None:
        file.unlink()
    else:
        write(file, broken)
    policy.refresh()
    view = existing("event:mail:read")
    assert policy.allowed("bob", view).allow == {"event:system:health", "event:system:help"}
    (problem,) = (p for p in policy.problems(view) if p.severity == "error")
    assert "policy.yaml" in problem.place
    assert "only what comes with every profile" in problem.what
    assert "the policy cannot be used" in policy.explain("bob", "event:mail:read", view).steps[0]
    assert problem.remedy
    write(file, WORKER)
    policy.refresh()
    assert policy.decide("bob", "event:mail:read", view).verdict == "allow"


def test_half_a_policy_is_no_policy(database: Database, clock: Clock, tmp_path: Path) -> None:
    good = write(tmp_path / "good.yaml", WORKER)
    policy = Policy(database, clock, [good, tmp_path / "denials.yaml"])
    assert policy.decide("bob", "event:mail:read", existing()).verdict == "deny"


def test_a_broken_profile_leaves_its_agents_base_and_the_others_alone(
    database: Database, clock: Clock
) -> None:
    text = WORKER + "  broken: {capabilities: {mial: true}, agents: [eve]}\n"
    policy = policy_of(database, clock, text)
    assert policy.decide("bob", "event:mail:read", existing()).verdict == "allow"
    assert policy.allowed("eve", existing()).allow == {"event:system:health", "event:system:help"}
    assert "did you mean 'mail'?" in str(policy.explain("eve", "event:mail:read", existing()))
    assert [p.what for p in policy.problems(existing()) if p.severity == "error"] == ["unknown grant 'mial'"]


def test_a_broken_grant_that_comes_with_every_profile_leaves_the_built_in_base(
    database: Database, clock: Clock, tmp_path: Path
) -> None:
    file = write(tmp_path / "policy.yaml", "grants: {mine: {always_included: true, requires: [missing]}}")
    policy = Policy(database, clock, [file])
    assert policy.allowed("bob", existing()).allow == {"event:system:health", "event:system:help"}
    assert any("missing" in problem.what for problem in policy.problems(existing()))
