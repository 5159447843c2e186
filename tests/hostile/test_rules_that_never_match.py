"""A rule that restricts nothing, since its name is wrong, is told by `policy check` and `doctor`."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from prowess.cli.main import prowess
from prowess.engine import Engine
from prowess.testing import StaticSource, capability
from prowess.types import Problem
from tests.support.stores import OpenEngine

IDS = ("tool:zebra_vault", "tool:mail/send", "skill:Payroll", "event:door:open", "tool:caf\u00e9")


def problems(open_engine: OpenEngine, **lists: list[str]) -> list[Problem]:
    profile = {"agents": ["default"], "additional_tools": ["*"], **lists}
    engine: Engine = open_engine(
        StaticSource(capabilities=[capability(id, "Does something") for id in IDS]),
        policy=json.dumps({"profiles": {"p": profile}}),
    )
    engine.sync()
    return [p for p in engine.diagnose() if p.source == "policy"]


@pytest.mark.parametrize(
    ("rule", "meant"),
    [
        ("zebra_vault", "tool:zebra_vault"),
        ("tool:Zebra_Vault", "tool:zebra_vault"),
        ("Zebra-Vault", "tool:zebra_vault"),
        ("tool:zebra-vault", "tool:zebra_vault"),
        ("tool:zebra_valt", "tool:zebra_vault"),
        ("zebra_*", "tool:zebra_vault"),
        ("tool:Zebra*", "tool:zebra_vault"),
        ("mail/send", "tool:mail/send"),
        ("payroll", "skill:Payroll"),
        ("skill:payroll", "skill:Payroll"),
        ("Door:Open", "event:door:open"),
        ("event:zebra_vault", "tool:zebra_vault"),
        ("tool:\uff5aebra_vault", "tool:zebra_vault"),
    ],
)
@pytest.mark.parametrize("word", ["disallowed_tools", "ask"])
def test_a_rule_that_just_misses_what_exists_is_named(
    open_engine: OpenEngine, word: str, rule: str, meant: str
) -> None:
    (problem,) = problems(open_engine, **{word: [rule]})
    assert problem.severity == "warning" and word in problem.what
    assert repr(rule) in problem.what and repr(meant) in problem.remedy


@pytest.mark.parametrize(
    "rule",
    [
        "tool:zebra_vault", "tool:zebra_*", "*", "host:zebra_vault", "Bash", "Bash(git:*)", "door:open",
        "door:*", "event:door:open", "tool:not/there/yet", "tool:cafe\u0301",
    ],
)  # fmt: skip
def test_a_rule_that_matches_or_speaks_of_something_else_is_not(open_engine: OpenEngine, rule: str) -> None:
    assert problems(open_engine, ask=[rule]) == []


def test_policy_check_says_so_and_fails_when_it_is_strict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    skill = tmp_path / "skills" / "zebra-vault"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: zebra-vault\ndescription: Open the vault\n---\nOpen it.\n")
    (tmp_path / "policy.yaml").write_text(
        "profiles: {p: {agents: [default], additional_tools: ['*'], disallowed_tools: [zebra_vault]}}"
    )
    (tmp_path / "prowess.toml").write_text(
        '[policy]\nfiles = ["policy.yaml"]\n[[source]]\ntype = "skills"\nname = "s"\npath = "skills"\n'
    )
    synced = CliRunner().invoke(prowess, ["sync"])
    assert synced.exit_code == 0, synced.output
    for command in (["policy", "check"], ["doctor"]):
        told = CliRunner().invoke(prowess, command)
        assert "skill:zebra-vault" in told.output, told.output
    assert CliRunner().invoke(prowess, ["policy", "check", "--strict"]).exit_code == 1
