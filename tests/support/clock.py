"""Time for tests: it moves only when somebody looks."""

from datetime import UTC, datetime, timedelta


class SteppingClock:
    """A clock that moves one second each time somebody looks at it."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now
