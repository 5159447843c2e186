"""A profile that a program writes for one child: bounded by its parent, kept in the store, gone with it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import prowess
from prowess.engine import Engine
from prowess.errors import Denied, PolicyError, ProwessError
from prowess.testing import StaticSource, capability

POLICY = """
profiles:
  lead:
    agents: [ada]
    capabilities: {spawn_agents: true, state_write: true}
    additional_tools: ["tool:read", "tool:send"]
    ask: ["tool:send"]
  reader: {additional_tools: ["tool:read"]}
"""
Opened = Callable[[], Engine]


@pytest.fixture
def opened(tmp_path: Path, store_url: str, request: pytest.FixtureRequest) -> Opened:
    """The same store, by as many programs as are wanted."""
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "prowess.toml").write_text('[policy]\nfiles = ["policy.yaml"]\n')
    tools = [capability(f"tool:{name}", f"Can {name}.") for name in ("read", "send", "drop")]

    def one() -> Engine:
        engine = prowess.open(
            store_url, config=str(tmp_path / "prowess.toml"), sources=[StaticSource(capabilities=tools)]
        )
        request.addfinalizer(engine.close)
        return engine

    return one


def verdicts(engine: Engine, agent: str) -> str:
    """What it may do with read, send, drop, and the state: a word for each."""
    ids = ("tool:read", "tool:send", "tool:drop", "event:state:set")
    engine.internals.policy.refresh()
    view = engine.catalogue.view()
    return " ".join(engine.internals.policy.decide(agent, id, view).verdict for id in ids)


def test_a_child_has_the_profile_that_was_written_for_it_in_every_process_until_it_is_gone(
    opened: Opened,
) -> None:
    engine = opened()
    engine.sync(vectors=False)
    child = engine.agents.spawn(
        "ada", "kid", {"description": "Only reads.", "additional_tools": ["tool:read"], "capabilities": {}}
    )
    assert (child.profile, child.parent) == ("agent:kid", "ada")
    assert verdicts(engine, "kid") == "allow deny deny deny"
    assert "profile 'agent:kid'" in "\n".join(engine.explain("kid", "tool:read"))

    *_, way_out, verdict = engine.explain("kid", "tool:send")
    assert way_out.endswith("spawn it again with another, after: prowess agent remove kid")
    assert verdict.startswith("deny")

    other = opened()
    assert verdicts(other, "kid") == "allow deny deny deny"
    assert other.agents.list()[-1].definition == child.definition
    assert other.policy.revision == engine.policy.revision

    other.agents.retire("kid")
    assert verdicts(engine, "kid") == "deny deny deny deny"
    engine.agents.spawn("ada", "kid", "reader")
    assert verdicts(other, "kid") == "allow deny deny deny"


def test_it_extends_profiles_of_the_files_and_follows_them(opened: Opened, tmp_path: Path) -> None:
    engine = opened()
    engine.sync(vectors=False)
    engine.agents.spawn("ada", "kid", {"extends": "reader", "capabilities": {"state_write": True}})
    assert verdicts(engine, "kid") == "allow deny deny allow"
    (tmp_path / "policy.yaml").write_text(POLICY.replace('reader: {additional_tools: ["tool:read"]}', ""))
    assert verdicts(engine, "kid") == "deny deny deny deny"
    assert any("agent 'kid'" in str(problem) and "reader" in str(problem) for problem in engine.diagnose())


def test_components_are_read_as_in_a_file(opened: Opened) -> None:
    engine = opened()
    engine.sync(vectors=False)
    parts = [
        {"name": "capabilities", "inline": {"state_write": True}},
        {"name": "rights", "inline": {"additional_tools": ["tool:read"]}},
    ]
    engine.agents.spawn("ada", "kid", {"name": "whatever", "components": parts})
    assert verdicts(engine, "kid") == "allow deny deny allow"


def test_it_never_exceeds_its_parent(opened: Opened) -> None:
    engine = opened()
    engine.sync(vectors=False)
    for said in (
        {"additional_tools": ["tool:drop"]},
        {"additional_tools": ["tool:*"]},
        {"capabilities": {"network_access": True}},
    ):
        with pytest.raises(Denied, match="profile 'agent:kid' exceeds the parent"):
            engine.agents.spawn("ada", "kid", said)
    assert [agent.name for agent in engine.agents.list()] == ["ada"]
    engine.agents.spawn("ada", "kid", {"additional_tools": ["tool:send"]})
    assert verdicts(engine, "kid") == "deny ask deny deny"  # the parent is asked, so the child is


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"additional_tool": []}, "unknown key 'additional_tool'; did you mean 'additional_tools'"),
        ({"extends": "reeder"}, "did you mean 'reader'"),
        ({"capabilities": {"state_reed": True}}, "did you mean 'state_read'"),
        ({"agents": ["eve"]}, "'agents' belongs in a policy file"),
        ({"override": True}, "'override' belongs in a policy file"),
        ({"additional_tools": [b"tool:read"]}, "additional_tools"),
    ],
)
def test_what_is_no_profile_is_refused_and_nobody_is_made(
    opened: Opened, said: dict[str, Any], error: str
) -> None:
    engine = opened()
    with pytest.raises(PolicyError) as caught:
        engine.agents.spawn("ada", "kid", said)
    assert error in str(caught.value)
    assert [agent.name for agent in engine.agents.list()] == ["ada"]


def test_the_journal_says_what_the_child_was_given(opened: Opened) -> None:
    engine = opened()
    engine.agents.spawn("ada", "kid", {"level": "read"})
    (entry,) = engine.journal.latest(type="agent.spawned")
    assert entry.data["definition"] == {"level": "read"}


def test_a_file_cannot_take_the_name_of_such_a_profile(opened: Opened, tmp_path: Path) -> None:
    engine = opened()
    with pytest.raises(ProwessError):
        engine.agents.spawn("ada", "kid", "agent:kid")
