"""What a sync reads from servers is judged before anybody can see it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from prowess.context.classifier import Classifier
from prowess.context.sanitise import Channel, Judgement, judge
from prowess.types import Draft, Json

MOST_FIELDS = 200
"""How many texts of one schema are judged."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One text of a capability, and what the guard says about it."""

    channel: Channel
    text: str
    judgement: Judgement


def unsafe(draft: Draft, classifier: Classifier | None, for_fields: Classifier | None = None) -> str:
    """Why a text may not be shown before a person has looked at it; empty when nothing speaks against it.

    The fields of a schema, which are many, may have a quicker classifier.
    """
    for one in judged(draft, classifier, for_fields or classifier):
        if one.judgement.verdict == "reject":
            return f"its {one.channel.replace('_', ' ')} looks like an attack: {one.judgement.reason}"
    return ""


def judged(draft: Draft, classifier: Classifier | None, for_fields: Classifier | None) -> Iterator[Judged]:
    """Every text of a capability that a model could be shown, judged one after the other."""
    for channel, text in _texts(draft):
        chosen = for_fields if channel == "schema_field" else classifier
        yield Judged(channel, text, judge(text, channel, classifier=chosen))


def _texts(draft: Draft) -> Iterator[tuple[Channel, str]]:
    yield "tool_description", f"{draft.capability.display_name}\n{draft.capability.description}"
    for number, text in enumerate(_fields(draft.detail.input_schema)):
        if number < MOST_FIELDS:
            yield "schema_field", text
    if draft.detail.content:
        yield "skill", draft.detail.content


def _fields(value: Json) -> Iterator[str]:
    """Every text in a schema that is longer than a name."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str) and " " in found:
            yield found
        elif isinstance(found, Mapping):
            waiting += found.values()
        elif isinstance(found, list | tuple):
            waiting += found
