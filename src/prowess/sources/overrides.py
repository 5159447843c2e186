"""What prowess.toml says about the capabilities of a source: other names and words for the tools of others,
which of them are left out, and what those are about that do not say it themselves.

Above: a sync, which puts it on what a source read. The author's own text stays beside the new one: it is what
the guard judges and what an approval is for. A call goes out under the author's own names.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from prowess.areas import NO_CATEGORY
from prowess.config import ParameterOverrideConfig, ToolOverrideConfig
from prowess.errors import nearest
from prowess.sources.names import display_name, fault_of_name, legible
from prowess.types import Capability, Detail, Draft, JsonObject, Problem, SourceEntry, SourceReading

OWN_PARAMETERS = "own_parameters"
"""Where the metadata of a capability says what the author calls a parameter: new name -> own name."""
UNKNOWN_TOOL = "is named in prowess.toml, and the source offers no such tool"
UNKNOWN_PARAMETER = "is named in prowess.toml, and the tool takes no such parameter"
SPEAK_OF_PARAMETERS = frozenset(
    {"dependentRequired", "dependentSchemas", "dependencies", "patternProperties", "propertyNames",
     "allOf", "anyOf", "oneOf", "not", "if", "then", "else"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Overrides:
    """What is different about what one source brings; its tools by the names that their author gave them."""

    tools: Mapping[str, ToolOverrideConfig] = field(default_factory=dict)
    disabled: tuple[str, ...] = ()
    category: str = ""

    def __bool__(self) -> bool:
        return bool(self.tools or self.disabled or self.category)


NO_OVERRIDES = Overrides()


def own_arguments(capability: Capability, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Arguments under the names that the author of a tool gave its parameters."""
    own = capability.metadata.get(OWN_PARAMETERS)
    if not isinstance(own, Mapping):
        return arguments
    return {own.get(name, name): value for name, value in arguments.items()}


def overridden(source: str, reading: SourceReading, overrides: Overrides) -> SourceReading:
    """A reading as prowess.toml wants it, and a problem for everything in it that means nothing."""
    if not overrides or reading.down:
        return reading
    worded = _Worded(source, overrides, tuple(_tools(reading)))
    entries = tuple(worded.entry(entry) for entry in reading.entries)
    if all(entry.drafts is not None for entry in reading.entries):
        worded.note_unknown()
    if worded.problems:
        # Read every time, so that the problem stands for as long as what is wrong does.
        entries = tuple(replace(entry, stamp="") if entry.drafts is not None else entry for entry in entries)
    return replace(reading, entries=entries, problems=(*reading.problems, *worded.problems))


def _tools(reading: SourceReading) -> Iterator[Capability]:
    for entry in reading.entries:
        yield from (draft.capability for draft in entry.drafts or () if draft.capability.kind == "tool")


class _Worded:
    """The drafts of one source, worded as prowess.toml says."""

    def __init__(self, source: str, overrides: Overrides, tools: tuple[Capability, ...]) -> None:
        self.problems: list[Problem] = []
        self._source = source
        self._overrides = overrides
        self._names = {tool.name for tool in tools} - set(overrides.disabled)
        self._offered = {tool.name for tool in tools}

    def entry(self, entry: SourceEntry) -> SourceEntry:
        if entry.drafts is None:
            return entry
        kept = [draft for draft in entry.drafts if not self._is_disabled(draft.capability)]
        return replace(entry, drafts=tuple(map(self._draft, kept)))

    def note_unknown(self) -> None:
        for name in (*self._overrides.tools, *self._overrides.disabled):
            if name not in self._offered:
                self._problem(name, UNKNOWN_TOOL, self._offered)

    def _is_disabled(self, capability: Capability) -> bool:
        return capability.kind == "tool" and capability.name in self._overrides.disabled

    def _draft(self, draft: Draft) -> Draft:
        capability = draft.capability
        said = self._overrides.tools.get(capability.name) if capability.kind == "tool" else None
        changed, detail = self._categorised(capability), draft.detail
        if said is not None:
            changed = self._described(self._renamed(changed, said.name), said.description)
            changed, detail = self._parameters(changed, detail, capability.name, said.parameters)
        if (changed, detail) == (capability, draft.detail):
            return draft
        return Draft(changed, detail, original=draft)

    def _categorised(self, capability: Capability) -> Capability:
        category = self._overrides.category
        if not category or capability.category != NO_CATEGORY:
            return capability
        return replace(capability, category=category)

    def _renamed(self, capability: Capability, name: str) -> Capability:
        if not name or name == capability.name:
            return capability
        fault = fault_of_name(name) or ("another tool has that name" if name in self._names else "")
        if fault:
            self._problem(capability.name, f"cannot be named {legible(name)!r}: {fault}")
            return capability
        self._names = {*self._names, name}
        own = capability.id.removesuffix(capability.name)
        return replace(capability, id=f"{own}{name}", name=name, display_name=display_name(name))

    def _described(self, capability: Capability, description: str | None) -> Capability:
        return capability if description is None else replace(capability, description=description)

    def _parameters(
        self, capability: Capability, detail: Detail, tool: str, said: Mapping[str, ParameterOverrideConfig]
    ) -> tuple[Capability, Detail]:
        schema, offered = detail.input_schema or {}, (detail.input_schema or {}).get("properties")
        properties: dict[str, Any] = dict(offered) if isinstance(offered, Mapping) else {}
        renamed: dict[str, str] = {}
        for own, parameter in said.items():
            if own not in properties:
                self._problem(f"{tool}.{own}", UNKNOWN_PARAMETER, properties)
                continue
            if parameter.description is not None and isinstance(properties[own], Mapping):
                properties[own] = {**properties[own], "description": parameter.description}
            if parameter.name and self._may_be_renamed(tool, own, parameter.name, schema, renamed):
                renamed[own] = parameter.name
        if not said:
            return capability, detail
        worded = {**schema, "properties": {renamed.get(own, own): value for own, value in properties.items()}}
        if isinstance(required := schema.get("required"), list | tuple):
            worded["required"] = [renamed.get(own, own) for own in map(str, required)]
        metadata = dict(capability.metadata)
        if renamed:
            metadata[OWN_PARAMETERS] = {new: own for own, new in renamed.items()}
        names = tuple(renamed.get(own, own) for own in capability.parameters)
        return replace(capability, parameters=names, metadata=metadata), replace(detail, input_schema=worded)

    def _may_be_renamed(
        self, tool: str, own: str, name: str, schema: JsonObject, renamed: Mapping[str, str]
    ) -> bool:
        place = f"{tool}.{own}"
        if fault := fault_of_name(name):
            self._problem(place, f"cannot be named {legible(name)!r}: {fault}")
        elif name in schema["properties"] or name in renamed.values():
            self._problem(place, f"cannot be named {name!r}: another parameter has that name")
        elif SPEAK_OF_PARAMETERS & schema.keys():
            self._problem(place, "cannot be renamed: its schema speaks of parameters in other places, too")
        else:
            return True
        return False

    def _problem(self, place: str, what: str, known: "set[str] | dict[str, Any] | None" = None) -> None:
        close = nearest(place.rpartition(".")[2] if isinstance(known, dict) else place, known or ())
        remedy = f"did you mean {close!r}?" if close else "correct prowess.toml; see: prowess list"
        self.problems.append(Problem(self._source, f"{self._source}/{legible(place)}", what, remedy))
