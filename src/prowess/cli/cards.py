"""`prowess cards`"""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from prowess.cli.session import connected, emit, json_option, opened, printable, read_file, say, table
from prowess.engine.card_folder import check_folder
from prowess.operations import cards as ops
from prowess.operations.operation import NO_PARAMS
from prowess.sources.configured import CARD_FOLDER
from prowess.types import DEFAULT_AGENT, JsonObject


@click.group("cards")
def command() -> None:
    """Just-in-time cards: check them, see how they do, and say whether they were right."""


@command.command()
@click.argument("folder", default=CARD_FOLDER, type=click.Path())
@json_option
def check(folder: str, as_json: bool) -> None:
    """Whether the cards of FOLDER (docs/capabilities) may be used; exits with 1 if one may not."""
    there_are_none = folder == CARD_FOLDER and not Path(folder).exists()
    found = () if there_are_none else check_folder(folder)
    if as_json:
        emit({"cards": found})
    elif there_are_none:
        say(f"there are no cards in {CARD_FOLDER}")
    else:
        for one in found:
            mark = click.style("ok", fg="green") if one.ok else click.style("not ok", fg="red")
            click.echo(f"{mark}  {printable(one.id or '-')}  {printable(one.path)}")
            for reason in one.reasons:
                click.echo(f"    {printable(reason)}")
            for warning in one.warnings:
                click.echo(f"    warning: {printable(warning)}")
        say(f"{sum(one.ok for one in found)} of {len(found)} cards may be used")
    if not all(one.ok for one in found):
        click.get_current_context().exit(1)


@command.command()
@json_option
def report(as_json: bool) -> None:
    """How often cards are injected, what they cost, and how right that was."""
    with connected() as backend:
        found = backend.call(ops.report_cards, NO_PARAMS)
    if as_json:
        emit(found)
        return
    click.echo(
        f"{found['turns']} turns, {found['injecting']} with cards ({found['frequency']:.1%}),"
        f" {found['tokens']} tokens, {found['errors']} errors,"
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
        say(f"fitted on {done.labels} labels: {change}")


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
