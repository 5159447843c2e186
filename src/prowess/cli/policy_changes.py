"""`prowess policy set`, `undo`, `replay` and `test`: a policy is changed, and what a change would do."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from prowess.cli.policy_sides import ground
from prowess.cli.session import connected, emit, json_option, opened, printable, say
from prowess.errors import PolicyError
from prowess.operations import policy_changes as ops
from prowess.operations.operation import NO_PARAMS
from prowess.policy.definitions import read_definitions
from prowess.policy.expectations import missed, parse_expectations
from prowess.policy.replay import ChangedDecision
from prowess.policy.ruleset import RuleSet
from prowess.text.counts import counted

yes_option = click.option("--yes", is_flag=True, help="Write it without asking.")


@click.command("set")
@click.argument("profile")
@click.argument("changes", nargs=-1, required=True)
@yes_option
def set_command(profile: str, changes: tuple[str, ...], yes: bool) -> None:
    """Change PROFILE in its file. You first see whom that affects, and how.

    CHANGES are such as level=read, capabilities.mail=true, limits.max_children=2, ask+=tool:bank/* or
    ask-=tool:bank/*; with nothing after the =, the key is removed.
    """
    asked = ops.ProposeChanges(changes=changes)
    with connected() as backend:
        shown = backend.call(ops.propose_changes, asked, name=profile)
        _confirm(shown, yes)
        confirmed = ops.ConfirmChanges(changes=changes, digest=shown.digest)
        backend.call(ops.change_policy, confirmed, name=profile)
    _say_done(shown)


@click.command("undo")
@yes_option
def undo_command(yes: bool) -> None:
    """Take back the latest change that `prowess policy set` or the dashboard made."""
    with connected() as backend:
        shown = backend.call(ops.propose_undo, NO_PARAMS)
        _confirm(shown, yes)
        backend.call(ops.undo_change, ops.ConfirmUndo(digest=shown.digest))
    _say_done(shown)


def _confirm(shown: ops.ProposalShown, yes: bool) -> None:
    for line in shown.lines:
        click.echo(printable(line))
    say("what it does:")
    for line in shown.words:
        say(printable(f"  {line}"))
    if not shown.words:
        say("  nobody may use more or less than before")
    for problem in shown.problems:
        say(printable(f"  {problem.severity}: {problem}"))
    if not yes:
        click.confirm(f"write this to {shown.file}?", abort=True, err=True)


def _say_done(shown: ops.ProposalShown) -> None:
    say(f"{shown.file} is changed; to take that back: prowess policy undo")


@click.command("replay")
@click.option(
    "--against", "files", multiple=True, required=True, type=click.Path(path_type=Path),
    help="A changed policy file; may be given again.",
)  # fmt: skip
@json_option
def replay_command(files: tuple[Path, ...], as_json: bool) -> None:
    """Every past decision that a changed policy would make differently.

    A file replaces the policy file with the same name; if there is none, it replaces all policy files.
    """
    with opened() as engine:
        rules = RuleSet.of([read_definitions(path) for path in _replaced(engine.policy.files, files)])
        found = engine.policy.replay(rules)
    if as_json:
        emit(found)
        return
    _print_decisions(found.changed)
    _print_decisions(found.unclear)
    say(f"{counted(found.decisions, 'decision')}: {_times(found.changed)} would differ")
    if found.unclear:
        kept = "[journal] keep_arguments = true keeps them from now on"
        say(f"{_times(found.unclear)} depend on arguments that were not kept; {kept}")
    if found.gone:
        say(f"{found.gone} are of agents that are bound to nothing now, or of what exists no more")


def _replaced(inforce: Sequence[Path], files: Sequence[Path]) -> list[Path]:
    names = {path.name for path in files}
    others = [path for path in inforce if path.name not in names]
    return [*others, *files] if len(others) < len(inforce) else list(files)


def _print_decisions(decisions: Sequence[ChangedDecision]) -> None:
    for one in decisions:
        click.echo(printable(str(one)))


def _times(decisions: Sequence[ChangedDecision]) -> int:
    return sum(one.times for one in decisions)


@click.command("test")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@json_option
def test_command(files: tuple[Path, ...], as_json: bool) -> None:
    """Run the `tests` in the policy files and in FILES. Exit 1 when one fails."""
    held = ground()
    read = [(path.name, read_definitions(path)) for path in held.together(files)]
    expected = [one for name, part in read for one in parse_expectations(part.tests, name)]
    if not expected:
        raise PolicyError("policy", "has no tests", "write some under 'tests'; see docs/policy.md")
    rules = RuleSet.of([part for _, part in read])
    wrong = missed(held.moment.under(rules), expected)
    if as_json:
        emit({"tests": len(expected), "missed": wrong})
    for one in () if as_json else wrong:
        click.echo(printable(str(one)))
    say(f"{counted(len(expected), 'test')}, {len(wrong) or 'none'} failed")
    sys.exit(1 if wrong else 0)
