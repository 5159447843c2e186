"""`watch` calls back, once, for every kind of change, and ends when it is told to."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition, Event, Thread

import pytest

from prowess.sources.files.watch import watch

pytestmark = pytest.mark.slow

DEBOUNCE = 0.1
MORE_THAN_OWED = 3
SECONDS = 10.0
"""How long a call back is waited for at most."""


class Calls:
    def __init__(self) -> None:
        self.count = 0
        self._counted = Condition()

    def __call__(self) -> None:
        with self._counted:
            self.count += 1
            self._counted.notify_all()

    def wait_for(self, count: int, seconds: float = SECONDS) -> bool:
        with self._counted:
            return self._counted.wait_for(lambda: self.count >= count, seconds)

    def follow(self, act: Callable[[], object]) -> bool:
        """Whether it calls back for what is done again and again.

        More often than it may still owe for what was done before; it may not look there at once.
        """
        before, deadline = self.count, time.monotonic() + SECONDS
        while self.count < before + MORE_THAN_OWED and time.monotonic() < deadline:
            act()
            self.wait_for(self.count + 1, 5 * DEBOUNCE)
        return self.count >= before + MORE_THAN_OWED


@contextmanager
def watching(*paths: Path) -> Iterator[Calls]:
    calls, stop = Calls(), Event()
    thread = Thread(target=watch, args=(paths, calls, stop, DEBOUNCE))
    thread.start()
    time.sleep(0.3)  # it does not say when it looks
    try:
        yield calls
    finally:
        stop.set()
        thread.join(3)
        assert not thread.is_alive()


def write(folder: Path) -> None:
    (folder / "new.md").write_text("new")


def edit(folder: Path) -> None:
    (folder / "old.md").write_text("edited")


def delete(folder: Path) -> None:
    (folder / "old.md").unlink()


def rename(folder: Path) -> None:
    (folder / "old.md").rename(folder / "renamed.md")


def write_deep_below(folder: Path) -> None:
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "deep.md").write_text("deep")


@pytest.mark.parametrize("act", [write, edit, delete, rename, write_deep_below])
def test_every_kind_of_change_in_a_folder_calls_back(tmp_path: Path, act: Callable[[Path], None]) -> None:
    (tmp_path / "old.md").write_text("old")
    with watching(tmp_path) as calls:
        act(tmp_path)
        assert calls.wait_for(1)


def test_a_burst_of_changes_calls_back_once(tmp_path: Path) -> None:
    with watching(tmp_path) as calls:
        for number in range(20):
            (tmp_path / f"{number}.md").write_text("text")
        assert calls.wait_for(1)
        assert not calls.wait_for(2, seconds=0.6)


def test_a_folder_that_does_not_exist_yet_calls_back_when_it_is_made_and_when_it_fills(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "later" / "capabilities"
    with watching(folder) as calls:
        folder.mkdir(parents=True)
        assert calls.wait_for(1)
        assert calls.follow(lambda: write(folder))


def test_a_folder_that_is_removed_and_made_again_is_still_watched(tmp_path: Path) -> None:
    folder = tmp_path / "capabilities"
    folder.mkdir()
    with watching(folder) as calls:
        folder.rmdir()
        assert calls.wait_for(1)
        before = calls.count
        folder.mkdir()
        assert calls.wait_for(before + 1)
        assert calls.follow(lambda: write(folder))


def test_a_file_that_an_editor_replaces_calls_back(tmp_path: Path) -> None:
    file = tmp_path / "prowess.toml"
    file.write_text("one")
    with watching(file) as calls:
        (tmp_path / "draft").write_text("two")
        os.replace(tmp_path / "draft", file)
        assert calls.wait_for(1)


def test_a_neighbour_of_a_watched_file_calls_nobody(tmp_path: Path) -> None:
    file = tmp_path / "prowess.toml"
    file.write_text("one")
    with watching(file) as calls:
        (tmp_path / "other.toml").write_text("two")
        assert not calls.wait_for(1, seconds=1.0)


def test_the_store_inside_a_watched_folder_calls_nobody(tmp_path: Path) -> None:
    with watching(tmp_path) as calls:
        (tmp_path / "prowess.db-wal").write_text("a write")
        assert not calls.wait_for(1, seconds=0.8)


def test_stopping_ends_the_watch_within_a_second_even_with_nothing_to_watch() -> None:
    stop = Event()
    thread = Thread(target=watch, args=((), Calls(), stop))
    thread.start()
    stop.set()
    thread.join(1)
    assert not thread.is_alive()
