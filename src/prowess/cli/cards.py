"""`prowess cards`"""

import os
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from prowess.cards.guard import shipped_guard
from prowess.cli.inject import taken_as_they_are
from prowess.cli.session import (
    config_file,
    connected,
    emit,
    json_option,
    opened,
    printable,
    read_file,
    say,
    table,
)
from prowess.config import load
from prowess.engine.card_folder import check_folder
from prowess.operations import cards as ops
from prowess.operations.operation import NO_PARAMS
from prowess.sources.configured import CARD_FOLDER, card_folders
from prowess.text.counts import counted
from prowess.types import DEFAULT_AGENT, JsonObject

NO_CARDS = f"there are no cards; put them into {CARD_FOLDER}, or name a folder"
AGO = re.compile(r"(\d+)\s*([mhd])")
UNITS = {"m": "minutes", "h": "hours", "d": "days"}


def moment(context: click.Context, option: click.Parameter, value: str | None) -> datetime | None:
    """A time, or how long ago."""
    ago = AGO.fullmatch((value or "").strip())
    try:
        if ago:
            return datetime.now(UTC) - timedelta(**{UNITS[ago[2]]: int(ago[1])})
        return datetime.fromisoformat(value).astimezone(UTC) if value else None
    except (ValueError, OverflowError):
        raise click.BadParameter(f"{value!r} is no time; write 48h, 2d or 2026-02-13T09:00") from None


@click.group("cards")
def command() -> None:
    """Just-in-time cards: check them, see how they do, and say whether they were right."""


@command.command()
@click.argument("folder", required=False, type=click.Path())
@json_option
def check(folder: str | None, as_json: bool) -> None:
    """Check the cards of FOLDER, or all that are configured. Exit 1 when one cannot be used."""
    settings = load(config_file(), Path.cwd(), os.environ)
    guard, accepted = shipped_guard(), taken_as_they_are()
    found = [
        one for source in card_folders(settings, folder) for one in check_folder(source, guard, accepted)
    ]
    if as_json:
        emit({"cards": found})
    else:
        for one in found:
            mark = click.style("ok", fg="green") if one.ok else click.style("not ok", fg="red")
            click.echo(f"{mark}  {printable(one.id or '-')}  {printable(_from_here(one.path))}")
            if one.accepted_by:
                click.echo(f"    accepted by {printable(one.accepted_by)}, until it changes")
            for reason in one.reasons:
                click.echo(f"    {printable(reason)}")
            for warning in one.warnings:
                click.echo(f"    warning: {printable(warning)}")
        say(
            f"{sum(one.ok for one in found)} of {counted(len(found), 'card')} may be used"
            if found
            else NO_CARDS
        )
    if not all(one.ok for one in found):
        click.get_current_context().exit(1)


def _from_here(path: str) -> str:
    """A path as one would type it here."""
    place, here = Path(path), Path.cwd()
    return str(place.relative_to(here)) if place.is_relative_to(here) else path


@command.command()
@click.option("--since", callback=moment, help="Only what happened from then on: 48h, 2d, 2026-02-13T09:00.")
@click.option("--until", callback=moment, help="Only what happened before then.")
@json_option
def report(since: datetime | None, until: datetime | None, as_json: bool) -> None:
    """How often cards are injected, what they cost, and how right that was."""
    with connected() as backend:
        found = backend.call(ops.report_cards, ops.window(since, until))
    if as_json:
        emit(found)
        return
    click.echo(
        f"{counted(found['turns'], 'turn')}, {found['injecting']} with cards ({found['frequency']:.1%}),"
        f" {counted(found['tokens'], 'token')}, {counted(found['errors'], 'error')},"
        f" {found['milliseconds']['mean']:.1f} ms on average"
    )
    if found["stopped"]:
        say("the kill switch holds cards back; see: prowess cards resume")
    if found["reviewed"]:
        click.echo(
            f"accuracy {found['accuracy']:.1%} of {found['reviewed']} reviewed;"
            f" a threshold of {found['suggested_threshold']:.2f} would agree most"
        )
    by_card = ("injected", "tokens", "mean_relevance", "reviewed", "suggested_threshold")
    _table("card", found["cards"], by_card)
    _table("variant", found["variants"], ("turns", "injecting", "tokens", "outcomes", "success"))


