"""A policy is changed by a command: seen before it is made, held to the letter, journalled and taken back."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import prowess
from prowess.cli.policy import command as policy_command
from prowess.engine import Engine
from prowess.errors import Denied, NotFound, Outdated, PolicyError
from prowess.sources.python.functions import Functions
from prowess.sources.source import Source
from prowess.testing import StaticSource, capability

POLICY = """\
# what clerks may
grants:
  billing: {event_patterns: ["tool:crm/*"], level: write}
profiles:
  researcher:        # only reads
    level: read
    capabilities: {state_read: true}
    agents: [ada]
  clerk: {extends: researcher, disallowed_tools: ["tool:crm/delete"], agents: [cal]}
tests:
  - {agent: ada, use: "tool:crm/list", expect: deny}
"""
IDS = ("tool:crm/list", "tool:crm/delete", "tool:pay")


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store_url: str) -> Iterator[Engine]:
    """The engine of a folder that commands work in, too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROWESS_STORE", store_url)
    Path("policy.yaml").write_text(POLICY)
    Path("prowess.toml").write_text('[policy]\nfiles = ["policy.yaml"]\n')
    with opened() as engine:
        yield engine


def opened(*sources: Source) -> Engine:
    """Its engine as it is configured now."""
    engine = prowess.open(sources=sources or [StaticSource(capabilities=[capability(id) for id in IDS])])
    engine.sync(vectors=False)
    return engine


def run(*arguments: str, answer: str = "") -> Result:
    """A command under `prowess policy`."""
    return CliRunner().invoke(policy_command, arguments, input=answer)


def test_the_advice_of_why_followed_to_the_letter_works(engine: Engine) -> None:
    for agent, id in (("ada", "tool:crm/list"), ("cal", "tool:crm/delete"), ("cal", "tool:pay")):
        steps = engine.explain(agent, id)
        assert steps[-1].startswith("deny: ")
        commands = [part for step in steps for part in step.split("; then: ") if "prowess policy set" in part]
        assert commands, steps
        for line in commands:
            words = shlex.split(line[line.index("prowess policy set") :])
            assert run(*words[2:], "--yes").exit_code == 0
        assert engine.explain(agent, id)[-1].startswith("allow: ")
        assert engine.check(agent, id).verdict == "allow"
    assert Path("policy.yaml").read_text().startswith("# what clerks may\n")
    assert "researcher:        # only reads" in Path("policy.yaml").read_text()


def test_a_change_is_shown_before_it_is_made_and_made_only_when_a_person_says_so(engine: Engine) -> None:
    refused = run("set", "researcher", "additional_tools+=tool:pay", answer="n\n")
    assert refused.exit_code == 1
    assert '+    additional_tools: ["tool:pay"]' in refused.stdout
    assert "profile clerk\n    + gains tool:pay" in refused.stderr
    assert Path("policy.yaml").read_text() == POLICY
    assert run("set", "researcher", "additional_tools+=tool:pay", answer="y\n").exit_code == 0
    assert engine.check("cal", "tool:pay").verdict == "allow"
    (entry,) = engine.journal.latest(type="policy.changed")
    assert entry.data["changes"] == ["additional_tools+=tool:pay"]
    assert entry.data["by"]


def test_changes_are_taken_back_one_after_the_other(engine: Engine) -> None:
    run("set", "researcher", "additional_tools+=tool:pay", "--yes")
    between = Path("policy.yaml").read_text()
    run("set", "clerk", "ask+=tool:pay", "--yes")
    back = run("undo", "--yes")
    assert "- now asks" not in back.stderr and "+ no longer asks a person about tool:pay" in back.stderr
    assert Path("policy.yaml").read_text() == between
    assert run("undo", "--yes").exit_code == 0
    assert Path("policy.yaml").read_text() == POLICY
    assert isinstance(run("undo", "--yes").exception, NotFound)


def test_what_somebody_edited_since_is_neither_overwritten_nor_taken_back(engine: Engine) -> None:
    seen = engine.policy.propose("clerk", "level=write")
    Path("policy.yaml").write_text(POLICY + "# more\n")
    with pytest.raises(Outdated):
        engine.policy.change(seen, "ann")
    run("set", "clerk", "level=admin", "--yes")
    with Path("policy.yaml").open("a") as file:
        file.write("# and more\n")
    with pytest.raises(PolicyError, match="was changed otherwise since"):
        engine.policy.propose_undo()
    assert [e.data["changes"] for e in engine.journal.latest(type="policy.changed")] == [["level=admin"]]


