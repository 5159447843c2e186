"""Cards placed into the files an agent starts with, and the line that tells people so.

The files that come in are never changed: what goes out is a new list with one synthetic file in it, or
the same files when there is nothing to say.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

from prowess.cards.card import Count
from prowess.cards.selection import NO_ROOM, SelectedCard, Selection, Skipped
from prowess.guard.sanitise import Prompt, admit
from prowess.types import JsonObject

CAPABILITIES_FILE = "CAPABILITIES.md"
BASELINE_FILE = "AGENTS.md"
LONGEST_BASELINE = 500
HEADING = "# Capability Context (auto-injected)"

LogLevel = Literal["none", "summary", "detailed"]


@dataclass(frozen=True, slots=True)
class BootstrapFile:
    """A file an agent starts with; `name` may hold a path."""

    name: str
    text: str

    @property
    def base(self) -> str:
        return self.name.replace("\\", "/").rpartition("/")[2]


Files = Sequence[BootstrapFile] | Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Injected:
    id: str
    name: str
    relevance: float
    tokens: int
    forced: bool = False
    cut: bool = False
    version: str = ""
    origin: str = "repository"
    accepted_by: str = ""
    """Who took what the guard found in it."""
    text: str = ""
    """What the model reads of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """The files with what was put into them, and what was not."""

    id: str = ""
    """Names this turn in the journal; an outcome that carries it counts for its variant."""
    files: tuple[BootstrapFile, ...]
    injected: tuple[Injected, ...] = ()
    tokens_used: int = 0
    """What the cards cost."""
    file_tokens: int = 0
    """What the whole text costs, its heading included."""
    truncated: bool = False
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()
    text: str = field(default_factory=lambda: admit(""))
    """A `Prompt`; as a plain text in the signature, which the API is described by."""
    mode: str = "full"
    variant: str = ""
    milliseconds: float = 0.0
    held: tuple[Injected, ...] = ()
    """What was selected and is not in the files, because of what `held_back` says."""
    held_back: str = ""


def as_files(files: Files) -> tuple[BootstrapFile, ...]:
    if isinstance(files, Mapping):
        return tuple(BootstrapFile(name, text) for name, text in files.items())
    return tuple(files)


def fitted(selection: Selection, budget: int, count: Count) -> tuple[Selection, Prompt]:
    """The text of the synthetic file within the budget, and what is left of the selection in it.

    The heading always stands, so that the file is known again; the line that names the cards goes in when
    there is room. Joined texts may cost a token more than their parts, so the whole is counted, and the last
    card gives way when it must.
    """
    chosen = list(selection.chosen)
    skipped = list(selection.skipped)
    while chosen:
        for text in (_text(chosen, full=True), _text(chosen, full=False)):
            if text and count(text) <= budget:
                return Selection(tuple(chosen), tuple(skipped)), text
        last = chosen.pop()
        reason = f"{NO_ROOM} ({last.card.tokens} tokens beside the others)"
        skipped.insert(0, Skipped(last.card.id, reason, last.score))
    return replace(selection, chosen=(), skipped=tuple(skipped)), admit("")


def _text(chosen: Sequence[SelectedCard], full: bool) -> Prompt:
    """The cards as one text, through the sanitiser as one: a fence that one opens, another could close."""
    names = ", ".join(one.card.title for one in chosen)
    head = [HEADING, f"> Injected {len(chosen)} capabilities: {names}"] if full else [HEADING]
    return admit("\n\n".join([*head, *(one.card.text for one in chosen)]) + "\n", "result")


