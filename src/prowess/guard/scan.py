"""What a sync reads from servers is judged before anybody can see it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from prowess.guard.classifier import Classifier
from prowess.guard.parsed_text import without_quoted_orders
from prowess.guard.sanitise import (
    DOCUMENTS,
    QUOTED_ATTACK,
    Channel,
    Judgement,
    Provenance,
    judge,
)
from prowess.text.secrets import masked
from prowess.types import Capability, Detail, Draft, Json

MOST_FIELDS = 200
"""How many fields of one schema the classifier reads; rules read the others, put together."""
MOST_CHARACTERS = 250_000
"""A capability that says more than this is not judged, and so not shown before a person has looked at it."""
FEW_WORDS = 3
"""Texts of so many words are put together: an attack may be cut into such."""
LONGEST_NAME = 8
"""A name of more words is a sentence."""
LONGEST_PLACE = 200
AROUND = 60
"""How much of a text is shown on each side of what was found."""

SEAM = re.compile(r"[_\-.]+|(?<=[a-z])(?=[A-Z])")
TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


@dataclass(frozen=True, slots=True)
class CapabilityText:
    """One text of a capability that a model can be shown, or several short ones in one."""

    place: str
    channel: Channel
    text: str
    by_rules: bool = False
    """Whether rules alone read it: a list of names is no language that the classifier has learnt."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One text of a capability, and what the guard says about it."""

    channel: Channel
    text: str
    judgement: Judgement
    place: str = ""

    @property
    def name(self) -> str:
        """What a person calls this text."""
        what = self.channel.replace("_", " ")
        return what if self.place in ("", "description", "content", "body") else f"{what} ({self.place})"

    def still_quotes(self, classifier: Classifier | None) -> bool:
        """Whether a document quotes an attack also as a prompt would have it."""
        if self.channel not in DOCUMENTS:
            return False
        again = judge(without_quoted_orders(self.text), self.channel, classifier=classifier)
        return any(found.family == QUOTED_ATTACK for found in again.findings)

    def around(self, at: int) -> str:
        """The words around a place, with a dot for each character of a credential."""
        text = masked(self.text)
        start, end = max(0, at - AROUND), at + AROUND
        return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def located(text: str, at: int) -> str:
    before = text[:at]
    return f"{before.count(chr(10)) + 1}:{at - before.rfind(chr(10))}"


def unsafe(
    draft: Draft,
    classifier: Classifier | None,
    for_fields: Classifier | None = None,
    provenance: Provenance = "unapproved",
    is_own: bool = False,
) -> str:
    """Why a text may not be shown before a person has looked at it; empty when nothing speaks against it.

    The fields of a schema, which are many, may have a quicker classifier. A document of one's own that quotes
    an attack is reported. Of others, one is held back whose quotation cannot be taken out.
    """
    if _is_too_long(draft):
        return f"it says more than {MOST_CHARACTERS:,} characters, which is too much to judge"
    note = ""
    for one in judged(draft, classifier, for_fields or classifier, provenance):
        if one.judgement.verdict == "reject":
            return f"its {one.name} looks like an attack: {one.judgement.reason}"
        for found in one.judgement.findings:
            if found.family == QUOTED_ATTACK and (is_own or one.still_quotes(classifier)):
                note = note or f"its {one.name} {found.reason}"
    return note


def judged(
    draft: Draft,
    classifier: Classifier | None,
    for_fields: Classifier | None,
    provenance: Provenance = "unapproved",
) -> Iterator[Judged]:
    """Every text of a capability that a model could be shown, judged one after the other."""
    for one in () if _is_too_long(draft) else texts(draft):
        chosen = None if one.by_rules else for_fields if one.channel == "schema_field" else classifier
        yield Judged(one.channel, one.text, judge(one.text, one.channel, provenance, chosen), one.place)


def found_in(
    capability: Capability, detail: Detail, classifier: Classifier | None, approved: object | None
) -> tuple[Judged, ...]:
    """What speaks against each text of a capability; `approved` is the version that was approved last."""
    provenance: Provenance = "changed" if approved else "unapproved"
    found = judged(Draft(capability, detail), classifier, classifier, provenance)
    return tuple(one for one in found if one.judgement.findings)


