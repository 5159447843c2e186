"""Capability mapping: a few words say what an agent may use, and everything follows from them."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import prowess
from prowess.cli.main import prowess as program
from prowess.engine import Engine
from prowess.errors import ApprovalNeeded, Denied, PolicyError, ProwessError
from tests.seeds.conftest import write
from tests.support.clock import SteppingClock

ROOM = "Capability mapping"
Ruled = Callable[[str], Engine]
BASE = {"system:health", "system:help"}


def allowed(engine: Engine, profile: str) -> set[str]:
    return set(engine.policy.resolve(profile).allowed_events)


@pytest.fixture
def ruled(tmp_path: Path, project: Path) -> Iterator[Ruled]:
    """Opens the events of the project under a policy of its own."""
    opened: list[Engine] = []

    def open_one(policy: str) -> Engine:
        source = '[[source]]\ntype = "events"\nname = "events"\nmodule = "seed_office"\n'
        write(
            tmp_path, {"policy.yaml": policy, "prowess.toml": f'{source}[policy]\nfiles = ["policy.yaml"]\n'}
        )
        engine = prowess.open(config=str(tmp_path / "prowess.toml"), environment={}, clock=SteppingClock())
        opened.append(engine)
        engine.sync(vectors=False)
        return engine

    yield open_one
    for engine in opened:
        engine.close()


# --- handlers ----------------------------------------------------------------------------------------


def test_a_handler_says_what_it_belongs_to(office: Engine) -> None:
    """A decorated handler is an event with a description, a grant, and whether the agent must be known."""
    one = office.catalogue.get("event:message:publish")
    assert one.description == "Publish to a channel"
    assert "message:publish" in allowed(office, "base_multi_agent")
    with pytest.raises(Denied):
        office.check("worker", "event:message:publish", authenticated=False)


def test_a_handler_that_costs_much_says_so(office: Engine) -> None:
    """A handler may be marked as costly.

    Better: how often an agent may use costly ones is limited.
    """
    assert office.catalogue.get("event:agent:spawn").metadata["resource_intensive"] is True


# --- what is defined from the beginning --------------------------------------------------------------


@pytest.mark.parametrize(
    ("grant", "gives"),
    [
        pytest.param("base", BASE, id="base: health and help"),
        pytest.param("state_read", {"state:get", "state:list"}, id="state_read: get and list"),
        pytest.param("state_write", {"state:set", "state:delete", "state:get", "state:list"},
                     id="state_write: set and delete, and what it requires"),
        pytest.param("agent_messaging", {"agent:send_message", "conversation:active", "message:publish"},
                     id="agent_messaging: all messages, and talking to one agent"),
        pytest.param("spawn_agents", {"agent:spawn", "agent:terminate", "agent:list", "agent:status"},
                     id="spawn_agents: children from beginning to end"),
        pytest.param("multi_agent_todo", {"TodoRead", "TodoWrite"}, id="multi_agent_todo: a host's tasks"),
        pytest.param("network_access", {"WebFetch", "WebSearch"}, id="network_access: a host's web tools"),
    ],
)  # fmt: skip
def test_the_grants_that_are_there(ruled: Ruled, grant: str, gives: set[str]) -> None:
    """The seven bundles of the design are built in."""
    engine = ruled(f"profiles: {{p: {{capabilities: {{{grant}: true}}, agents: [ada]}}}}")
    found = engine.policy.resolve("p")
    assert gives <= {*found.allowed_events, *found.host_tools}


def test_base_is_always_there(office: Engine) -> None:
    """Every profile has base, whatever it says."""
    assert all(allowed(office, name) >= BASE for name in ("base_multi_agent", "explicit", "reader"))


def test_network_access_waits_for_a_review(office: Engine) -> None:
    """What needs a security review says so.

    Better: until an admin has recorded one, a person is asked at every use.
    """
    found = office.policy.resolve("reader")
    assert (found.review, found.ask) == (("network_access",), ("WebFetch", "WebSearch"))
    with pytest.raises(ApprovalNeeded):
        office.check("reader", "WebFetch")


def test_children_are_limited(office: Engine) -> None:
    """Who may create agents has at most 5 children, 2 levels deep.

    Better: the limits are held at every use, and a child never may more than its parent.
    """
    assert office.policy.limits("worker") == {"max_children": 5, "max_depth": 2}


# --- what follows from it ------------------------------------------------------------------------------


def test_a_profile_with_three_words_gives_the_whole_list(office: Engine) -> None:
    """A profile of three capabilities and two overrides gives what a long list said by hand."""
    by_hand = {
        "system:health", "state:get", "state:set", "state:list", "agent:spawn", "agent:list", "agent:status",
        "agent:send_message", "conversation:active", "message:subscribe", "message:publish",
    }  # fmt: skip
    found = allowed(office, "base_multi_agent")
    assert by_hand <= found and "custom:event" in found and "agent:terminate" not in found


def test_a_wildcard_is_what_there_is(ruled: Ruled) -> None:
    """A wildcard stands for the events that exist.

    Better: it follows the catalogue at every decision, so that nothing has to be expanded again.
    """
    engine = ruled("profiles: {p: {additional_tools: ['message:*'], agents: [ada]}}")
    assert allowed(engine, "p") == {*BASE, "message:publish", "message:subscribe"}


def test_what_is_required_comes_with_it(office: Engine) -> None:
    """What a capability requires is included, and what that requires.

    Better: circles and names that do not exist are errors with the nearest name.
    """
    assert {"state:get", "state:list"} <= allowed(office, "base_multi_agent")


def test_false_gives_nothing(ruled: Ruled) -> None:
    """A capability that is set to false gives nothing."""
    engine = ruled("profiles: {p: {capabilities: {state_write: false}, agents: [ada]}}")
    assert allowed(engine, "p") == BASE


def test_overrides_add_and_take_away(ruled: Ruled) -> None:
    """A profile may add tools and take some away; taking away wins."""
    text = "profiles: {p: {additional_tools: ['state:get', 'state:set'], disallowed_tools: ['state:set']}}"
    assert allowed(ruled(text), "p") == {*BASE, "state:get"}


def test_profiles_as_components_load_as_they_are(ruled: Ruled) -> None:
    """Profiles written as components, before and after, load as they are."""
    engine = ruled(
        "name: base_multi_agent\ncomponents:\n"
        "  - {name: capabilities, inline: {state_write: true}}\n"
        "  - name: tool_overrides\n"
        "    inline: {additional_tools: ['custom:event'], disallowed_tools: ['state:set']}\n"
    )
    assert allowed(engine, "base_multi_agent") == {
        *BASE,
        "state:get",
        "state:list",
        "state:delete",
        "custom:event",
    }


def test_an_explicit_list_still_works(office: Engine) -> None:
    """A profile with an explicit list goes on working."""
    assert allowed(office, "explicit") == {*BASE, "state:get", "message:publish"}


def test_an_agent_gets_what_its_profile_gives(office: Engine) -> None:
    """An agent has exactly what its profile comes to, at every offer and at every use."""
    office.check("worker", "event:state:set")
    with pytest.raises(Denied):
        office.check("lister", "event:state:set")


def test_the_tools_of_an_agent_are_made_from_its_events(office: Engine) -> None:
    """The tools that are served to an agent are made from the events it may use."""
    names = {tool["name"] for tool in office.definitions("lister")}
    assert any("state__get" in name for name in names) and not any("state__set" in name for name in names)


def test_a_host_gets_its_own_lists(project: Path, office: Engine) -> None:
    """A host's own tools come out of the same profile, as a list in its words."""
    said = CliRunner().invoke(
        program,
        ["--config", str(project / "prowess.toml"), "policy", "export", "reader", "--for", "claude-code"],
    )
    assert said.exit_code == 0, said.stderr
    assert "WebFetch" in json.dumps(json.loads(said.stdout))


