"""`prowess guard`"""

import getpass
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import get_args

import click
import msgspec

from prowess.cli.session import emit, json_option, opened, printable, say, table
from prowess.context.classifier import Classifier
from prowess.context.sanitise import Channel, Judgement, Provenance, judge, neutralise
from prowess.context.unseen import visible
from prowess.errors import ConfigError
from prowess.types import Capability, Detail, Json

CHANNELS: tuple[Channel, ...] = get_args(Channel)
KIND_CHANNELS: Mapping[str, Channel] = {"card": "card", "skill": "skill"}


channel_option = click.option(
    "--channel", type=click.Choice(CHANNELS), default="card", show_default=True, help="What a plain FILE is."
)


@dataclass(frozen=True, slots=True)
class Text:
    """One text to check, under the id it is reported by."""

    id: str
    text: str
    channel: Channel


@click.group()
def command() -> None:
    """What texts try to do to a model, and what of them would reach a prompt."""


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
    texts = _in_catalogue(None) if not target else _in_file(Path(target), channel) or _in_catalogue(target)
    classifier = None if no_classifier else Classifier.open()
    provenance: Provenance = "approved" if approved else "unapproved"
    judged = [(text, judge(text.text, text.channel, provenance, classifier)) for text in texts]
    if as_json:
        emit({"items": [_item(text, judgement) for text, judgement in judged]})
    else:
        _report(judged)


@command.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@channel_option
def show(file: Path, channel: Channel) -> None:
    """What of FILE would reach a prompt: what goes is red, what comes green, hidden characters are named."""
    text = _decoded(file)
    neutralised = neutralise(text, channel)
    click.echo(marked(text, neutralised.text))
    say("changed" if neutralised.text != text else "unchanged")


@command.command()
@click.argument("id")
@click.option("--by", default="", help="Who accepts; otherwise the user of this terminal.")
def accept(id: str, by: str) -> None:
    """Take what was found in ID, for exactly the content it has now; the journal keeps who did."""
    with opened() as engine:
        found = engine.accept_finding(id, by or getpass.getuser())
    say(f"accepted for {id}, until its content changes: {printable(found.what)}")


def _in_file(file: Path, channel: Channel) -> list[Text]:
    if not file.is_file():
        return []
    content = _decoded(file)
    return _json_lines(file, content, channel) or [Text(file.name, content, channel)]


def _decoded(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as failure:
        raise ConfigError(str(file), f"cannot be read ({failure.strerror})", "name a text file") from None


def _json_lines(file: Path, content: str, channel: Channel) -> list[Text]:
    """The texts of a file of JSON lines; nothing when it is a plain text."""
    lines = [line for line in content.split("\n") if line.strip()]
    if not lines or not lines[0].lstrip().startswith("{"):
        return []
    texts: list[Text] = []
    for number, line in enumerate(lines, 1):
        row = _row(line)
        if row is None and number == 1:
            return []
        if row is None:
            remedy = 'write {"id", "text", "channel"} on each line'
            raise ConfigError(f"{file}, line {number}", "is no JSON object with a text", remedy)
        texts.append(_text(row, f"{file.name}:{number}", channel))
    return texts


def _row(line: str) -> dict[str, Json] | None:
    try:
        row: Json = msgspec.json.decode(line.encode("utf-8", "surrogatepass"))
    except (msgspec.MsgspecError, UnicodeError):
        return None
    return row if isinstance(row, dict) and isinstance(row.get("text"), str) else None


def _text(row: dict[str, Json], name: str, channel: Channel) -> Text:
    named = row.get("channel")
    return Text(str(row.get("id", name)), row["text"], named if named in CHANNELS else channel)


def _in_catalogue(id: str | None) -> list[Text]:
    with opened() as engine:
        chosen = (engine.capability(id),) if id else engine.capabilities()
        return [text for found in chosen for text in texts_of(found, engine.detail(found.id))]


def texts_of(capability: Capability, detail: Detail) -> Iterator[Text]:
    """Every text of a capability that a model could be shown."""
    channel = KIND_CHANNELS.get(capability.kind, "tool_description")
    yield Text(capability.id, capability.description, "tool_description")
    if detail.content:
        yield Text(f"{capability.id}#content", detail.content, channel)
    for place, text in _descriptions(detail.input_schema or {}, ""):
        yield Text(f"{capability.id}#{place}", text, "schema_field")


def _descriptions(schema: Json, place: str) -> Iterator[tuple[str, str]]:
    inner: Iterable[tuple[str, Json]] = ()
    if isinstance(schema, Mapping):
        inner = schema.items()
        if isinstance(schema.get("description"), str) and place:
            yield place, schema["description"]
    elif isinstance(schema, list | tuple):
        inner = ((str(number), value) for number, value in enumerate(schema))
    for key, value in inner:
        yield from _descriptions(value, f"{place}.{key}" if place else key)


def _item(text: Text, judgement: Judgement) -> dict[str, Json]:
    findings = [
        {"family": f.family, "place": _place(text.text, f.place), "reason": f.reason, "severity": f.severity}
        for f in judgement.findings
    ]
    neutralised = str(neutralise(text.text, text.channel).text).encode("utf-8", "replace").decode()
    return {"id": text.id, "verdict": judgement.verdict, "neutralised": neutralised, "findings": findings}


def _place(text: str, at: int) -> str:
    before = text[:at]
    return f"{before.count(chr(10)) + 1}:{at - before.rfind(chr(10))}"


def _report(judged: list[tuple[Text, Judgement]]) -> None:
    rows = [
        (text.id, judgement.verdict, _place(text.text, found.place), found.severity, printable(found.reason))
        for text, judgement in judged
        for found in judgement.findings
    ]
    if rows:
        table(("ID", "VERDICT", "PLACE", "SEVERITY", "REASON"), rows)
    verdicts = [judgement.verdict for _, judgement in judged]
    say(f"{len(judged)} texts: {verdicts.count('reject')} to reject, {verdicts.count('warn')} with warnings")


def marked(before: str, after: str) -> str:
    """Both texts in one: what goes in red, what comes in green, hidden characters by their names."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    parts: list[str] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            parts += [visible(line) for line in old[a:b]]
        else:
            gone, come = visible("".join(old[a:b])), visible("".join(new[c:d]))
            parts += [click.style(gone, fg="red") if gone else ""]
            parts += [click.style(come, fg="green") if come else ""]
    return "".join(parts)