def texts(draft: Draft) -> Iterator[CapabilityText]:
    """Every text of a capability that a model could be shown; names and single words are put together."""
    yield from _written(draft)
    said = list(_said(draft))
    names = list(dict.fromkeys(one.text for one in said if one.is_name))
    values = {one.text: one.place for one in said if not one.is_name}
    sentences = {text: place for text, place in values.items() if len(text.split()) > 1}
    sentences |= {name: "names" for name in map(_spaced, names) if len(name.split()) > LONGEST_NAME}
    fields = [CapabilityText(place, "schema_field", text) for text, place in sentences.items()]
    yield from fields[:MOST_FIELDS]
    yield from _together("further fields", "\n", [field.text for field in fields[MOST_FIELDS:]])
    if fields:
        # An order may be cut over description and fields, so that no part of it says anything.
        description = draft.capability.description
        yield from _together(
            "the whole", "\n", [description, *(field.text for field in fields[:MOST_FIELDS])]
        )
    yield from _together("names", " ", [*names, "\n", *map(_spaced, names)])
    words = [one.text for one in said if not one.is_name and len(one.text.split()) <= FEW_WORDS]
    yield from _together("words", " ", [word for word in words if word not in TYPES])


def _written(draft: Draft) -> Iterator[CapabilityText]:
    """What is written as a text, rather than into the fields of a schema."""
    capability, content = draft.capability, draft.detail.content or ""
    if capability.kind == "card":
        parts = card_parts(capability, content)
        yield from (CapabilityText(place, "card", text) for place, text in parts.items() if text)
        return
    yield CapabilityText(
        "description", "tool_description", f"{capability.display_name}\n{capability.description}"
    )
    if content:
        yield CapabilityText("content", "skill", content)


@dataclass(frozen=True, slots=True)
class _Said:
    place: str
    text: str
    is_name: bool = True


def _said(draft: Draft) -> Iterator[_Said]:
    """Every name, and every text of both schemas, in the order in which they are shown."""
    about, detail = draft.capability, draft.detail
    names = (about.name, about.category, *about.tags, *about.parameters, *about.required_tools)
    yield from (_Said("names", name) for name in names)
    yield from _in_schema("input_schema", detail.input_schema)
    yield from _in_schema("output_schema", detail.output_schema)


def _in_schema(place: str, schema: Json) -> Iterator[_Said]:
    waiting = [(place, schema)]
    while waiting:
        place, found = waiting.pop()
        inner: list[tuple[str, Json]] = []
        if isinstance(found, str):
            yield _Said(place, found, is_name=False)
        elif isinstance(found, Mapping):
            yield from (_Said(place, str(key)) for key in found)
            inner = list(found.items())
        elif isinstance(found, list | tuple):
            inner = [(str(number), value) for number, value in enumerate(found)]
        waiting += [(f"{place}.{name}"[:LONGEST_PLACE], value) for name, value in reversed(inner)]


def _spaced(name: str) -> str:
    """A name as the words it is made of."""
    return SEAM.sub(" ", name)


def _together(place: str, seam: str, parts: Iterable[str]) -> Iterator[CapabilityText]:
    text = seam.join(parts).strip()
    if text:
        yield CapabilityText(place, "schema_field", text, by_rules=True)


def _is_too_long(draft: Draft) -> bool:
    written = sum(len(one.text) for one in _written(draft))
    return written + sum(len(one.text) for one in _said(draft)) > MOST_CHARACTERS


def card_parts(capability: Capability, content: str) -> Mapping[str, str]:
    """Every text of a card that a model can be shown, by what a person calls it."""
    about = capability.metadata
    triggers = about.get("triggers", {})
    words = (*triggers.get("keywords", ()), *triggers.get("router_tags", ()), *capability.tags)
    return {
        "name": capability.display_name,
        "description": capability.description,
        "body": content.strip(),
        "migration": about.get("migration", ""),
        "version": about.get("version", ""),
        "keywords and tags": ", ".join(dict.fromkeys(words)),
    }