def _table(heading: str, rows: JsonObject, columns: tuple[str, ...]) -> None:
    if rows:
        click.echo()
        table((heading, *columns), [[name, *(str(row[c]) for c in columns)] for name, row in rows.items()])


@command.command()
@click.argument("selection", required=False)
@click.argument("card", required=False)
@click.option("--right/--wrong", "right", default=None, help="Whether it was rightly shown or left out.")
@click.option("--limit", default=20, show_default=True, help="How many selections, the newest.")
@json_option
def review(selection: str | None, card: str | None, right: bool | None, limit: int, as_json: bool) -> None:
    """Show recent selections; with SELECTION, CARD and --right or --wrong, say what you think of one."""
    with connected() as backend:
        if selection and card and right is not None:
            said = ops.ReviewCard(card=card, right=right)
            backend.call(ops.review_card, said, selection=selection)
            say("noted; prowess cards report shows what it adds up to")
        elif selection or card or right is not None:
            raise click.UsageError("a review needs SELECTION, CARD and --right or --wrong")
        else:
            newest = tuple(backend.pages(ops.list_selections, ops.Recent(), limit))
            _print_selections(newest[::-1], as_json)


def _print_selections(selections: Sequence[JsonObject], as_json: bool) -> None:
    if as_json:
        emit(selections)
        return
    for one in selections:
        _print_selection(one)


def _print_selection(one: JsonObject) -> None:
    id = click.style(str(one["selection"])[:12], fg="cyan")
    click.echo(f"{id}  {one['at'][:19]}  {printable(one['request'])}")
    for shown in (*one["injected"], *one["held"]):
        said = {True: "  right", False: "  wrong"}.get(one["relevant"].get(shown["id"]), "")
        held = "  (held back)" if one["held_back"] else ""
        about = f"(relevance: {shown['relevance']:.2f}, tokens: {shown['tokens']})"
        click.echo(f"    {shown['name']} {about}{held}{said}")


@command.command()
@json_option
def fit(as_json: bool) -> None:
    """Refit the scorer `relevance` from what the reviews say. Never happens by itself."""
    with connected() as backend:
        done = backend.call(ops.fit_cards, NO_PARAMS)
    if as_json:
        emit(done)
    else:
        change = f"agreement {done.before:.1%} before, {done.after:.1%} now"
        say(f"fitted on {counted(done.labels, 'label')}: {change}")


@command.command()
@click.option("--agent", default=DEFAULT_AGENT, show_default=True, help="As this agent.")
def baseline(agent: str) -> None:
    """Print a block for AGENTS.md: at most 500 characters that name the cards and the ways to more."""
    with opened() as engine:
        click.echo(engine.cards.baseline(agent), nl=False)


@command.command()
def resume() -> None:
    """Let cards be injected again after the kill switch."""
    with connected() as backend:
        backend.call(ops.resume_cards, NO_PARAMS)
    say("cards are injected again")


@command.command()
@click.argument("file", type=click.Path())
def keep(file: str) -> None:
    """Keep the card in FILE (- for stdin) in the store, for sources of type stored-cards."""
    text = sys.stdin.read() if file == "-" else read_file(file)
    with connected() as backend:
        say(f"kept {backend.call(ops.keep_card, ops.StoredCardText(text=text)).name}")


@command.command()
@click.argument("name")
def drop(name: str) -> None:
    """Drop the card NAME from the store."""
    with connected() as backend:
        backend.call(ops.drop_card, NO_PARAMS, name=name)
    say(f"dropped {name}")
