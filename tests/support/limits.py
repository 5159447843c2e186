"""What holds for every test, wherever and however the tests are started.

A test ends: pytest-timeout fails it, and what even that cannot wake (a wait while cleaning up, C code that
keeps the interpreter) is ended with its process by faulthandler. Both times are in pyproject.toml.
"""

import ctypes
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

MOST_MEMORY = 1_500_000_000
"""Bytes that one worker may ever have had in memory."""

M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8

BEFORE = pytest.StashKey[int]()


def pytest_configure() -> None:
    _heed_signals()
    _return_memory()


def _heed_signals() -> None:
    """What is started in the background often ignores Ctrl-C, and so would every program a test starts."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        if signal.getsignal(number) is signal.SIG_IGN:
            usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            signal.signal(number, usual)


def _return_memory() -> None:
    """A program opens its models once; a worker does so in hundreds of threads, and each leaves holes.

    Large blocks are given back to the system when they are freed, and threads share their heaps.
    """
    with suppress(OSError, AttributeError):  # only glibc has this, and only it needs it
        adjust = ctypes.CDLL(None).mallopt
        adjust(M_MMAP_THRESHOLD, 1 << 20)
        adjust(M_ARENA_MAX, 2)


def peak() -> int:
    """The most bytes that this process has had in memory."""
    with suppress(OSError):  # what `resource` says counts the one who started this process too
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[BEFORE] = peak()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """The test at which a worker grows too large fails; those after it are not to blame."""
    yield
    if item.stash[BEFORE] < MOST_MEMORY <= (now := peak()):
        pytest.fail(
            f"with this test the worker grew to {now / 1e6:.0f} MB; {MOST_MEMORY / 1e6:.0f} are allowed"
        )
