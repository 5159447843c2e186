"""A thread that writes what spans tell, so that the program which is traced never waits for a store."""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

from prowess.errors import ProwessError

logger = logging.getLogger("prowess")


class Recorder:
    """Does one thing after the other; whatever goes wrong is said, and reaches nobody else."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, name)

    def record(self, what: str, write: Callable[[], object]) -> None:
        """Write something later; `what` says in a warning what was lost, such as "the outcome of search"."""
        try:
            self._thread.submit(_written, what, write)
        except RuntimeError:
            logger.warning("%s came after the shutdown and was not recorded", what)

    def close(self) -> None:
        """Write what still waits, and end."""
        self._thread.shutdown(wait=True)

    def flush(self, milliseconds: int) -> bool:
        """Write what waits now; whether all of it was written in time."""
        try:
            last = self._thread.submit(int)
        except RuntimeError:  # it was shut down, and everything is written
            return True
        return bool(wait([last], milliseconds / 1000).done)


def _written(what: str, write: Callable[[], object]) -> None:
    try:
        write()
    except ProwessError as error:
        logger.warning("%s was not recorded: %s", what, error)
    except Exception:
        logger.exception("%s was not recorded", what)
