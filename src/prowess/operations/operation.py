"""What an operation is: one verb with its input, answer, role and errors, written down once.

Above: the faces, each of which reads the same table: HTTP serves it, the OpenAPI document describes it, the
command line calls it, here or over a server. Below: the engine. A function that does the work takes a `Call`
and returns a value; it knows nothing of HTTP or terminals.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, TypeAlias, TypedDict, TypeVar, Unpack, get_args

import msgspec

from prowess.engine.engine import Engine
from prowess.errors import ProwessError
from prowess.operations.person import Person, Role
from prowess.sources.read_all import SyncProgress, no_progress
from prowess.types import DEFAULT_AGENT

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


class NoParams(RequestParams, frozen=True, kw_only=True):
    """Nothing more than which operation it is."""


NO_PARAMS = NoParams()


class AgentQuery(RequestParams, frozen=True, kw_only=True):
    """Which agent something is asked about."""

    agent: Name = DEFAULT_AGENT


class Done(msgspec.Struct, frozen=True):
    """It was done, and there is nothing more to say."""

    done: bool = True


P = TypeVar("P", bound=RequestParams)
A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Call(Generic[P]):
    """One request, read and allowed."""

    engine: Engine
    person: Person
    params: P
    path: Mapping[str, str]
    progress: SyncProgress = no_progress
    server: Any = None
    """What a server has besides its engine; nothing where the call does not come over one."""

    @property
    def by(self) -> str:
        return self.person.name

    @property
    def is_agent(self) -> bool:
        """Whether an agent asks for itself: then nothing it is denied may be in the answer."""
        return self.person.role == "agent"


class Flags(TypedDict, total=False):
    """What may be said of an operation besides its name and address; see `Operation`."""

    errors: tuple[type[ProwessError], ...]
    role: Role
    agents: bool
    about_agent: bool
    status: int
    media: str
    signed: bool
    reads: bool
    slow: bool
    quotes: bool
    shown_once: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Generic[P, A]):
    id: str
    method: str
    path: str
    run: Callable[[Call[P]], A]
    errors: tuple[type[ProwessError], ...] = ()
    """What it may raise, besides that the store cannot be used."""
    role: Role = "viewer"
    """The least a person must be."""
    agents: bool = False
    """Whether the agent in the path may do it with its own token."""
    about_agent: bool = False
    """Whether `?agent=` says which agent is meant, beside what the body says."""
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
    def does(self) -> str:
        """What it does, in a sentence."""
        return (self.run.__doc__ or "").partition("\n")[0].rstrip(".")

    @property
    def takes(self) -> type[P]:
        """What it is asked with."""
        found: type[P] = get_args(self.run.__annotations__["call"])[0]
        return found

    @property
    def answer(self) -> type[A]:
        """What it answers."""
        found: type[A] = self.run.__annotations__["return"]
        return found

    @property
    def query(self) -> type[RequestParams] | None:
        """What stands in the query of its address, over HTTP."""
        if self.about_agent:
            return AgentQuery
        return self.takes if self.method == "GET" and self.takes is not NoParams else None

    @property
    def body(self) -> type[P] | None:
        """What its body says, over HTTP."""
        return self.takes if self.method != "GET" and self.takes is not NoParams else None

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


AnyOperation: TypeAlias = Operation[Any, Any]


def operation(
    id: str, address: str, **flags: Unpack[Flags]
) -> Callable[[Callable[[Call[P]], A]], Operation[P, A]]:
    """Declare the function below as an operation: its types and its first sentence are part of it.

    id: its name in the document, the journal and the table.
    address: its method and path, such as "POST /lessons/{id}/retire".
    flags: what else is true of it.
    """
    method, _, path = address.partition(" ")
    return lambda run: Operation(id=id, method=method, path=path, run=run, **flags)


def declared_in(module: object) -> tuple[AnyOperation, ...]:
    """The operations of a module, in their order."""
    return tuple(value for value in vars(module).values() if isinstance(value, Operation))


class Table:
    """Operations found by method and path."""

    def __init__(self, operations: Iterable[AnyOperation]) -> None:
        self.operations = tuple(operations)
        self._by_length: dict[int, list[AnyOperation]] = {}
        for operation in self.operations:
            self._by_length.setdefault(len(operation.segments), []).append(operation)

    def at(self, segments: tuple[str, ...]) -> dict[str, AnyOperation]:
        """Method -> what it does at a path; a path in fixed words hides those with braces."""
        fitting = [o for o in self._by_length.get(len(segments), ()) if _fits(o.segments, segments)]
        fewest = min((len(operation.names) for operation in fitting), default=0)
        return {operation.method: operation for operation in fitting if len(operation.names) == fewest}


def named(operation: AnyOperation, segments: tuple[str, ...]) -> dict[str, str]:
    """What the braces of a path stand for in this one."""
    pairs = zip(operation.segments, segments, strict=True)
    return {part[1:-1]: given for part, given in pairs if part.startswith("{")}


def _fits(parts: tuple[str, ...], segments: tuple[str, ...]) -> bool:
    return all(
        part == given or (part.startswith("{") and given) for part, given in zip(parts, segments, strict=True)
    )
