"""`prowess lessons`"""

import sys
from pathlib import Path

import click

from prowess.errors import LearningError
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


def read_bytes(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as failure:
        raise LearningError(file, f"cannot be read ({failure.strerror})", "check the path") from None
