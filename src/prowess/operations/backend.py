"""Where operations are carried out: here beside the store, or over a server. Both are a `Backend`."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol, Self, TypeVar

import msgspec

from prowess.engine.engine import Engine
from prowess.operations.operation import Call, Operation, RequestParams
from prowess.operations.paging import MAX_CURSOR_NUMBER, Page
from prowess.operations.person import Person
from prowess.sources.read_all import SyncProgress, no_progress

P = TypeVar("P", bound=RequestParams)
A = TypeVar("A")


class Backend(Protocol):
    """What carries operations out."""

    @property
    def server(self) -> str:
        """The address of the server; empty beside the store."""

    def call(self, operation: Operation[P, A], params: P, /, **path: str) -> A:
        """Carry one out; `path` says what the braces of its path stand for, and which agent is meant."""

    def pages(
        self, operation: Operation[P, Page[A]], params: P, most: int | None = None, /, **path: str
    ) -> Iterable[A]:
        """The items of a long list, all or the first of them."""

    def reporting(self, progress: SyncProgress) -> Self:
        """The same, which says how far it has come where that can be known."""


@dataclass(frozen=True, slots=True)
class Local:
    """Carries operations out beside the store, for whoever has the store."""

    engine: Engine
    person: Person
    progress: SyncProgress = no_progress

    @property
    def server(self) -> str:
        return ""

    def call(self, operation: Operation[P, A], params: P, /, **path: str) -> A:
        return operation.run(Call(self.engine, self.person, params, path, self.progress))

    def pages(
        self, operation: Operation[P, Page[A]], params: P, most: int | None = None, /, **path: str
    ) -> Iterable[A]:
        limit = MAX_CURSOR_NUMBER if most is None else max(1, most)
        whole = self.call(operation, msgspec.structs.replace(params, limit=limit), **path)
        return islice(whole.items, most)

    def reporting(self, progress: SyncProgress) -> Self:
        return replace(self, progress=progress)
