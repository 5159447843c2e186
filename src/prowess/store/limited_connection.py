"""A connection to PostgreSQL that does not wait for ever: a server, or a network, that hangs is an error.

No setting of libpq does that: its timeouts are about packets that are not confirmed, and a proxy that hangs
confirms them.
"""

import time
from collections.abc import Generator
from typing import Any, TypeVar

import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format

from prowess.store.integers import Integers

Result = TypeVar("Result")
LOOKS_EVERY = 0.1


class LimitedConnection(psycopg.Connection[Any]):
    answers_within: float | None = None
    """Seconds that one statement may take; it is closed then, for what comes later would be of that one."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.cursor_factory = BinaryCursor
        self.adapters.register_dumper(Integers, IntegersDumper)

    def wait(
        self, gen: Generator[Any, Any, Result], interval: float = LOOKS_EVERY, *more: Any, **named: Any
    ) -> Result:
        if self.answers_within is None:
            return super().wait(gen, interval, *more, **named)
        try:
            return super().wait(_limited(gen, self.answers_within), interval, *more, **named)
        except NoAnswer:
            self.close()
            raise


class BinaryCursor(psycopg.Cursor[Any]):
    """Answers come as the server keeps them: as text, bytes would be twice as long and have to be read."""

    def __init__(self, connection: psycopg.Connection[Any], **options: Any) -> None:
        super().__init__(connection, **options)
        self.format = Format.BINARY


class IntegersDumper(Dumper):
    """Many integers as an array of PostgreSQL: psycopg looks at each of a list several times."""

    oid = psycopg.postgres.types["int8"].array_oid

    def dump(self, obj: Integers) -> bytes:
        return obj.text().encode()


class NoAnswer(psycopg.OperationalError):
    """Nothing came for too long."""


def _limited(gen: Generator[Any, Any, Result], seconds: float) -> Generator[Any, Any, Result]:
    """The same steps, until one of them has nothing to go on with and the time is over."""
    over = time.monotonic() + seconds
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() >= over:
                raise NoAnswer(f"nothing came for {seconds:g} s")
            wanted = gen.send(ready)
    except StopIteration as done:
        result: Result = done.value
        return result
