"""Operations: everything the API can do, declared. Routes and the OpenAPI document are read from them.

Above: `dispatch`, which serves them, and `openapi`, which describes them. Below: `api/`, one file for each
resource, each with a table of its operations. A handler takes a `Call` and returns a value; it knows
nothing of HTTP.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from prowess.engine.engine import Engine
from prowess.types import DEFAULT_AGENT
from prowess.web.stream import Streams
from prowess.web.users import Person, Role, Users

JSON = "application/json"
Method: TypeAlias = Literal["GET", "POST", "PUT", "DELETE"]

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Text = Annotated[str, msgspec.Meta(max_length=100_000)]
Note = Annotated[str, msgspec.Meta(max_length=2_000)]
Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
Number = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Limit = Annotated[int, msgspec.Meta(ge=1, le=500)]
Fraction = Annotated[float, msgspec.Meta(ge=0, le=1)]


class RequestParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a request says, in its query or its body: nothing that is not known."""


class AgentQuery(RequestParams, frozen=True, kw_only=True):
    """Which agent something is asked about."""

    agent: Name = DEFAULT_AGENT


class Done(msgspec.Struct, frozen=True):
    """It was done, and there is nothing more to say."""

    done: bool = True


@dataclass(frozen=True, slots=True)
class Call:
    """One request, read and allowed."""

    engine: Engine
    people: Users
    person: Person
    path: Mapping[str, str]
    query: Any = None
    body: Any = None
    last_event: str = ""
    streams: Streams = field(default_factory=Streams)

    @property
    def by(self) -> str:
        return self.person.name

    @property
    def is_agent(self) -> bool:
        """Whether an agent asks for itself: then nothing it is denied may be in the answer."""
        return self.person.role == "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    id: str
    method: Method
    path: str
    does: str
    run: Callable[[Call], object]
    answer: Any
    role: Role = "viewer"
    """The least a person must be."""
    agents: bool = False
    """Whether the agent in the path may do it with its own token."""
    query: type[RequestParams] | None = None
    body: type[RequestParams] | None = None
    status: int = 200
    media: str = JSON
    """Anything but JSON is a stream: `run` then returns an iterator of bytes."""
    signed: bool = False
    """Whether the journal learns from the engine itself who did it."""
    reads: bool = False
    """A POST that changes nothing."""
    slow: bool = False
    """Whether it may take seconds: it then takes no place of those who want an answer at once."""
    quotes: bool = False
    """Whether the answer quotes what others wrote, in which somebody may have left a credential."""
    shown_once: bool = False
    """The answer is a secret, so that it is not kept for a repetition."""

    @property
    def writes(self) -> bool:
        return self.method != "GET" and not self.reads

    @property
    def segments(self) -> tuple[str, ...]:
        return tuple(self.path.strip("/").split("/"))

    @property
    def names(self) -> tuple[str, ...]:
        """What stands in braces in the path."""
        return tuple(part[1:-1] for part in self.segments if part.startswith("{"))


class Table:
    """Operations found by method and path."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self.operations = tuple(operations)
        self._by_length: dict[int, list[Operation]] = {}
        for operation in self.operations:
            self._by_length.setdefault(len(operation.segments), []).append(operation)

    def at(self, segments: tuple[str, ...]) -> dict[str, Operation]:
        """Method -> what it does at a path; a path in fixed words hides those with braces."""
        fitting = [o for o in self._by_length.get(len(segments), ()) if _fits(o.segments, segments)]
        fewest = min((len(operation.names) for operation in fitting), default=0)
        return {operation.method: operation for operation in fitting if len(operation.names) == fewest}


def named(operation: Operation, segments: tuple[str, ...]) -> dict[str, str]:
    """What the braces of a path stand for in this one."""
    pairs = zip(operation.segments, segments, strict=True)
    return {part[1:-1]: given for part, given in pairs if part.startswith("{")}


def _fits(parts: tuple[str, ...], segments: tuple[str, ...]) -> bool:
    return all(
        part == given or (part.startswith("{") and given) for part, given in zip(parts, segments, strict=True)
    )
