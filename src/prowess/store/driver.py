"""What differs between databases: how to connect, how a transaction begins, and a handful of words."""

from collections.abc import Callable, Collection, Iterable
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol

from prowess.errors import StoreError
from prowess.types import Problem

if TYPE_CHECKING:
    from prowess.store.replica import Replica

EVERYWHERE = "*"
"""In the place of a workspace: for what concerns a whole store."""

LISTED = "IN (:listed)"
"""What a statement says of a column that has one of many values."""


class Driver(Protocol):
    unflushed: tuple[str, str, str]
    """What makes one transaction not wait for the disk: said before it, within it, and after it."""
    lock_for_migration: str
    analyze: str
    """What makes the planner look at tables that were filled at once; empty where it needs no telling."""
    has_arrays: bool
    """Whether a parameter may be an array, as conditions of policy need it."""
    set_aside: str
    """What keeps a word of ours that older migrations use from meaning something else meanwhile."""
    put_back: str
    failures: tuple[type[Exception], ...]
    patience: float
    """Seconds after which waiting for others who write is given up."""

    @property
    def place(self) -> str: ...

    @property
    def era(self) -> int:
        """Moves when the database goes on from an earlier state: what was numbered before may differ now."""

    def connect(self) -> Any: ...

    def listed(self, values: Collection[int] | Collection[str]) -> object:
        """Many values as one parameter, for `IN (:listed)`."""

    def usable(self, connection: Any) -> bool: ...

    def close(self) -> None: ...

    def begin(self, cursor: Any, writing: bool, workspace: str) -> None:
        """Begin a transaction that is to see the rows of one workspace alone, or of all of them."""

    def ask(self, cursor: Any, question: str) -> None:
        """Ask outside any transaction, of a database that is expected to answer at once."""

    def replica(self, url: str, ask: Callable[[str], Any]) -> "Replica":
        """What reads from a copy of the database; `ask` puts a question to the database itself."""

    def isolation(self, tables: Iterable[str]) -> str:
        """What makes the database itself keep workspaces apart in tables; empty where it cannot."""

    def is_busy(self, failure: Exception) -> bool: ...

    def is_away(self, failure: Exception) -> bool:
        """Whether the database itself is not there, so that no connection to it is of use any more."""

    @property
    def adapt(self) -> Callable[[str], str]: ...

    def explain(self, failure: Exception) -> StoreError: ...

    can_listen: bool
    """Whether the database tells who listens that something changed."""
    announcement: str
    """What tells them, within the transaction of the change; empty where it cannot."""

    def listen(self, heard: Callable[[str], None], over: Event) -> None:
        """Until it is over, say of which workspace something changed; or nothing, if all may have."""

    def problems(self) -> tuple[Problem, ...]: ...
