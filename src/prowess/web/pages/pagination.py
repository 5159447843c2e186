"""A long list, one page at a time: by number where it is in memory, by place where it is the journal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from starlette.requests import Request

from prowess.errors import Refused
from prowess.journal import JournalPosition

SIZE = 50
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Paged(Generic[Row]):
    rows: tuple[Row, ...]
    first: int
    """The number of the first row, counted from one; 0 when there is none."""
    total: int
    previous: str
    """The address of the page before this one; empty when this is the first."""
    next: str

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1 if self.rows else 0


def paged(request: Request, rows: Sequence[Row], size: int = SIZE) -> Paged[Row]:
    """The page that the address names; one beyond the end is the last."""
    pages = max(1, -(-len(rows) // size))
    asked = request.query_params.get("page", "1")
    number = min(pages, max(1, int(asked) if asked.isdecimal() and len(asked) < 9 else 1))
    start = (number - 1) * size
    return Paged(
        tuple(rows[start : start + size]),
        start + 1 if rows else 0,
        len(rows),
        _elsewhere(request, page=number - 1) if number > 1 else "",
        _elsewhere(request, page=number + 1) if number < pages else "",
    )


def older(request: Request, oldest: JournalPosition) -> str:
    """The address of what lies before an entry of the journal."""
    at, chain, number = oldest
    return _elsewhere(request, before=f"{at} {number} {chain}")


def newest(request: Request) -> str:
    """The address without a place: the end of the journal."""
    query = request.url.remove_query_params(["before", "done", "what"]).query
    return f"{request.url.path}?{query}" if query else request.url.path


def before(request: Request) -> JournalPosition | None:
    """The place that `older` wrote into the address; none for the newest."""
    text = request.query_params.get("before", "")
    if not text:
        return None
    at, _, rest = text.partition(" ")
    number, _, chain = rest.partition(" ")
    if not number.isdecimal() or len(number) > 18:
        raise Refused(400, "this address names no place in the journal", "go to its newest entries")
    return JournalPosition(at, chain, int(number))


def _elsewhere(request: Request, **query: object) -> str:
    url = request.url.remove_query_params(["done", "what"]).include_query_params(**query)
    return f"{url.path}?{url.query}"
