"""Long lists, a page at a time: a cursor names the last thing that was seen, so nothing is skipped."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Generic, TypeVar

import msgspec

from prowess.errors import NotFound

T = TypeVar("T")

MAX_CURSOR_NUMBER = 2**53


class Page(msgspec.Struct, Generic[T], frozen=True):
    """Some of a list, and where the rest begins."""

    items: tuple[T, ...]
    next: str = ""
    """Give this as `cursor` to go on; empty at the end."""


def cursor_of(key: object) -> str:
    return urlsafe_b64encode(msgspec.json.encode(key)).decode().rstrip("=")


def key_of(cursor: str, type: type[T]) -> T:
    """What a cursor stands for, if it can be one that `cursor_of` made."""
    try:
        found = msgspec.json.decode(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)), type=type)
    except (ValueError, msgspec.MsgspecError):
        found = None
    if found is None or not all(map(_is_keyed, found if isinstance(found, tuple) else (found,))):
        raise NotFound("page", cursor[:40], see="begin again without a cursor")
    return found


def _is_keyed(part: object) -> bool:
    """Whether a database can compare with it."""
    return 0 <= part <= MAX_CURSOR_NUMBER if isinstance(part, int) else "\0" not in str(part)


def page(items: Iterable[T], key: Callable[[T], str], cursor: str, limit: int) -> Page[T]:
    """The items after the cursor, of a list that is in order of its keys."""
    last = key_of(cursor, str) if cursor else None
    rest = (item for item in items if last is None or key(item) > last)
    found = tuple(islice(rest, limit + 1))
    return Page(found[:limit], cursor_of(key(found[limit - 1])) if len(found) > limit else "")


def numbered(items: Iterable[T], cursor: str, limit: int) -> Page[T]:
    """The same for a list whose order is its own: the cursor counts."""
    start = key_of(cursor, int) if cursor else 0
    found = tuple(islice(items, start, start + limit + 1))
    return Page(found[:limit], cursor_of(start + limit) if len(found) > limit else "")
