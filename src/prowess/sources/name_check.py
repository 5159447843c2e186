"""Names that come back: what the sanitiser would change about one cannot be mended, so it is refused.

A text is neutralised and shown. A name is a key: whoever uses the capability sends it back as it was
shown, and a changed one would mean something else. So whatever carries one is left out, and a person is
told.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from prowess.sources.names import legible
from prowess.types import Capability, Draft, Json, Problem, SourceEntry, SourceReading

PLACES = ("uri", "uri_template", "mime_type")
MAX_QUOTED_LENGTH = 60
PLAIN = re.compile(r"[a-z_-]+[0-9]{0,4}")
"""No voice can be written or encoded with these alone: not worth asking about."""


def without_forged_names(source: str, reading: SourceReading) -> SourceReading:
    """The reading without capabilities that have another voice in a name, and a problem for each."""
    names = _Names()
    entries: list[SourceEntry] = []
    problems = list(reading.problems)
    for entry in reading.entries:
        forged = {draft.capability.id: name for draft in entry.drafts or () if (name := names.forged(draft))}
        problems += [_problem(source, id, name) for id, name in forged.items()]
        entries.append(_without(entry, forged))
    return replace(reading, entries=tuple(entries), problems=tuple(problems))


def _without(entry: SourceEntry, forged: Mapping[str, str]) -> SourceEntry:
    if not forged:
        return entry
    kept = tuple(draft for draft in entry.drafts or () if draft.capability.id not in forged)
    # Read every time, so that the problem stands for as long as the name does.
    return replace(entry, stamp="", drafts=kept)


def _problem(source: str, id: str, name: str) -> Problem:
    what = f"the name {legible(name, MAX_QUOTED_LENGTH)!r} in it could pass for another voice"
    return Problem(source, legible(id), what, "left out; rename it, or ask its author to", "warning")


class _Names:
    """What the sanitiser says about names; most of those in one reading are the same few."""

    def __init__(self) -> None:
        # It brings numpy: loaded when something is read, not at the first import.
        from prowess.guard.sanitise import admit

        self._admit = admit
        self._good: set[str] = set()

    def forged(self, draft: Draft) -> str:
        """The first name that the sanitiser would change; empty when there is none."""
        return next((name for name in _names(draft) if not self._is_good(name)), "")

    def _is_good(self, name: str) -> bool:
        if PLAIN.fullmatch(name) or name in self._good:
            return True
        one_line = " ".join(name.split())
        # Renderers put a name on one line, which may join what stood apart. One without a blank is never
        # first on a line, and nobody's turn: `system:health` is an event like any other.
        forms = (name, one_line) if " " in one_line else (f"name {name}",)
        if any(self._admit(form, "schema_field") != form for form in forms):
            return False
        self._good.add(name)
        return True


def _names(draft: Draft) -> Iterator[str]:
    capability = draft.capability
    yield from (capability.id, capability.kind, capability.name, capability.provider)
    yield from (capability.source_ref.place, capability.source_ref.entry)
    yield from (*capability.parameters, *capability.required_secrets)
    yield from _places(capability)
    yield from _keys(draft.detail.input_schema)
    yield from _keys(draft.detail.output_schema)


def _places(capability: Capability) -> Iterator[str]:
    return (str(capability.metadata[place]) for place in PLACES if place in capability.metadata)


def _keys(value: Json) -> Iterator[str]:
    """Every key, at any depth."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Mapping):
            yield from map(str, found)
            waiting += found.values()
        elif isinstance(found, list | tuple):
            waiting += found
