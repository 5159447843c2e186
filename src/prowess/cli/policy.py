"""`prowess policy`

Most of these need no store: in an empty folder nothing exists, and only the names count.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import click

from prowess import config as configuration
from prowess.calling.caller import Caller
from prowess.cli.policy_changes import replay_command, set_command, test_command, undo_command
from prowess.cli.policy_sides import chosen_profile, ground, is_whole, whole
from prowess.cli.session import (
    config_file,
    emit,
    json_option,
    opened,
    printable,
    problem_count,
    refuse_server,
    say,
)
from prowess.cli.why import command as why_command
from prowess.clients.entry import NAME as SERVER
from prowess.clients.known import client_named
from prowess.engine.engine import Engine
from prowess.errors import NotFound
from prowess.policy.check import findings, stricter
from prowess.policy.diff import PolicyDifference, ProfileDifference, diff, policy_diff
from prowess.policy.export import export
from prowess.policy.grant_report import given
from prowess.policy.grants import INTENSIVE
from prowess.policy.migrate import migrate
from prowess.policy.resolve import Resolved, resolve
from prowess.types import Problem, Verdict

grants_option = click.option(
    "--grants",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A further policy file; may be given again.",
)


OVER_A_SERVER = ("set", "undo")


@click.group()
@click.pass_context
def command(ctx: click.Context) -> None:
    """What agents may use: grants, profiles, and whether they say what you mean."""
    if ctx.invoked_subcommand not in OVER_A_SERVER:
        refuse_server()


command.add_command(why_command, "why")
for _one in (set_command, undo_command, replay_command, test_command):
    command.add_command(_one)


@command.command("resolve")
@click.argument("profile")
@grants_option
@json_option
def show_resolved(profile: str, grants: tuple[Path, ...], as_json: bool) -> None:
    """Everything PROFILE (a name, or a profile's file) allows."""
    held = ground()
    found = resolve(*chosen_profile(held, grants, profile), held.names, held.reviewed)
    if as_json:
        emit(found)
        return
    _print_allowed(found)
    _print_list("host tools", found.host_tools)
    _print_list("asks a person about", found.ask)
    for name, said in found.conditions.items():
        click.echo(printable(f"  {name}: {' and '.join(said)}"))
    _print_list("grants", found.grants)
    for name, why in found.dropped.items():
        click.echo(printable(f"  without {name}: {why}"))
    _print_list("level", [found.level] if found.level else [])
    _print_list("limits", limit_texts(found.limits))
    _print_list("needs review", found.review)
    say(f"profile {found.profile} at revision {found.revision}")


def _print_allowed(found: Resolved) -> None:
    """Where everything exists already, by who provides it."""
    for provider, names in found.providers.items():
        listed = [name for name in names if name in found.allowed_events]
        if provider:
            _print_list(f"{provider} ({len(listed)})", listed)
        else:
            _print_list("named, and provided by nothing yet", listed)


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
    _print_list("match nothing yet", found.unmatched)
    _print_list("requires", found.requires)
    _print_list("limits", limit_texts(found.limits))
    _print_list("needs review", found.review)
    click.echo(f"  level: {found.level}")


@command.command("diff")
@click.argument("before")
@click.argument("after")
@grants_option
@click.option("--exit-code", is_flag=True, help="Exit 1 when they differ.")
@json_option
def show_difference(
    before: str, after: str, grants: tuple[Path, ...], exit_code: bool, as_json: bool
) -> None:
    """What changes from BEFORE to AFTER.

    Two profiles, each a name or a profile's file; or two whole policies, each a policy file, a prowess.toml
    or a store, whose agents and reviews then count.
    """
    held = ground()
    found: ProfileDifference | PolicyDifference
    if is_whole(before) or is_whole(after):
        found = policy_diff(whole(before, grants), whole(after, grants))
    else:
        sides = chosen_profile(held, grants, before), chosen_profile(held, grants, after)
        found = diff(*sides, held.names, reviewed=(held.reviewed, held.reviewed))
    if as_json:
        emit(found)
    else:
        for line in found.lines():
            click.echo(printable(line))
        say(f"{before} and {after} {'differ' if found else 'allow the same'}")
    sys.exit(1 if found and exit_code else 0)


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
@click.option("--for", "host", required=True, help="Whose lists to print, such as claude-code.")
def show_export(agent: str, host: str) -> None:
    """A client's own allow, ask and deny lists for AGENT, as JSON, with our tools as it names them."""
    client = client_named(host)
    mode = configuration.load(config_file(), Path.cwd(), os.environ).config.gateway.tools
    with opened() as engine:
        known = [one.name for one in engine.internals.policy.agents()]
        if agent not in known:
            raise NotFound("agent", agent, known, "see: prowess agent list")
        listed = _served(engine, agent, mode)
        served = {client.tool.format(server=SERVER, tool=name): verdict for name, verdict in listed.items()}
        moment = engine.internals.policy.at(engine.catalogue.view())
        emit({"permissions": export(moment, agent, host, served)})


def _served(engine: Engine, agent: str, mode: Literal["auto", "pinned", "all"]) -> Mapping[str, Verdict]:
    """What the gateway answers this agent's `tools/list` with; nothing where there can be no gateway."""
    try:
        from prowess.gateway.tools import verdicts  # the SDK of MCP is the optional part `gateway`
    except ImportError:
        say("the tools of prowess are left out, because the part 'gateway' is not installed")
        return {}
    return verdicts(engine, Caller(agent, over_mcp=True), mode)


@command.command()
@click.argument("grant")
@click.option("--by", required=True, help="Who reviewed it.")
@click.option("--note", default="", help="What was found.")
def review(grant: str, by: str, note: str) -> None:
    """Record that an admin has reviewed GRANT as it is defined now."""
    with opened() as engine:
        engine.policy.review(grant, by, note)
    say(f"{grant} is reviewed; agents that hold it are no longer asked about it")


def limit_texts(limits: Mapping[str, int]) -> list[str]:
    return [f"{name} {value}{', in any hour' if name == INTENSIVE else ''}" for name, value in limits.items()]


def _print_list(heading: str, items: Sequence[str]) -> None:
    if items:
        click.echo(f"  {heading}: {printable(', '.join(items))}")


def _print_problems(problems: Sequence[Problem]) -> None:
    for problem in problems:
        colour = "red" if problem.severity == "error" else "yellow"
        click.echo(f"{click.style(problem.severity, fg=colour)}  {printable(str(problem))}")
    say(problem_count(problems))


def _sentence(what: str, names: Sequence[str]) -> str:
    return f"{what}: {printable(', '.join(names)) or 'nothing'}"
