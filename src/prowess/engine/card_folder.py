"""Cards of a folder without a store: for a first look, and for checking them before they are used."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from prowess.cards.card import Card, Guard, card_of
from prowess.cards.guard import shipped_guard
from prowess.cards.injection import BootstrapFile, Injection, baseline_warnings, fitted, place, told
from prowess.cards.relevance import Embedder, Meanings, Relevance
from prowess.cards.rules import check_names, local_time, recent, rules_for, why_held_back
from prowess.cards.scorers import Scorer, Scoring, keyword, named, one_by_one
from prowess.cards.selection import Skipped, select
from prowess.cards.triggers import is_time
from prowess.catalogue.arrival import digest
from prowess.config import CardsConfig
from prowess.errors import EncoderUnavailable, SourceError
from prowess.sources.files.cards import CardFiles
from prowess.token_counts import counter
from prowess.types import Draft, Problem, SourceReading, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCard:
    """What is wrong with one card, for people and for CI."""

    id: str
    path: str
    ok: bool
    neutralised: bool = False
    accepted_by: str = ""
    """Who took what the guard found in exactly this content."""
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


Accepted = Mapping[tuple[str, str], str]
"""(id, digest) -> who took this content as it is."""


def read_folder(source: CardFiles) -> SourceReading:
    """The cards of a folder; raises when there is no such folder to read."""
    reading = source.read({})
    missing = [p for p in reading.problems if p.place in source.paths and not reading.entries]
    if missing:
        raise SourceError(missing[0].place, missing[0].what, "create it, or name another folder")
    return reading


def inject_from(
    source: CardFiles, files: Sequence[BootstrapFile], turn: Turn, config: CardsConfig,
    clock: Callable[[], datetime], accepted: Accepted, root: Path,
) -> Injection:  # fmt: skip
    """What the cards of a folder add to the files of a turn; nothing is recorded."""
    scorers: dict[str, Scorer | None] = {"relevance": None, "keyword": keyword}
    scorers |= named((config.scorer,), root)
    check_names(config, scorers)
    if not config.enabled:
        return Injection(files=tuple(files))
    reading = read_folder(source)
    count, guard = counter().count, shipped_guard()
    cards = [_card(draft, guard, accepted) for draft in _drafts(reading)]
    rules = rules_for(config, turn)
    read = recent(turn, config.messages)
    scoring = _scoring(scorers[config.scorer], cards)
    chosen = select(cards, read, scoring, rules, local_time(config, turn, clock))
    selection, text = fitted(chosen, rules.budget, count)
    injection = told(selection, text, why_held_back(config, turn, is_stopped=False))
    unread = (Skipped(_id_of(p), p.what) for p in reading.problems if p.severity == "error")
    return replace(
        injection,
        files=place(files, injection.text),
        file_tokens=count(injection.text),
        skipped=(*unread, *injection.skipped),
        warnings=(*baseline_warnings(files), *map(str, reading.problems)),
        mode=config.mode,
        variant=config.scorer,
    )


def _drafts(reading: SourceReading) -> list[Draft]:
    """Of two cards with one id, the first."""
    first: dict[str, Draft] = {}
    for entry in reading.entries:
        for draft in entry.drafts or ():
            first.setdefault(draft.capability.id, draft)
    return list(first.values())


def _card(draft: Draft, guard: Guard, accepted: Accepted) -> Card:
    card = card_of(draft.capability, draft.detail.content or "", guard, counter().count)
    return card.accepted_as_it_is(accepted.get((card.id, digest(draft)), ""))


def _scoring(scorer: Scorer | None, cards: Sequence[Card]) -> Scoring:
    if scorer is None:
        return Relevance(cards, Meanings(_encoder()))
    return one_by_one(scorer, lambda id, why: None)


def _encoder() -> Embedder | None:
    try:
        from prowess.discovery.encoder import Encoder  # loaded only where it is used

        return Encoder.open()
    except EncoderUnavailable:
        return None


def check_folder(source: CardFiles, guard: Guard, accepted: Accepted) -> tuple[CheckedCard, ...]:
    """Every card of a folder with what is wrong with it, in order of path."""
    reading = read_folder(source)
    found = [_refused(problem) for problem in reading.problems if problem.severity == "error"]
    noted: dict[str, list[str]] = {}
    for problem in reading.problems:
        if problem.severity == "warning":
            noted.setdefault(problem.place, []).append(f"{problem.what}; {problem.remedy}")
    for draft in (draft for entry in reading.entries for draft in entry.drafts or ()):
        card = _card(draft, guard, accepted)
        path = draft.capability.source_ref.place
        found.append(_checked(card, path, noted.get(path, [])))
    return tuple(sorted(_without_doubles(found), key=lambda one: (one.path, one.id)))


def _refused(problem: Problem) -> CheckedCard:
    reasons = (f"{problem.what}; {problem.remedy}",)
    return CheckedCard(id=_id_of(problem), path=problem.place, ok=False, reasons=reasons)


def _id_of(problem: Problem) -> str:
    """A card that cannot be read goes by the name of its file."""
    return f"card:{Path(problem.place).stem}"


def _checked(card: Card, path: str, notes: Sequence[str]) -> CheckedCard:
    times = [f"time_of_day {time!r} is no time" for time in card.times_of_day if not is_time(time)]
    return CheckedCard(
        id=card.id,
        path=path,
        ok=not card.rejected,
        neutralised=card.neutralised,
        accepted_by=card.accepted_by,
        reasons=card.rejected,
        warnings=(*card.warnings, *notes, *times),
    )


def _without_doubles(found: Sequence[CheckedCard]) -> list[CheckedCard]:
    """Of two cards with one id only the first is ever used, so the second is a mistake."""
    first: dict[str, str] = {}
    checked: list[CheckedCard] = []
    for one in sorted(found, key=lambda one: one.path):
        before = first.setdefault(one.id, one.path) if one.ok else one.path
        if before != one.path:
            reason = f"{before} has the same id; give one of them another"
            one = replace(one, ok=False, reasons=(*one.reasons, reason))
        checked.append(one)
    return checked
