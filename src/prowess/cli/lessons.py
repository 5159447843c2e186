"""`prowess lessons`"""

import sys
from pathlib import Path

import click

from prowess.cli.session import emit
from prowess.errors import LearningError
from prowess.learning import links
from prowess.learning.evidence import read_evidence
from prowess.learning.ledger import SkillLedger


class LessonCommands(click.Group):
    """`ledger` needs no store; the others are imported when one of them is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*self.commands, *_with_a_store().commands])

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return self.commands.get(name) or _with_a_store().get_command(ctx, name)


def _with_a_store() -> click.Group:
    from prowess.cli.lesson_commands import command

    return command


@click.group(cls=LessonCommands)
def command() -> None:
    """What use has shown to work, and what it takes to rely on it."""


@command.command()
@click.argument("evidence", type=click.Path(), metavar="EVIDENCE.json")
@click.option("--corrected", is_flag=True, help="Double backslashes, so that every text reads back.")
def ledger(evidence: str, corrected: bool) -> None:
    """Print the ledger of one request's evidence as Links Notation."""
    made = SkillLedger.from_evidence(read_evidence(read_bytes(evidence), evidence))
    text = made.to_links_notation("corrected" if corrected else "original")
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))


@command.command()
@click.argument("ledger", type=click.Path(), metavar="LEDGER.lino")
@click.option("--original", is_flag=True, help="It was written with the original escaping.")
def read(ledger: str, original: bool) -> None:
    """Read Links Notation, such as a ledger, and print its records as JSON."""
    try:
        text = read_bytes(ledger).decode("utf-8")
    except UnicodeDecodeError as failure:
        raise LearningError(ledger, f"is no UTF-8 text ({failure.reason})", "give a ledger as text") from None
    records = links.read(text, "original" if original else "corrected")
    emit([{"id": record.id, "pairs": [list(pair) for pair in record.pairs]} for record in records])


def read_bytes(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as failure:
        raise LearningError(file, f"cannot be read ({failure.strerror})", "check the path") from None