def place(files: Sequence[BootstrapFile], text: str) -> tuple[BootstrapFile, ...]:
    """The files with the synthetic one after AGENTS.md, or first; what an earlier turn put in makes room.

    Where somebody has a file of that name, ours stands at the end of theirs: there are never two.
    """
    others = [file for one in files if (file := _without_ours(one)) is not None]
    if not text:
        return tuple(others)
    theirs = next((at for at, file in enumerate(others) if file.base == CAPABILITIES_FILE), None)
    if theirs is not None:
        file = others[theirs]
        whole = replace(file, text=f"{file.text.rstrip()}\n\n{text}")
        return (*others[:theirs], whole, *others[theirs + 1 :])
    at = next((number for number, file in enumerate(others, 1) if file.base == BASELINE_FILE), 0)
    return (*others[:at], BootstrapFile(CAPABILITIES_FILE, text), *others[at:])


def _without_ours(file: BootstrapFile) -> BootstrapFile | None:
    """The file without what an earlier turn put in; nothing where that was all of it."""
    if file.base != CAPABILITIES_FILE or HEADING not in file.text:
        return file
    theirs = file.text.partition(HEADING)[0].rstrip()
    return replace(file, text=f"{theirs}\n") if theirs else None


def injected(selection: Selection) -> tuple[Injected, ...]:
    return tuple(
        Injected(
            id=one.card.id,
            name=one.card.name,
            relevance=rounded_down(one.score),
            tokens=one.card.tokens,
            forced=one.forced,
            cut=one.card.cut,
            version=one.card.version,
            origin=one.card.origin,
            accepted_by=one.card.accepted_by,
            text=one.card.text,
        )
        for one in selection.chosen
    )


def as_recorded(injection: Injection, skipped: Sequence[Skipped]) -> dict[str, list[JsonObject]]:
    """As the journal has them: what a card says is in the catalogue, and kept with the offer."""
    return {
        "injected": [_without_text(one) for one in injection.injected],
        "held": [_without_text(one) for one in injection.held],
        "skipped": [{"id": s.id, "reason": s.reason, "score": rounded_down(s.score)} for s in skipped],
    }


def _without_text(one: Injected) -> JsonObject:
    return {name: value for name, value in asdict(one).items() if name != "text"}


def rounded_down(score: float) -> float:
    """A score as it is told: a threshold that is read off it is reached by it."""
    return math.floor(round(score * 10_000, 6)) / 10_000


def told(selection: Selection, text: Prompt, held_back: str) -> Injection:
    """What was selected as it is told: in the text, or held back with the reason."""
    shown = injected(selection)
    if held_back and shown:
        return Injection(files=(), held=shown, held_back=held_back, skipped=selection.skipped)
    return Injection(
        files=(),
        injected=shown,
        tokens_used=selection.tokens,
        truncated=selection.truncated,
        skipped=selection.skipped,
        text=text,
    )


def baseline_warnings(files: Sequence[BootstrapFile]) -> tuple[str, ...]:
    """What is too long to be loaded on every turn."""
    return tuple(
        f"{file.name} has {len(file.text)} characters; a baseline has at most {LONGEST_BASELINE}"
        for file in files
        if file.base == BASELINE_FILE and len(file.text) > LONGEST_BASELINE
    )


def audit_text(injection: Injection, level: LogLevel) -> str:
    """What was injected, in the words of the audit trail; nothing at level `none`."""
    if level == "none":
        return ""
    listed, done = injection.injected, "Injected"
    if injection.held_back:
        listed, done = injection.held, "Would have injected"
    tokens = sum(one.tokens for one in listed)
    head = f"[capability-injection] {done} {len(listed)} capabilities ({tokens} tokens)"
    lines = [f"  {one.name} (relevance: {one.relevance:.2f}, tokens: {one.tokens})" for one in listed]
    if level == "detailed":
        lines += [f"  held back: {injection.held_back}"] if injection.held_back else []
        lines += [f"  skipped {one.id.partition(':')[2]}: {one.reason}" for one in injection.skipped]
        lines += [f"  warning: {warning}" for warning in injection.warnings]
        lines += [f"  variant {injection.variant}, mode {injection.mode}, {injection.milliseconds:.1f} ms"]
    return "\n".join([f"{head}:" if lines else head, *lines])
