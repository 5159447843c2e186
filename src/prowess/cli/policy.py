"""`prowess policy`

Most of these need no store: in an empty folder nothing exists, and only the names count.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from prowess import config as configuration
from prowess.cli.session import emit, json_option, opened, printable, say
from prowess.cli.why import command as why_command
from prowess.errors import NotFound, PolicyError
from prowess.policy.check import findings, stricter
from prowess.policy.definitions import PolicyDefinitions, read_definitions
from prowess.policy.diff import ProfileSide, diff
from prowess.policy.export import HOSTS, export
from prowess.policy.grant_report import given
from prowess.policy.migrate import migrate
from prowess.policy.patterns import CatalogueNames
from prowess.policy.resolve import resolve
from prowess.policy.ruleset import RuleSet
from prowess.types import Problem

ENDINGS = (".yaml", ".yml", ".toml")

grants_option = click.option(
    "--grants",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A further policy file; may be given again.",
)


@dataclass(frozen=True, slots=True)
class Ground:
    """What a command stands on: the policy files in force, and what exists."""

    files: tuple[Path, ...]
    names: CatalogueNames

    def rules(self, further: Sequence[Path]) -> RuleSet:
        once = {path.resolve(): path for path in [*self.files, *further]}
        return RuleSet.of([read_definitions(path) for path in once.values()])


def ground() -> Ground:
    """The configuration and the store, where there is one; never makes one."""
    chosen = click.get_current_context().find_root().obj or {}
    named = any(chosen.values()) or os.environ.get("PROWESS_STORE")
    if not named and configuration.find(os.environ, Path.cwd()) is None and not Path(".prowess").is_dir():
        return Ground((), CatalogueNames({}))
    with opened() as engine:
        return Ground(engine.policy.files, CatalogueNames(engine.catalogue.view().capabilities))


def chosen_profile(held: Ground, grants: Sequence[Path], profile: str) -> tuple[RuleSet, str]:
    """A profile by its name, or by the path of the file that defines it."""
    path = Path(profile)
    if not profile.endswith(ENDINGS) and not path.is_file():
        return held.rules(grants), profile
    return held.rules([*grants, path]), only_profile(read_definitions(path))


def only_profile(definitions: PolicyDefinitions) -> str:
    names = sorted(definitions.profiles)
    if len(names) != 1:
        what = f"defines {len(names)} profiles ({', '.join(names)})" if names else "defines no profile"
        raise PolicyError(definitions.place, what, "name the one you mean, with --grants FILE")
    return names[0]


@click.group()
def command() -> None:
    """What agents may use: grants, profiles, and whether they say what you mean."""


command.add_command(why_command, "why")


@command.command("resolve")
@click.argument("profile")
@grants_option
@json_option
def show_resolved(profile: str, grants: tuple[Path, ...], as_json: bool) -> None:
    """Everything PROFILE (a name, or a profile's file) allows."""
    held = ground()
    found = resolve(*chosen_profile(held, grants, profile), held.names)
    if as_json:
        emit(found)
        return
    _print_list("events", found.allowed_events)
    _print_list("host tools", found.host_tools)
    _print_list("grants", found.grants)
    _print_list("limits", [f"{name} {value}" for name, value in found.limits.items()])
    _print_list("needs review", found.review)
    say(f"profile {found.profile} at revision {found.revision}")


@command.command()
@click.argument("grant")
@grants_option
@json_option
def what(grant: str, grants: tuple[Path, ...], as_json: bool) -> None:
    """What GRANT gives, with everything it requires."""
    held = ground()
    rules = held.rules(grants)
    if grant not in rules.grants:
        raise NotFound("grant", grant, rules.grants, f"there are: {', '.join(sorted(rules.grants))}")
    found = given(rules, grant, held.names)
    if as_json:
        emit(found)
        return
    click.secho(f"{found.grant}  {printable(found.description)}", bold=True)
    _print_list("events", found.events)
    _print_list("host tools", found.host_tools)
    _print_list("requires", found.requires)
    _print_list("limits", [f"{name} {value}" for name, value in found.limits.items()])
    _print_list("needs review", found.review)
    click.echo(f"  level: {found.level}")


@command.command("diff")
@click.argument("before")
@click.argument("after")
@grants_option
@json_option
def show_difference(before: str, after: str, grants: tuple[Path, ...], as_json: bool) -> None:
    """What changes from profile BEFORE to profile AFTER; each a name or a profile's file."""
    held = ground()
    found = diff(chosen_profile(held, grants, before), chosen_profile(held, grants, after), held.names)
    if as_json:
        emit(found)
        return
    _print_side("+", found.added)
    _print_side("-", found.removed)
    for name, (old, new) in found.limits.items():
        click.echo(f"~ limit {name}: {_limit(old)} -> {_limit(new)}")
    for name, version in found.versions.items():
        click.echo(f"  grant {name}: {version}")
    say(f"{found.before} and {found.after} {'differ' if found else 'allow the same'}")


@command.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--strict", is_flag=True, help="Warnings count as errors.")
@json_option
def check(files: tuple[Path, ...], strict: bool, as_json: bool) -> None:
    """Validate the policy in force together with FILES. Exit 1 when anything is an error."""
    held = ground()
    found = findings(held.rules(files), held.names)
    found = stricter(found) if strict else found
    if as_json:
        emit({"problems": found})
    else:
        _print_problems(found)
    sys.exit(1 if any(problem.severity == "error" for problem in found) else 0)


@command.command("migrate")
@click.argument("profile")
@grants_option
@click.option("--exact", is_flag=True, help="Disallow what the grants would add.")
@json_option
def show_migration(profile: str, grants: tuple[Path, ...], exact: bool, as_json: bool) -> None:
    """Turn PROFILE's explicit tool list into grants and overrides, and say what differs."""
    held = ground()
    rules, name = chosen_profile(held, grants, profile)
    found = migrate(rules, rules.profile(name), held.names, exact)
    if as_json:
        emit({**{key: getattr(found, key) for key in found.__dataclass_fields__}, "text": found.text()})
        return
    click.echo(found.text(), nl=False)
    say(_sentence("in no grant, kept as additional tools", found.in_no_grant))
    say(_sentence("disallowed, for the grants would add it" if exact else "added by the grants", found.added))
    if found.review:
        say(_sentence("asks until an admin records a review", found.review))


@command.command("export")
@click.argument("agent")
@click.option("--for", "host", required=True, type=click.Choice(sorted(HOSTS)), help="Whose lists to print.")
def show_export(agent: str, host: str) -> None:
    """A host's own allow, ask and deny lists for AGENT, as JSON for its settings file."""
    with opened() as engine:
        known = [one.name for one in engine.internals.policy.agents()]
        if agent not in known:
            raise NotFound("agent", agent, known, "see: prowess agent list")
        emit({"permissions": export(engine.internals.policy.at(engine.catalogue.view()), agent, host)})


@command.command()
@click.argument("grant")
@click.option("--by", required=True, help="Who reviewed it.")
@click.option("--note", default="", help="What was found.")
def review(grant: str, by: str, note: str) -> None:
    """Record that an admin has reviewed GRANT as it is defined now."""
    with opened() as engine:
        engine.policy.review(grant, by, note)
    say(f"{grant} is reviewed; agents that hold it are no longer asked about it")


def _print_list(heading: str, items: Sequence[str]) -> None:
    if items:
        click.echo(f"  {heading}: {printable(', '.join(items))}")


def _print_side(sign: str, side: ProfileSide) -> None:
    for word, names in (
        ("event", side.allowed_events),
        ("host tool", side.host_tools),
        ("grant", side.grants),
        ("review of", side.review),
    ):
        for name in names:
            click.echo(f"{sign} {word} {printable(name)}")


def _print_problems(problems: Sequence[Problem]) -> None:
    for problem in problems:
        colour = "red" if problem.severity == "error" else "yellow"
        click.echo(f"{click.style(problem.severity, fg=colour)}  {printable(str(problem))}")
    say(f"{len(problems) or 'no'} problems")


def _limit(value: int | None) -> str:
    return "none" if value is None else str(value)


def _sentence(what: str, names: Sequence[str]) -> str:
    return f"{what}: {printable(', '.join(names)) or 'nothing'}"
