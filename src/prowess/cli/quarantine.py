"""`prowess quarantine`"""

import getpass

import click

from prowess.cli.session import emit, json_option, opened, printable, say, table
from prowess.text.invisible import visible
from prowess.types import Draft

NOTHING_BEFORE = "@@ -0,0 "

by_option = click.option("--by", default="", help="Who decides; otherwise the user of this terminal.")


@click.group()
def command() -> None:
    """What is held back until a person has looked at it: new or changed content of others."""


@command.command("list")
@json_option
def show_all(as_json: bool) -> None:
    """Everything that is held back, and why."""
    with opened() as engine:
        held = engine.quarantine.list()
    if as_json:
        emit(held)
    elif held:
        table(("ID", "STATE", "SINCE", "REASON"), [(h.id, h.state, h.since[:19], h.reason) for h in held])
    else:
        say("nothing is held back")


@command.command()
@click.argument("id")
@json_option
def show(id: str, as_json: bool) -> None:
    """What the guard finds in ID, and how it differs from what was approved last."""
    with opened() as engine:
        lines = engine.quarantine.difference(id)
        is_new = any(line.startswith(NOTHING_BEFORE) for line in lines)
        findings = _findings(Draft(engine.catalogue.get(id), engine.catalogue.detail(id)), is_new)
    if as_json:
        emit({"id": id, "difference": lines, "new": is_new, "findings": findings})
        return
    for found in findings:
        click.secho(f"{found['where']} {found['place']}: {printable(found['reason'])}", fg="yellow")
        click.echo(f"    {printable(visible(found['text']))}")
    if is_new:
        say(f"{id} is new: nothing of it was approved before")
    for line in lines:
        colour = {"+": "green", "-": "red"}.get(line[:1])
        click.secho(printable(line), fg=colour)


def _findings(draft: Draft, is_new: bool) -> list[dict[str, str]]:
    # They bring numpy, which the other commands do without.
    from prowess.guard.classifier import Classifier
    from prowess.guard.scan import judged, located

    classifier = Classifier.open()
    found_in = judged(draft, classifier, classifier, "unapproved" if is_new else "changed")
    return [
        {
            "where": one.place,
            "place": located(one.text, found.place),
            "family": found.family,
            "reason": found.reason,
            "severity": found.severity,
            "text": one.around(found.place),
        }
        for one in found_in
        for found in one.judgement.findings
    ]


@command.command()
@click.argument("id")
@by_option
def approve(id: str, by: str) -> None:
    """Let ID go, with exactly the content it has now."""
    with opened() as engine:
        engine.quarantine.approve(id, by or getpass.getuser())
    say(f"{id} is approved")


@command.command()
@click.argument("id")
@by_option
def reject(id: str, by: str) -> None:
    """Keep ID out until its content changes."""
    with opened() as engine:
        engine.quarantine.reject(id, by or getpass.getuser())
    say(f"{id} is rejected")
