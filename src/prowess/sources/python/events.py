"""Events: handlers that declare which event they serve, as capabilities of their own.

`@event_handler("message:publish", ...)` only marks the function; a handler may serve several events.
The id is `event:message:publish`; what the handler declares is in the metadata: `capability`,
`requires_auth` and `resource_intensive`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, Unpack

from prowess.errors import SourceError
from prowess.sources.files.fields import LONGEST_TEXT, Fields
from prowess.sources.files.normalise import Origin, declared
from prowess.sources.python.decorator_fields import DecoratorFields, DecoratorOptions
from prowess.sources.python.docstrings import parse_docstring
from prowess.sources.python.modules import (
    entry_of,
    files_of,
    is_loaded,
    load_module,
    marked_in,
    place_of,
    put_mark,
)
from prowess.sources.python.signatures import payload_schema, schema_of, takes_payload
from prowess.sources.source import Known, Progress, silent
from prowess.text.values import Json
from prowess.types import Draft, JsonObject, Problem, Provider, SourceEntry, SourceReading, SourceRef

_MARK = "__prowess_events__"
_Function = TypeVar("_Function", bound=Callable[..., object])


@dataclass(frozen=True, slots=True, kw_only=True)
class EventMark:
    """What a handler declares about one event it serves."""

    event: str
    capability: str = ""
    description: str = ""
    requires_auth: bool = False
    resource_intensive: bool = False
    further: DecoratorFields = field(default_factory=DecoratorFields)


def event_handler(
    event: str,
    *,
    capability: str = "",
    description: str = "",
    requires_auth: bool = False,
    resource_intensive: bool = False,
    **further: Unpack[DecoratorOptions],
) -> Callable[[_Function], _Function]:
    """Mark a function as the handler of an event.

    event: its name, such as "message:publish".
    capability: the grant it belongs to, such as "agent_messaging".
    description: what it does, where the docstring is not meant.
    requires_auth: only for agents of which it is certain who they are.
    resource_intensive: counted against the limits of the agent's profile.
    further: what holds for tools, too: display_name, tags, category, side_effects=False where it changes
        nothing, required_secrets, required_tools, and examples, which are requests that it answers.
    """
    mark = EventMark(
        event=event,
        capability=capability,
        description=description,
        requires_auth=requires_auth,
        resource_intensive=resource_intensive,
        further=DecoratorFields(**further),
    )

    def put(function: _Function) -> _Function:
        # Decorators run from the bottom up; the marks keep the order they are read in.
        put_mark(function, _MARK, (mark, *declarations(function)))
        return function

    return put


def declarations(handler: Callable[..., object]) -> tuple[EventMark, ...]:
    """Everything this handler declares."""
    marks: tuple[EventMark, ...] = getattr(handler, "__dict__", {}).get(_MARK, ())
    return marks


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    name: str
    handlers: tuple[Callable[..., object], ...] = ()
    module: str = ""
    folder: str = ""
    """Where the module is looked for first."""
    faculties: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return "events"

    @property
    def is_loaded(self) -> bool:
        """Whether this process has loaded it, whatever others could not."""
        return bool(self.handlers) or is_loaded(self.module)

    @property
    def watched(self) -> list[Path]:
        """The files that its functions are read from."""
        return files_of(self.module, self.folder) if self.module else []

    def read(self, known: Known, progress: Progress = silent) -> SourceReading:
        try:
            handlers = self._found()
        except SourceError as error:
            provider = Provider(
                name=self.module, source=self.name, faculties=self.faculties, down=error.message
            )
            return SourceReading(
                providers=(provider,), problems=(error.problem(self.name),), down=error.message
            )
        entries: dict[str, list[Draft]] = {}
        problems = list(self._unmarked(handlers))
        for done, handler in enumerate(handlers, 1):
            problems.extend(self._read_one(handler, entries))
            progress(done, len(handlers))
        return SourceReading(
            entries=tuple(SourceEntry(place, "", tuple(drafts)) for place, drafts in entries.items()),
            providers=tuple(
                Provider(name=place, source=self.name, faculties=self.faculties) for place in entries
            ),
            problems=tuple(problems),
        )

    def _found(self) -> Sequence[Callable[..., object]]:
        marked = marked_in(load_module(self.module, self.folder), _MARK) if self.module else ()
        return [*self.handlers, *marked]

    def _unmarked(self, handlers: Sequence[Callable[..., object]]) -> Iterable[Problem]:
        places = [f"{place_of(h, self.name)}.{entry_of(h)}" for h in handlers if not declarations(h)]
        if self.module and len(handlers) == len(self.handlers):
            places.append(self.module)
        for place in places:
            remedy = "put @prowess.event_handler('area:event', ...) above the handler"
            yield Problem(self.name, place, "declares no event", remedy, "warning")

    def _read_one(self, handler: Callable[..., object], entries: dict[str, list[Draft]]) -> Sequence[Problem]:
        place = place_of(handler, self.name)
        origin = Origin(self.name, place, SourceRef(self.kind, place, entry_of(handler)))
        problems: list[Problem] = []
        for mark in declarations(handler):
            try:
                draft = _draft(handler, mark, origin)
                entries.setdefault(place, []).append(draft)
            except SourceError as error:
                problems.append(error.problem(self.name))
        return problems


def _schema(handler: Callable[..., object]) -> JsonObject | None:
    """What the event takes: the handler's one object, or its parameters by name."""
    if takes_payload(handler):
        return payload_schema(handler)
    described = parse_docstring(getattr(handler, "__doc__", None)).parameters
    return schema_of(handler, described).schema


def _draft(handler: Callable[..., object], mark: EventMark, origin: Origin) -> Draft:
    place = f"{origin.ref.place}.{origin.ref.entry}"
    summary = mark.description or parse_docstring(getattr(handler, "__doc__", None)).summary
    values: dict[str, Json] = {
        "name": mark.event,
        "description": (summary or f"Handles the event {mark.event}")[:LONGEST_TEXT],
        "input_schema": _schema(handler),
        **mark.further.fields,
        "metadata": {
            "capability": mark.capability,
            "requires_auth": mark.requires_auth,
            "resource_intensive": mark.resource_intensive,
        },
    }
    return declared(Fields(place, values), "event", origin)
