"""The watch of a server: it looks now and then, and sends what is due, beside everything else.

Above: whoever serves. Below: the alert service.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from prowess.alerts.service import AlertService
from prowess.errors import ProwessError

if TYPE_CHECKING:
    from prowess.engine.engine import Engine

logger = logging.getLogger("prowess")
SECONDS_TO_END = 15.0


@contextmanager
def watching(engine: "Engine") -> Iterator[None]:
    """While this lasts, people are told."""
    over = threading.Event()
    thread = threading.Thread(target=_watch, args=(engine, over), name="prowess-alerts", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(SECONDS_TO_END)


def _watch(engine: "Engine", over: threading.Event) -> None:
    service = AlertService(engine.internals)
    while not over.is_set():
        try:
            service.look()
            service.deliver()
        except ProwessError as error:  # the next look may find the store free
            logger.warning("nobody was told what is wrong: %s", error)
        except Exception:  # what is wrong with one look must not end all others
            logger.exception("nobody was told what is wrong")
        over.wait(service.config.every_seconds)
