"""`prowess policy`, `agent`, `approval` and `why`: data on stdout, words on stderr."""

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

import prowess
from prowess.cli.agent import command as agent_command
from prowess.cli.approval import command as approval_command
from prowess.cli.policy import command as policy_command
from prowess.cli.why import command as why_command
from prowess.errors import ProwessError
from prowess.policy.builtin_grants import owner_policy
from prowess.testing import StaticSource, capability
from tests.support.policy import DATA

BOOKED = [capability("tool:book_table", "Book a table."), capability("tool:hotel/list_rooms", "List rooms.")]
GRANTS = """
grants: {mail: {event_patterns: ['mail:send'], tools: [OpenMail], requires: [state_read], version: 2}}
profiles:
  clerk: {capabilities: {mail: true}, disallowed_tools: ['state:list']}
  other: {capabilities: {network_access: true}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, with nothing configured anywhere."""
    monkeypatch.chdir(tmp_path)
    for name in ("PROWESS_STORE", "PROWESS_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def run(command: click.Command, *arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def data(command: click.Command, *arguments: str) -> Any:
    result = run(command, *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
def grants(folder: Path) -> str:
    (folder / "grants.yaml").write_text(GRANTS)
    return "grants.yaml"


def test_resolve_prints_exactly_what_a_profile_allows(grants: str, folder: Path) -> None:
    found = data(policy_command, "resolve", "clerk", "--grants", grants)
    assert list(found) == [
        "profile", "allowed_events", "host_tools", "grants", "ask", "conditions", "limits",
        "level", "dropped", "providers", "review", "revision",
    ]  # fmt: skip
    assert found["allowed_events"] == ["mail:send", "state:get", "system:health", "system:help"]
    assert found["host_tools"] == ["OpenMail"]
    assert found["grants"] == ["base", "mail", "state_read"]
    assert (found["limits"], found["review"], found["profile"]) == ({}, [], "clerk")
    assert [path.name for path in folder.iterdir()] == ["grants.yaml"]


def test_a_grant_that_is_not_there_lists_those_that_are() -> None:
    result = run(policy_command, "what", "nope")
    assert "no grant named 'nope'; there are: agent_messaging, base" in str(result.exception)


def test_resolve_takes_a_profile_from_its_own_file() -> None:
    found = data(policy_command, "resolve", str(DATA / "after.yaml"))
    assert "custom:event" in found["allowed_events"]
    assert "agent:terminate" not in found["allowed_events"]


def test_resolve_speaks_to_people_too(grants: str) -> None:
    result = run(policy_command, "resolve", "clerk", "--grants", grants)
    assert "host tools: OpenMail" in result.stdout
    assert "profile clerk at revision" in result.stderr


def test_a_name_that_is_not_there_is_one_line_with_the_nearest(grants: str) -> None:
    result = run(policy_command, "resolve", "clrk", "--grants", grants)
    assert isinstance(result.exception, ProwessError)
    assert str(result.exception) == "no profile named 'clrk'; did you mean 'clerk'?"
    missing = run(policy_command, "resolve", "clerk", "--grants", "nowhere.yaml")
    assert "nowhere.yaml: cannot be read" in str(missing.exception)
    several = run(policy_command, "resolve", grants)
    assert "defines 2 profiles (clerk, other)" in str(several.exception)


def test_what_answers_what_a_grant_gives(grants: str) -> None:
    found = data(policy_command, "what", "mail", "--grants", grants)
    assert found["events"] == ["mail:send", "state:get", "state:list"]
    assert found["requires"] == ["state_read"]
    assert "Messages between agents" in run(policy_command, "what", "agent_messaging").stdout


def test_off_and_no_are_names_of_profiles(configured: Path) -> None:
    """YAML 1.2: only true and false are not text."""
    (configured / "policy.yaml").write_text(
        "profiles:\n  off: {agents: [no], additional_tools: [yes]}\n  on: {extends: off}\n"
    )
    assert run(policy_command, "check").exit_code == 0
    assert data(policy_command, "resolve", "off")["host_tools"] == ["yes"]
    assert data(policy_command, "resolve", "on")["host_tools"] == ["yes"]
    assert "profile 'off'" in run(why_command, "no", "yes").stdout
    assert run(policy_command, "set", "off", "level=read", "--yes").exit_code == 0
    assert (
        "  off: {agents: [no], additional_tools: [yes], level: read}"
        in (configured / "policy.yaml").read_text()
    )


def test_what_names_the_wildcards_that_match_nothing_yet(configured: Path) -> None:
    wild = "{event_patterns: ['message:*', 'state:*'], tools: ['mcp__*'], requires: [state_read]}"
    (configured / "wild.yaml").write_text(f"grants:\n  wild: {wild}\n")
    assert data(policy_command, "what", "wild", "--grants", "wild.yaml")["unmatched"] == [
        "message:*", "state:*", "mcp__*",
    ]  # fmt: skip
    with prowess.open(sources=[StaticSource(capabilities=[capability("event:message:send")])]) as engine:
        engine.sync(vectors=False)
    words = run(policy_command, "what", "wild", "--grants", "wild.yaml").stdout
    assert "  events: message:send, state:get, state:list\n" in words
    assert "  match nothing yet: state:*, mcp__*\n" in words


def test_check_says_how_a_tool_is_spelt_that_a_profile_names_as_the_hosts(configured: Path) -> None:
    with prowess.open(sources=[StaticSource(capabilities=BOOKED)]) as engine:
        engine.sync(vectors=False)
    names = "[book_table, list_rooms, 'host:book_table', Book_Table, unknown]"
    (configured / "names.yaml").write_text(f"profiles: {{p: {{additional_tools: {names}}}}}")
    found = run(policy_command, "check", "names.yaml")
    assert found.exit_code == 0
    told = [line for line in found.stdout.splitlines() if "additional_tools" in line]
    assert len(told) == 2
    assert "'book_table' matches nothing, and tool:book_table exists" in told[0]
    assert "did you mean 'tool:book_table'? For a host's own tool write 'host:book_table'" in told[0]
    assert "did you mean 'tool:hotel/list_rooms'?" in told[1]
    assert run(policy_command, "check", "names.yaml", "--strict").exit_code == 1


def test_diff_shows_what_changes(grants: str) -> None:
    found = data(policy_command, "diff", "clerk", "other", "--grants", grants)
    assert found["added"]["host_tools"] == ["WebFetch", "WebSearch"]
    assert found["removed"]["allowed_events"] == ["mail:send", "state:get"]
    assert found["versions"] == {"mail": "version 2"}
    words = run(policy_command, "diff", "clerk", "other", "--grants", grants)
    assert "- loses event mail:send" in words.stdout
    assert "+ gains host tool WebFetch, asking a person" in words.stdout
    assert "clerk and other differ" in words.stderr


def test_diff_compares_whole_files_projects_and_stores(configured: Path) -> None:
    (configured / "later.yaml").write_text(GRANTS.replace("tools: [OpenMail]", "tools: []") + "  third: {}\n")
    files = run(policy_command, "diff", "grants.yaml", "later.yaml", "--exit-code")
    assert files.exit_code == 1
    assert files.stdout.splitlines()[:3] == [
        "+ profile third",
        "profile clerk",
        "  - loses host tool OpenMail",
    ]
    assert run(policy_command, "diff", "grants.yaml", "grants.yaml", "--exit-code").exit_code == 0
    run(agent_command, "add", "bob", "--profile", "clerk")
    stores = run(policy_command, "diff", ".prowess/prowess.db", str(configured / "other.db"))
    assert stores.stdout == "~ agent bob: clerk -> no profile\n"
    (configured / "elsewhere").mkdir()
    (configured / "elsewhere" / "prowess.toml").write_text("")
    projects = run(policy_command, "diff", "prowess.toml", "elsewhere/prowess.toml")
    assert {"- profile clerk", "~ agent bob: clerk -> no profile"} <= set(projects.stdout.splitlines())


def test_resolve_groups_what_is_allowed_by_who_provides_it(
    configured: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(configured)
    (configured / "policy_hooks.py").write_text(
        "import prowess\n@prowess.event_handler('mail:send')\ndef send(data: dict): ...\n"
    )
    with (configured / "prowess.toml").open("a") as file:
        file.write('[[source]]\nname = "post"\ntype = "events"\nmodule = "policy_hooks"\n')
    with prowess.open() as engine:
        engine.sync(vectors=False)
    words = run(policy_command, "resolve", "clerk").stdout
    assert "  policy_hooks (1): mail:send\n" in words
    assert "  named, and provided by nothing yet: state:get, system:health, system:help\n" in words


def test_check_exits_1_on_errors_and_in_strict_mode_on_warnings(grants: str, folder: Path) -> None:
    assert run(policy_command, "check", grants).exit_code == 0
    (folder / "idle.yaml").write_text("profiles: {p: {ask: ['a:b']}}")
    assert run(policy_command, "check", "idle.yaml").exit_code == 0
    strict = run(policy_command, "check", "idle.yaml", "--strict", "--json")
    assert strict.exit_code == 1
    assert json.loads(strict.stdout)["problems"][0]["severity"] == "error"
    (folder / "broken.yaml").write_text("profiles: {p: {extends: q}}")
    broken = run(policy_command, "check", "broken.yaml")
    assert broken.exit_code == 1
    assert "extends unknown profile 'q'" in broken.stdout


def test_migrate_prints_a_policy_and_says_what_differs() -> None:
    result = run(policy_command, "migrate", str(DATA / "before.yaml"))
    assert "spawn_agents: true" in result.stdout
    assert "in no grant, kept as additional tools: conversation:create" in result.stderr
    assert "added by the grants: state:delete, system:help" in result.stderr
    found = data(policy_command, "migrate", str(DATA / "before.yaml"))
    assert found["in_no_grant"] == ["conversation:create"]


@pytest.fixture
def configured(folder: Path) -> Path:
    (folder / "prowess.toml").write_text('[policy]\nfiles = ["policy.yaml", "grants.yaml"]\n')
    (folder / "policy.yaml").write_text(owner_policy())
    (folder / "grants.yaml").write_text(GRANTS)
    return folder


def test_the_configured_files_are_in_force(configured: Path) -> None:
    assert data(policy_command, "resolve", "clerk")["host_tools"] == ["OpenMail"]
    assert data(policy_command, "resolve", "clerk", "--grants", "grants.yaml")["host_tools"] == ["OpenMail"]


def test_export_prints_a_hosts_own_lists(configured: Path) -> None:
    result = run(policy_command, "export", "default", "--for", "claude-code")
    permissions = json.loads(result.stdout)["permissions"]
    assert {"Bash", "OpenMail"} <= set(permissions["allow"])
    assert permissions["deny"] == []
    unknown = run(policy_command, "export", "defalt", "--for", "claude-code")
    assert "did you mean 'default'" in str(unknown.exception)


def test_why_prints_the_chain(configured: Path) -> None:
    for command, arguments in ((why_command, ()), (policy_command, ("why",))):
        result = run(command, *arguments, "nobody", "message:publish")
        assert "agent 'nobody' is bound to no profile" in result.stdout
        assert "profile 'owner' would allow it: prowess agent add nobody --profile owner" in result.stdout
        assert result.stdout.endswith("deny: no grant mentions it\n")


def test_agents_are_added_listed_and_removed(configured: Path) -> None:
    assert data(agent_command, "add", "bob", "--profile", "clerk")["profile"] == "clerk"
    run(agent_command, "add", "kid", "--profile", "clerk", "--parent", "default")
    found = data(agent_command, "list")
    assert [(one["name"], one["parent"]) for one in found] == [
        ("bob", ""),
        ("default", ""),
        ("kid", "default"),
    ]
    assert data(agent_command, "remove", "bob") == {"removed": ["bob"]}


def test_a_question_is_listed_and_answered(configured: Path) -> None:
    (configured / "policy.yaml").write_text(
        "profiles: {owner: {additional_tools: ['*', Bash], ask: ['*'], agents: [default]}}"
    )
    with prowess.open() as engine, pytest.raises(ProwessError, match="only after a person approves"):
        engine.check("default", "Bash")
    (asked,) = data(approval_command, "list")
    assert asked["capability"] == "host:Bash"
    assert run(approval_command, "answer", asked["id"]).exit_code == 2
    answered = data(approval_command, "answer", asked["id"], "--yes", "--by", "ann")
    assert answered["state"] == "approved"
    assert data(approval_command, "list") == []
    with prowess.open() as engine:
        assert engine.check("default", "Bash").verdict == "allow"


def test_a_review_is_recorded(configured: Path) -> None:
    assert run(policy_command, "review", "network_access", "--by", "ann").exit_code == 0


def test_why_ends_in_the_limit_that_refuses_another_child(configured: Path) -> None:
    lead = "{agents: [lena], capabilities: {spawn_agents: true}, limits: {max_children: 1}}"
    (configured / "policy.yaml").write_text(f"profiles:\n  lead: {lead}\n  kid: {{}}\n")
    child = ("--profile", "kid", "--parent", "lena", "--days", "0")
    assert run(why_command, "lena", "agent:spawn").stdout.splitlines()[-1].startswith("allow")
    assert run(agent_command, "add", "one", *child).exit_code == 0
    refused = run(agent_command, "add", "two", *child)
    assert "it has 1 child and max_children is 1" in str(refused.exception)
    said = run(why_command, "lena", "agent:spawn").stdout.splitlines()
    assert said[-1] == "deny: it has 1 child and max_children is 1"


@pytest.mark.parametrize("days", ["-1", "3651", "99999999999"])
def test_a_token_of_an_agent_lasts_ten_years_at_most_and_nothing_is_bound_when_asked_for_more(
    days: str, folder: Path
) -> None:
    (folder / "prowess.toml").touch()
    refused = run(agent_command, "add", "eve", "--profile", "owner", "--days", days)
    assert refused.exit_code == 2
    assert "0<=x<=3650" in refused.output
    assert data(agent_command, "list") == []
    assert run(agent_command, "access-token", "add", "eve", "--days", days).exit_code == 2
