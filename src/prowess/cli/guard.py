"""`prowess guard`"""

import getpass
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import get_args

import click
import msgspec

from prowess.cli.session import emit, json_option, opened, printable, say, table
from prowess.errors import ConfigError
from prowess.guard.classifier import Classifier
from prowess.guard.sanitise import Channel, Judgement, Neutralised, Provenance, judge, neutralise
from prowess.guard.scan import located, texts
from prowess.text.counts import counted
from prowess.text.invisible import visible
from prowess.types import Capability, Detail, Draft, Json

PIECES = re.compile(r"\w+|\s+|[^\w\s]")
MOST_COMPARED = 20_000
MOST_TAKEN_OUT = 20
CHANNELS: tuple[Channel, ...] = get_args(Channel)


channel_option = click.option(
    "--channel", type=click.Choice(CHANNELS), default="card", show_default=True, help="What a plain FILE is."
)


@dataclass(frozen=True, slots=True)
class CheckedText:
    """One text to check, under the id it is reported by."""

    id: str
    text: str
    channel: Channel
    by_rules: bool = False
    is_approved: bool = False
    """Whether a person took exactly this content."""


@click.group()
def command() -> None:
    """Check what texts try to do to a model, and what of them would reach a prompt."""


@command.command()
@click.argument("target", required=False)
@click.option("--all", "everything", is_flag=True, help="Every capability in the catalogue.")
@channel_option
@click.option("--approved", is_flag=True, help="Judge as a text a person has approved.")
@click.option("--no-classifier", is_flag=True, help="Judge by the rules alone.")
@json_option
def check(
    target: str | None, everything: bool, channel: Channel, approved: bool, no_classifier: bool, as_json: bool
) -> None:
    """Judge TARGET: a file, JSON lines of {"id", "text", "channel"}, or the id of a capability."""
    if everything == bool(target):
        raise click.UsageError("Name a file or an id, or give --all.")
    chosen = _in_catalogue(None) if not target else _in_file(Path(target), channel) or _in_catalogue(target)
    classifier = None if no_classifier else Classifier.open()
    judged = [(one, _judged(one, approved, classifier)) for one in chosen]
    if as_json:
        emit({"items": [_item(text, judgement) for text, judgement in judged]})
    else:
        _report(judged)


def _judged(one: CheckedText, approved: bool, classifier: Classifier | None) -> Judgement:
    provenance: Provenance = "approved" if approved or one.is_approved else "unapproved"
    return judge(one.text, one.channel, provenance, None if one.by_rules else classifier)


@command.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@channel_option
def show(file: Path, channel: Channel) -> None:
    """Show what of FILE would reach a prompt: - marks what is taken out, + what replaces it."""
    text = _decoded(file)
    neutralised = neutralise(text, channel)
    click.echo(marked(text, neutralised.text))
    say("changed" if neutralised.text != text else "unchanged")


@command.command()
@click.argument("id")
@click.option("--by", default="", help="Who accepts; otherwise the user of this terminal.")
def accept(id: str, by: str) -> None:
    """Accept what was found in ID, for exactly the content it has now; the journal keeps who did."""
    with opened() as engine:
        found = engine.findings.accept(id, by or getpass.getuser())
    say(f"accepted for {id}, until its content changes: {printable(found.what)}")


def _in_file(file: Path, channel: Channel) -> list[CheckedText]:
    if file.is_dir():
        raise ConfigError(str(file), "is a folder", "name a file in it")
    if not file.is_file():
        return []
    content = _decoded(file)
    return _json_lines(file, content, channel) or [CheckedText(file.name, content, channel)]


