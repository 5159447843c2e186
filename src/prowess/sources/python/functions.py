"""Functions: Python callables as tools, described by their docstring and signature.

`@tool` only marks a function; a source reads the marked functions of a module, and any callable it
is given. The id is `tool:name`; the provider is the module.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, Unpack, overload

from prowess.errors import SourceError
from prowess.sources.files.fields import LONGEST_TEXT, Fields
from prowess.sources.files.normalise import Origin, declared, parameter_names, title
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
from prowess.sources.python.signatures import Schema, schema_of
from prowess.sources.source import Known, Progress, silent
from prowess.types import Draft, Problem, Provider, SourceEntry, SourceReading, SourceRef

_MARK = "__prowess_tool__"
_Function = TypeVar("_Function", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class ToolMark:
    """What the author says about a function beyond its docstring; empty means: ask the function."""

    name: str = ""
    description: str = ""
    further: DecoratorFields = field(default_factory=DecoratorFields)


@overload
def tool(function: _Function, /) -> _Function: ...


@overload
def tool(
    *,
    name: str = "",
    description: str = "",
    **further: Unpack[DecoratorOptions],
) -> Callable[[_Function], _Function]: ...


def tool(
    function: _Function | None = None,
    /,
    *,
    name: str = "",
    description: str = "",
    **further: Unpack[DecoratorOptions],
) -> _Function | Callable[[_Function], _Function]:
    """Mark a function as a tool: `@tool`, or `@tool(name=..., side_effects=False)`.

    function: what is marked, where the decorator has no arguments.
    name: its name, where the function's own is not meant.
    description: what it does, where the docstring is not meant.
    further: what holds for events, too: display_name, tags, category, side_effects=False where using it
        changes nothing, required_secrets, required_tools, and examples, which are requests that it answers.
    """
    mark = ToolMark(name, description, DecoratorFields(**further))

    def put(function: _Function) -> _Function:
        put_mark(function, _MARK, mark)
        return function

    return put if function is None else put(function)


@dataclass(frozen=True, slots=True, kw_only=True)
class Functions:
    name: str
    functions: tuple[Callable[..., object], ...] = ()
    module: str = ""
    folder: str = ""
    """Where the module is looked for first."""
    faculties: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return "functions"

    @property
    def is_loaded(self) -> bool:
        """Whether this process has loaded it, whatever others could not."""
        return bool(self.functions) or is_loaded(self.module)

    @property
    def watched(self) -> list[Path]:
        """The files that its functions are read from."""
        return files_of(self.module, self.folder) if self.module else []

    def read(self, known: Known, progress: Progress = silent) -> SourceReading:
        """Python is read every time: a function does not tell when something it rests on changed."""
        try:
            found = self._found()
        except SourceError as error:
            provider = self._provider(self.module, error.message)
            return SourceReading(
                providers=(provider,), problems=(error.problem(self.name),), down=error.message
            )
        entries: dict[str, list[Draft]] = {}
        problems = list(self._nothing_marked(found))
        for done, function in enumerate(found, 1):
            problems.extend(self._read_one(function, entries))
            progress(done, len(found))
        return SourceReading(
            entries=tuple(SourceEntry(place, "", tuple(drafts)) for place, drafts in entries.items()),
            providers=tuple(self._provider(place) for place in entries),
            problems=tuple(problems),
        )

    def _found(self) -> Sequence[Callable[..., object]]:
        marked = marked_in(load_module(self.module, self.folder), _MARK) if self.module else ()
        return [*self.functions, *marked]

    def _nothing_marked(self, found: Sequence[object]) -> Iterable[Problem]:
        if self.module and len(found) == len(self.functions):
            remedy = "put @prowess.tool above the functions an agent may call"
            yield Problem(self.name, self.module, "has no marked function", remedy, "warning")

    def _provider(self, place: str, down: str = "") -> Provider:
        return Provider(name=place, source=self.name, faculties=self.faculties, down=down)

    def _read_one(
        self, function: Callable[..., object], entries: dict[str, list[Draft]]
    ) -> Sequence[Problem]:
        place = place_of(function, self.name)
        drafts = entries.setdefault(place, [])
        try:
            described = describe(
                function, Origin(self.name, place, SourceRef(self.kind, place, entry_of(function)))
            )
        except SourceError as error:
            return [error.problem(self.name)]
        drafts.append(described.draft)
        return described.problems


@dataclass(frozen=True, slots=True)
class Described:
    draft: Draft
    problems: tuple[Problem, ...]


def describe(function: Callable[..., object], origin: Origin) -> Described:
    """The tool this callable is. Raises `SourceError` when it cannot be one."""
    mark = getattr(function, "__dict__", {}).get(_MARK) or ToolMark()
    place = f"{origin.ref.place}.{origin.ref.entry}"
    docstring = parse_docstring(getattr(function, "__doc__", None))
    try:
        schema = schema_of(function, docstring.parameters)
    except (TypeError, ValueError):
        schema = Schema({"type": "object"}, ("the signature",))
    name = _callable_name(function, mark, place)
    fields = Fields(
        place,
        {
            "name": name,
            "description": (mark.description or docstring.summary or title(name))[:LONGEST_TEXT],
            "input_schema": schema.schema,
            **mark.further.fields,
        },
    )
    is_described = bool(mark.description or docstring.summary)
    return Described(
        draft=declared(fields, "tool", origin),
        problems=(*_undescribed(origin.source, place, is_described), *_untyped(origin.source, place, schema)),
    )


def is_tool(function: Callable[..., object], name: str) -> bool:
    """Whether this callable is the tool of that name: what one function makes shares all but its name."""
    mark: ToolMark = getattr(function, "__dict__", {}).get(_MARK) or ToolMark()
    return name == (mark.name or getattr(function, "__name__", ""))


def _callable_name(function: Callable[..., object], mark: ToolMark, place: str) -> str:
    name = mark.name or getattr(function, "__name__", "") or type(function).__name__
    if not isinstance(name, str) or name.startswith("<"):
        raise SourceError(place, "has no name of its own", "name it: prowess.tool(name=...)(function)")
    return name


def _undescribed(source: str, place: str, is_described: bool) -> Iterable[Problem]:
    if not is_described:
        remedy = "give it a docstring, or @prowess.tool(description=...)"
        yield Problem(source, place, "has no description beyond its name", remedy, "warning")


def _untyped(source: str, place: str, schema: Schema) -> tuple[Problem, ...]:
    return tuple(
        Problem(
            source,
            place,
            f"the type of {parameter!r} has no JSON schema, so anything is accepted",
            "annotate it with plain types, a dataclass or a TypedDict",
            "warning",
        )
        for parameter in schema.untyped
        if parameter in parameter_names(schema.schema) or parameter == "the signature"
    )
