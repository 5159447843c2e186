"""How much memory this process may use, and how much it does.

Above: the workspaces that are open, some of which are closed when it is too much. What counts is what the
operating system says of the process: no estimate knows what a workspace shares with others, what its caches
hold and what the allocator keeps. So what is free is handed back before it is measured.
"""

import ctypes
import gc
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from prowess.errors import ConfigError
from prowess.monitoring.counts import resident_bytes

MEGABYTE = 1_000_000
SECONDS_BETWEEN = 1.0


class MemoryBudget:
    def __init__(self, megabytes: float, elapsed: Callable[[], float] = time.monotonic) -> None:
        if sys.platform != "linux":
            what = "how much memory a process uses is known on Linux alone"
            raise ConfigError("--memory", what, "say how many workspaces are kept with --keep-open")
        self.megabytes = megabytes
        self._elapsed = elapsed
        self._looked = -SECONDS_BETWEEN

    def is_due(self) -> bool:
        """Whether it is time to look again, if it seems to be too much."""
        now = self._elapsed()
        if now - self._looked < SECONDS_BETWEEN or self.used() <= self.megabytes:
            return False
        self._looked = now
        return True

    def used(self) -> float:
        """Megabytes, with what was not handed back yet."""
        return resident_bytes() / MEGABYTE

    def is_exceeded(self) -> bool:
        """Whether it is too much even without what nobody needs any more, which is handed back."""
        gc.collect()
        with suppress(OSError, AttributeError):  # musl has nothing to hand back
            ctypes.CDLL(None).malloc_trim(0)
        return self.used() > self.megabytes
