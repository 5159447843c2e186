"""When files change, say so: once things are quiet again, until told to stop.

Above: the engine, which syncs when it is called. Below: the system's own notifications for what lies in
folders, and a look every half second at the named places themselves: files, folders that do not exist yet,
and folders that are removed, renamed or made anew, which notifications alone would lose.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from threading import Event

SECONDS_BETWEEN_LOOKS = 0.5
MOST_ROUNDS_OF_QUIET = 4
"""Changes that go on and on are reported after this many times the debounce."""

# A sync writes to the store; a store inside a watched folder must not make it sync again.
NOT_WATCHED = (".db", ".db-wal", ".db-shm", ".db-journal")

Look = dict[Path, tuple[int, ...]]
"""What tells whether a place is still the one it was; empty for one that does not exist."""


def watch(
    paths: Iterable[str | os.PathLike[str]],
    changed: Callable[[], None],
    stop: Event,
    debounce: float = 0.5,
) -> None:
    """Call back in this thread whenever something at or below the paths changes, until `stop` is set."""
    places = sorted({Path(path).absolute() for path in paths})
    seen = _look(places)
    owed = False
    while not stop.is_set():
        for stirred in _ticks(_folders(seen), stop, debounce):
            now = _look(places)
            if now != seen:
                now = _settled(places, now, stop, debounce)
            if (stirred or owed or now != seen) and not stop.is_set():
                changed()
            # The notifications of a new folder must run before what it already holds is reported.
            moved = _folders(now) != _folders(seen) or _identities(now) != _identities(seen)
            seen, owed = now, moved
            if moved:
                break


def _ticks(folders: Sequence[Path], stop: Event, debounce: float) -> Iterator[bool]:
    """Wake up at least every look, with whether anything below the folders changed; end with `stop`."""
    if not folders:
        while not stop.wait(SECONDS_BETWEEN_LOOKS):
            yield False
        return
    try:
        yield from _notifications(folders, stop, debounce, polling=None)
    except FileNotFoundError:
        # It was removed between the look and the watch; the next look tells.
        yield True
    except OSError:
        # The system has no notifications left to give, so the files themselves are looked at.
        yield from _notifications(folders, stop, debounce, polling=True)


def _notifications(
    folders: Sequence[Path], stop: Event, debounce: float, polling: bool | None
) -> Iterator[bool]:
    # Slow to import, and only a process that watches needs it.
    from watchfiles import Change, DefaultFilter
    from watchfiles import watch as notifications

    usual = DefaultFilter()

    def wanted(change: Change, path: str) -> bool:
        return usual(change, path) and not path.endswith(NOT_WATCHED)

    quiet = max(1, round(debounce * 1000))
    for changes in notifications(
        *folders,
        watch_filter=wanted,
        debounce=quiet * MOST_ROUNDS_OF_QUIET,
        step=quiet,
        stop_event=stop,
        rust_timeout=round(SECONDS_BETWEEN_LOOKS * 1000),
        yield_on_timeout=True,
        force_polling=polling,
        ignore_permission_denied=True,
    ):
        yield bool(changes)


def _settled(places: Sequence[Path], now: Look, stop: Event, debounce: float) -> Look:
    """Wait until the places stay the same for one debounce."""
    for _ in range(MOST_ROUNDS_OF_QUIET):
        stop.wait(debounce)
        before, now = now, _look(places)
        if now == before:
            break
    return now


def _look(places: Sequence[Path]) -> Look:
    return {place: _status(place) for place in places}


def _status(place: Path) -> tuple[int, ...]:
    try:
        found = place.stat()
    except (OSError, ValueError):
        return ()
    if stat.S_ISDIR(found.st_mode):
        return (found.st_dev, found.st_ino)
    return (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)


def _folders(look: Look) -> list[Path]:
    return [place for place, status in look.items() if len(status) == 2]


def _identities(look: Look) -> list[tuple[int, ...]]:
    return [status for status in look.values() if len(status) == 2]