# --- what it is good for ---------------------------------------------------------------------------------


def test_what_a_capability_gives_can_be_asked(project: Path, office: Engine) -> None:
    """What a capability gives can be asked."""
    said = CliRunner().invoke(
        program, ["--config", str(project / "prowess.toml"), "policy", "what", "agent_messaging"]
    )
    assert said.exit_code == 0 and "message:publish" in said.stdout


def test_why_can_be_asked(project: Path, office: Engine) -> None:
    """Why an agent may use something or may not is told step by step; not asked for."""
    steps = " ".join(office.explain("worker", "event:agent:terminate"))
    assert "deny" in steps or "denied" in steps or "disallowed" in steps


def test_an_old_list_becomes_capabilities(project: Path, office: Engine) -> None:
    """An explicit list can be turned into capabilities, one profile after the other."""
    said = CliRunner().invoke(
        program, ["--config", str(project / "prowess.toml"), "policy", "migrate", "explicit", "--exact"]
    )
    assert said.exit_code == 0, said.stderr


def test_an_unknown_capability_is_an_error(ruled: Ruled) -> None:
    """A capability that is not defined is an error that names the nearest one; the design passed over it."""
    with pytest.raises((PolicyError, ProwessError), match="agent_messaging"):
        ruled("profiles: {p: {capabilities: {agent_mesaging: true}}}").policy.resolve("p")


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        pytest.param("read", {"state:get", "state:list"}, id="an agent that only reads"),
        pytest.param(
            "write", {"state:get", "state:list", "state:set", "state:delete"}, id="an agent that writes, too"
        ),
    ],
)
def test_levels(ruled: Ruled, level: str, expected: set[str]) -> None:
    """Capabilities have levels; the design only asked whether they should."""
    engine = ruled(f"profiles: {{p: {{capabilities: {{state_write: true}}, level: {level}, agents: [ada]}}}}")
    assert allowed(engine, "p") - BASE == expected


def test_versions_are_by_content(office: Engine) -> None:
    """How tools change as events are added can be seen; the design only asked how.

    Better: everything is versioned by its content, and each decision names the revision it was made under.
    """
    assert office.decide("worker", "event:state:set").revision == office.policy.revision
    assert (
        office.catalogue.history("event:state:set")[0].digest
        == office.catalogue.get("event:state:set").digest
    )