@pytest.mark.parametrize(
    ("profile", "change", "what"),
    [
        ("clerk", "capabilities.biling=true", "did you mean 'billing'"),
        ("clerk", "extends+=nobody", "extends unknown profile 'nobody'"),
        ("researcher", "extends+=clerk", "goes in a circle"),
        ("clerk", "agents+=ada", "binds agent 'ada', which profile"),
        ("clark", "level=read", "did you mean 'clerk'"),
    ],
)
def test_a_change_that_would_break_the_policy_is_never_proposed(
    engine: Engine, profile: str, change: str, what: str
) -> None:
    with pytest.raises((PolicyError, NotFound)) as error:
        engine.policy.propose(profile, change)
    assert what in f"{error.value} {error.value.remedy}"


def test_a_change_says_what_would_be_wrong_then(engine: Engine) -> None:
    seen = engine.policy.propose("clerk", "ask+=tool:nothing/*")
    assert "can never matter" in str(seen.problems)
    assert not seen.effect


def test_a_policy_is_held_against_what_is_expected_of_it(engine: Engine) -> None:
    assert run("test").exit_code == 0
    more = """
tests:
  - {profile: researcher, use: "crm/list", expect: allow}
  - {agent: cal, use: "tool:pay", arguments: {amount: 5}, expect: ask}
"""
    Path("more.yaml").write_text(more)
    failed = run("test", "more.yaml")
    assert failed.exit_code == 1
    assert failed.stdout.splitlines() == [
        "more.yaml: test 1: profile researcher, crm/list: expected allow, is deny: no grant mentions it",
        'more.yaml: test 2: cal, tool:pay with {"amount":5}: expected ask, is deny: no grant mentions it',
    ]
    assert "3 tests, 2 failed" in failed.stderr
    data = json.loads(run("test", "more.yaml", "--json").stdout)
    assert (data["tests"], len(data["missed"])) == (3, 2)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{use: 'a:b', expect: allow}", "names no agent and no profile"),
        ("{agent: ada, use: 'a:b', expect: alow}", "'alow' is none of allow, ask, deny"),
        ("{agent: ada, uses: 'a:b', expect: allow}", "unknown key 'uses'"),
        ("{profile: clark, use: 'a:b', expect: allow}", "there is no profile 'clark'"),
    ],
)
def test_a_test_that_cannot_be_read_says_why(engine: Engine, text: str, what: str) -> None:
    Path("more.yaml").write_text(f"tests: [{text}]")
    assert what in str(run("test", "more.yaml").exception)


def test_a_changed_policy_is_run_over_what_was_decided(engine: Engine) -> None:
    wide = POLICY.replace("    level: read\n", "    additional_tools: ['*']\n")
    Path("policy.yaml").write_text(wide)
    for id in ("tool:crm/list", "tool:pay", "tool:pay"):
        engine.check("ada", id)
    with pytest.raises(Denied):
        engine.check("cal", "tool:crm/delete")
    Path("new").mkdir()
    ruled = "['tool:crm/*', {match: 'tool:pay', when: 'amount <= 5'}]"
    narrow = wide.replace("['*']", ruled).replace('disallowed_tools: ["tool:crm/delete"], ', "")
    Path("new/policy.yaml").write_text(narrow)
    found = run("replay", "--against", "new/policy.yaml")
    first, second = found.stdout.splitlines()
    assert first.startswith("cal, tool:crm/delete: was deny, would be allow: profile 'researcher' adds")
    assert second.startswith("ada, tool:pay: was allow, may be otherwise: depends on arguments")
    assert ", 2 times, last " in second
    assert "4 decisions: 1 would differ" in found.stderr


def test_arguments_that_were_kept_decide_in_a_replay(engine: Engine) -> None:
    @prowess.tool
    def pay(amount: int) -> str:
        """Pay somebody."""
        return f"paid {amount}"

    with Path("prowess.toml").open("a") as file:
        file.write("[journal]\nkeep_arguments = true\n")
    wide = POLICY.replace("    level: read\n", "    additional_tools: ['*']\n")
    Path("policy.yaml").write_text(wide)
    with opened(Functions(name="mine", functions=(pay,))) as keeping:
        for amount in (5, 500, 5000):
            assert keeping.call("tool:pay", {"amount": amount}, agent="ada").ending == "ok"
    Path("new.yaml").write_text(wide.replace("['*']", "[{match: 'tool:pay', when: 'amount <= 100'}]"))
    data = json.loads(run("replay", "--against", "new.yaml", "--json").stdout)
    assert (data["decisions"], data["unclear"]) == (3, [])
    (differs,) = data["changed"]
    assert (differs["was"], differs["would_be"], differs["times"]) == ("allow", "deny", 2)
    assert differs["arguments"] == {"amount": 5000}
    assert "amount <= 100 does not hold" in differs["reason"]