def _decoded(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as failure:
        raise ConfigError(str(file), f"cannot be read ({failure.strerror})", "name a text file") from None


def _json_lines(file: Path, content: str, channel: Channel) -> list[CheckedText]:
    """The texts of a file of JSON lines; nothing when it is a plain text."""
    lines = [line for line in content.split("\n") if line.strip()]
    if not lines or not lines[0].lstrip().startswith("{"):
        return []
    texts: list[CheckedText] = []
    for number, line in enumerate(lines, 1):
        row = _row(line)
        if row is None and number == 1:
            return []
        if row is None:
            remedy = 'write {"id", "text", "channel"} on each line'
            raise ConfigError(f"{file}, line {number}", "is no JSON object with a text", remedy)
        named = row.get("channel", channel)
        if named not in CHANNELS:
            remedy = f"write one of: {', '.join(CHANNELS)}"
            raise ConfigError(f"{file}, line {number}", f"no channel is named {named!r}", remedy)
        texts.append(CheckedText(str(row.get("id", f"{file.name}:{number}")), row["text"], named))
    return texts


def _row(line: str) -> dict[str, Json] | None:
    try:
        row: Json = msgspec.json.decode(line.encode("utf-8", "surrogatepass"))
    except (msgspec.MsgspecError, UnicodeError):
        return None
    return row if isinstance(row, dict) and isinstance(row.get("text"), str) else None


def _in_catalogue(id: str | None) -> list[CheckedText]:
    with opened() as engine:
        chosen = (engine.catalogue.get(id),) if id else engine.catalogue.list()
        accepted = engine.internals.world().view.accepted
        return [
            replace(text, is_approved=(found.id, found.digest) in accepted)
            for found in chosen
            for text in texts_of(found, engine.catalogue.detail(found.id))
        ]


def texts_of(capability: Capability, detail: Detail) -> Iterator[CheckedText]:
    """Every text of a capability that a model could be shown, as a sync judges them."""
    for one in texts(Draft(capability, detail)):
        place = "" if one.place == "description" else f"#{one.place}"
        yield CheckedText(f"{capability.id}{place}", one.text, one.channel, one.by_rules)


def _item(text: CheckedText, judgement: Judgement) -> dict[str, Json]:
    findings = [
        {
            "family": f.family,
            "place": located(text.text, f.place),
            "reason": f.reason,
            "sentence": f.sentence,
            "severity": f.severity,
        }
        for f in judgement.findings
    ]
    neutralised = neutralise(text.text, text.channel)
    return {
        "id": text.id,
        "outcome": _outcome(judgement, neutralised),
        "verdict": judgement.verdict,
        "neutralised": str(neutralised.text).encode("utf-8", "replace").decode(),
        "taken_out": list(taken_out(text.text, neutralised)),
        "findings": findings,
    }


def _outcome(judgement: Judgement, neutralised: Neutralised) -> str:
    if judgement.verdict == "reject":
        return "held"
    return "neutralised" if neutralised.changed else "pass"


def taken_out(text: str, neutralised: Neutralised) -> tuple[str, ...]:
    """What of a text would not reach a prompt as it was written, hidden characters by name.

    Where something is only put into brackets, it is the line.
    """
    if not neutralised.changed:
        return ()
    before, after = PIECES.findall(text[:MOST_COMPARED]), PIECES.findall(neutralised.text[:MOST_COMPARED])
    found = [
        "".join(before[a:b]) or ("".join(before[:a]).rpartition("\n")[2] + "".join(before[a:])).split("\n")[0]
        for tag, a, b, _, _ in SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    return tuple(dict.fromkeys(visible(one) for one in found))[:MOST_TAKEN_OUT]


def _report(judged: list[tuple[CheckedText, Judgement]]) -> None:
    rows: list[tuple[str, ...]] = []
    outcomes: list[str] = []
    for text, judgement in judged:
        neutralised = neutralise(text.text, text.channel)
        outcomes.append(outcome := _outcome(judgement, neutralised))
        rows += [
            (text.id, outcome, located(text.text, found.place), found.severity, printable(found.told))
            for found in judgement.findings
        ]
        taken = ", ".join(map(repr, taken_out(text.text, neutralised)))
        rows += [(text.id, outcome, "", "", f"taken out: {printable(taken)}")] if taken else []
    if rows:
        table(("ID", "OUTCOME", "PLACE", "SEVERITY", "REASON"), rows)
    warned = [judgement.verdict for _, judgement in judged].count("warn")
    counts = f"{outcomes.count('held')} held, {outcomes.count('neutralised')} neutralised"
    say(f"{counted(len(judged), 'text')}: {counts}, {outcomes.count('pass')} pass; {warned} with a note")


def marked(before: str, after: str) -> str:
    """Both texts in one: lines that go after `-`, those that come after `+`, hidden characters by name."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    lines: list[str] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += [f"  {_line(line)}" for line in old[a:b]]
        else:
            lines += [click.style(f"- {_line(line)}", fg="red") for line in old[a:b]]
            lines += [click.style(f"+ {_line(line)}", fg="green") for line in new[c:d]]
    return "\n".join(lines)


def _line(text: str) -> str:
    return visible(text.removesuffix("\n"))
