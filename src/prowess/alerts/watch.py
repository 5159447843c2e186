"""The watch of a server: it looks now and then, and when something changes, and sends what is due.

Above: whoever serves. Below: the alert service.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from prowess.alerts.service import AlertService
from prowess.engine.recurring import RecurringWork, recurring

if TYPE_CHECKING:
    from prowess.engine.engine import Engine


def watching(engine: "Engine") -> AbstractContextManager[None]:
    """While this lasts, people are told."""

    def tell(is_over: Callable[[], bool]) -> None:
        service = AlertService(engine.internals)
        service.look()
        if not is_over():
            service.deliver()

    seconds, told = engine.internals.options.alerts.every_seconds, engine.internals.database.told
    return recurring(RecurringWork("telling people", seconds, tell, told))
